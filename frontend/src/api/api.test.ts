import { tableFromArrays, tableToIPC } from "@uwdata/flechette";
import { afterEach, describe, expect, it, vi } from "vitest";
import { ApiError, address, decodeUsage, exportAddress, getAllocation, getSources } from ".";

afterEach(() => vi.unstubAllGlobals());

const answer = (body: string, status = 200): void => {
  vi.stubGlobal("fetch", async () => new Response(body, { status, statusText: "Oh" }));
};

describe("addresses", () => {
  it("are relative and leave out what is not set", () => {
    expect(address("open", { source: "a b&c" })).toBe("./open?source=a+b%26c");
    expect(address("x", { a: null, b: undefined, c: "", d: 0 })).toBe("./x?d=0");
    expect(address("sources")).toBe("./sources");
  });

  it("of an export name the group where there is one", () => {
    const query = { source: "s", version: "1", device: "0", at: "peak", by: "op" } as const;
    const rest = { pattern: "", filter: "size>1", sort: "-bytes" };
    expect(exportAddress({ ...query, ...rest, key: "k" })).toBe(
      "./export.csv?source=s&version=1&device=0&at=peak&by=op&filter=size%3E1&sort=-bytes&key=k",
    );
  });
});

describe("answers", () => {
  it("come as what the route gives", async () => {
    answer('{"scanning": false, "logdirs": [], "sources": []}');
    expect(await getSources()).toEqual({ scanning: false, logdirs: [], sources: [] });
  });

  it("that are errors say it in the server's words", async () => {
    answer('{"error": "It is gone."}', 404);
    await expect(getAllocation("s", "1", "7")).rejects.toThrow(new ApiError("It is gone.", 404));
  });

  it("that are not ours say the status", async () => {
    answer("<html>", 502);
    await expect(getSources()).rejects.toThrow("The server answered 502 Oh.");
  });

  it("that never come say so", async () => {
    vi.stubGlobal("fetch", async () => {
      throw new TypeError("failed to fetch");
    });
    await expect(getSources()).rejects.toMatchObject({ status: 0 });
  });
});

describe("usage", () => {
  const window = { axis: "event", begin: 0, end: 4, bin: 2, by: "op", has_reserved: false };
  const groups = [
    { key: "a", label: "a" },
    { key: "…rest", label: "rest" },
  ];

  it("is decoded to numbers, with NaN for what is not known", () => {
    const table = tableFromArrays({
      begin: [0n, 2n],
      end: [2n, 4n],
      event: [1n, 2n],
      allocated: [2n ** 40n, 7n],
      g0: [2n ** 40n - 1n, 7n],
      g1: [1n, 0n],
    });
    table.schema.metadata = new Map([["window", JSON.stringify({ ...window, groups })]]);
    const usage = decodeUsage(tableToIPC(table, { format: "stream" }) as Uint8Array<ArrayBuffer>);
    expect(usage.length).toBe(2);
    expect([...usage.allocated]).toEqual([2 ** 40, 7]);
    expect(usage.groups.map((values) => [...values])).toEqual([
      [2 ** 40 - 1, 7],
      [1, 0],
    ]);
    expect([...usage.time]).toEqual([Number.NaN, Number.NaN]);
    expect(usage.window.groups[1]?.key).toBe("…rest");
  });

  it("without a window is refused", () => {
    const bare = tableToIPC(tableFromArrays({ begin: [0n] }), { format: "stream" });
    expect(() => decodeUsage(bare as Uint8Array<ArrayBuffer>)).toThrow(/no window/);
  });
});
