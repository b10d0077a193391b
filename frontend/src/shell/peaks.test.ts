import { describe, expect, it } from "vitest";
import type { Source } from "../api";
import { inOrder } from "../state/hosts";
import { balance, fullBar, matchingHosts, mostHosts, peakWords, shortNames } from "./peaks";

const GIB = 2 ** 30;
const host = (
  rank: number,
  peak: number | null,
  over: Partial<Source> = {},
  capacity = 0,
): Source =>
  ({
    id: `id ${rank}`,
    run: "job",
    name: `rank${rank}.pickle`,
    state: peak === null ? "new" : "ready",
    error: null,
    host: `rank ${rank}`,
    rank,
    brief:
      peak === null
        ? null
        : {
            events: 1,
            steps: 1,
            devices: 8,
            peak_bytes: peak,
            peak_device: "cuda:3",
            capacity: capacity || null,
          },
    ...over,
  }) as Source;
const plain = (text: string): string => text.replace(/[\u00a0\u202f]/g, " ");
const ranks = (hosts: Source[]): (number | null)[] => hosts.map(({ rank }) => rank);

describe("the bars of hosts", () => {
  it("are on one scale: the largest peak, or the largest capacity where all have one", () => {
    expect(fullBar([host(0, 3), host(1, 7), host(2, null)])).toEqual({
      bytes: 7,
      isCapacity: false,
    });
    expect(fullBar([host(0, 3, {}, 80), host(1, 7, {}, 40), host(2, null)])).toEqual({
      bytes: 80,
      isCapacity: true,
    });
    expect(fullBar([host(0, 3, {}, 80), host(1, 7)])).toEqual({ bytes: 7, isCapacity: false });
    expect(fullBar([])).toEqual({ bytes: 1, isCapacity: false });
  });

  it("say what they are, to the byte", () => {
    expect(plain(peakWords(host(0, GIB, {}, 80 * GIB)))).toBe(
      "Peak 1.00 GiB of 80.00 GiB on cuda:3 (1 073 741 824 bytes)",
    );
    expect(peakWords(host(0, null))).toBe("Not read");
    for (const peak of [null, GIB]) {
      const broken = host(0, peak, { state: "error", error: "a: is empty; record it." });
      expect(peakWords(broken)).toBe("a: is empty; record it.");
    }
  });
});

describe("the balance of hosts", () => {
  it("is the highest to the median", () => {
    const found = balance([host(0, 10), host(1, 40), host(2, null), host(3, 20), host(4, 30)]);
    expect([found?.highest.rank, found?.lowest.rank, found?.ratio, found?.known]).toEqual([
      1, 0, 1.6, 4,
    ]);
    expect(balance([host(0, 10), host(1, 40), host(2, 20)])?.ratio).toBe(2);
  });

  it("needs two that are known, and a median to compare with", () => {
    expect(balance([host(0, 10), host(1, null)])).toBeNull();
    expect(balance([host(0, 10), host(1, 20, { state: "error" })])).toBeNull();
    expect(balance([host(0, 0), host(1, 0), host(2, 9)])?.ratio).toBeNull();
  });
});

describe("many hosts", () => {
  const all = Array.from({ length: 1024 }, (_, rank) => host(rank, rank === 700 ? null : rank * 3));

  it("are cut to the largest peaks and the chosen one, in their order", () => {
    const { shown, hidden } = mostHosts(all, 4, "id 5");
    expect([ranks(shown), hidden]).toEqual([[5, 1021, 1022, 1023], 1020]);
    expect(mostHosts(all, 2000, null).hidden).toBe(0);
  });

  it("are counted as people do", () => {
    const names = [10, 9, 100].map((rank) => ({ ...host(rank, 1), rank: null }));
    expect(inOrder(names).map((one) => one.host)).toEqual(["rank 9", "rank 10", "rank 100"]);
    expect(ranks(inOrder([host(10, 1), host(9, 1)]))).toEqual([9, 10]);
  });

  it("go by what tells them apart", () => {
    const short = (...names: string[]): string[] =>
      shortNames(names.map((name, at) => ({ ...host(at, 1), host: name })));
    expect(short("t1v-n-9f2c-w-0", "t1v-n-9f2c-w-10")).toEqual(["…w-0", "…w-10"]);
    expect(short("gpu17.c.internal", "gpu18.c.internal")).toEqual(["gpu17…", "gpu18…"]);
    expect(short("a-node12.x.org", "a-node13.x.org")).toEqual(["a-node12…", "a-node13…"]);
    expect(short("rank 1", "rank 2")).toEqual(["rank 1", "rank 2"]);
    expect(short("worker-1-of-job", "worker-1-of-job-b")).toEqual(["…of-job", "…of-job-b"]);
  });

  it("are found by their names", () => {
    expect(ranks(matchingHosts(all, "rank 700"))).toEqual([700]);
    expect(ranks(matchingHosts(all, "rank512.pick"))).toEqual([512]);
  });
});
