import { signal } from "@preact/signals";
import { afterEach, beforeEach, expect, it } from "vitest";
import { resource } from "./resource";
import { visible } from "./visible";

/** A question whose answers are given by hand. */
function byHand() {
  const query = signal<string | null>("a");
  const asked: { key: string; give(answer: string): void; fail(error: Error): void }[] = [];
  const { answer, dispose } = resource(
    () => query.value,
    (key: string) =>
      new Promise<string>((give, fail) => {
        asked.push({ key, give, fail });
      }),
  );
  return { query, asked, answer, dispose };
}

const settle = (): Promise<void> => new Promise((done) => setTimeout(done, 0));

beforeEach(() => {
  visible.value = true;
});
afterEach(() => {
  visible.value = true;
});

it("keeps the last answer while the next is on its way", async () => {
  const { query, asked, answer, dispose } = byHand();
  asked[0]?.give("answer a");
  await settle();
  query.value = "b";
  expect(answer.value).toEqual({ data: "answer a", error: null, loading: true });
  asked[1]?.give("answer b");
  await settle();
  expect(answer.value).toEqual({ data: "answer b", error: null, loading: false });
  dispose();
});

it("never shows an answer that was overtaken", async () => {
  const { query, asked, answer, dispose } = byHand();
  query.value = "b";
  asked[1]?.give("answer b");
  await settle();
  asked[0]?.give("answer a, late");
  await settle();
  expect(answer.value.data).toBe("answer b");
  dispose();
});

it("waits for nothing once it is back at what was answered", async () => {
  const { query, asked, answer, dispose } = byHand();
  asked[0]?.give("answer a");
  await settle();
  query.value = "b";
  query.value = "a";
  expect(answer.value).toEqual({ data: "answer a", error: null, loading: false });
  expect(asked.map(({ key }) => key)).toEqual(["a", "b"]);
  dispose();
});

it("drops the answer when there is nothing to ask", async () => {
  const { query, asked, answer, dispose } = byHand();
  asked[0]?.give("answer a");
  await settle();
  query.value = null;
  expect(answer.value.data).toBeNull();
  dispose();
});

it("says what failed, beside the last answer", async () => {
  const { query, asked, answer, dispose } = byHand();
  asked[0]?.give("answer a");
  await settle();
  query.value = "b";
  asked[1]?.fail(new Error("It broke."));
  await settle();
  expect(answer.value).toEqual({ data: "answer a", error: "It broke.", loading: false });
  dispose();
});

it("asks nothing while the tab is hidden, and not again what it knows", async () => {
  const { query, asked, dispose } = byHand();
  asked[0]?.give("answer a");
  await settle();
  visible.value = false;
  query.value = "b";
  query.value = "a";
  visible.value = true;
  expect(asked.map(({ key }) => key)).toEqual(["a"]);
  dispose();
});
