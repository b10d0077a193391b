import { describe, expect, it } from "vitest";
import { by, sourceId } from "../state";
import { dark } from "../theme/theme";
import { coloursFor } from "./groupColours";

const answer = (keys: string[]) => ({ groups: keys.map((key) => ({ key })) });

describe("colours of an answer", () => {
  it("stay while another recording or grouping is shown already", () => {
    sourceId.value = "one";
    const old = answer(["a", "b", "c"]);
    const first = coloursFor(old, old);
    sourceId.value = "two";
    coloursFor({}, answer(["x", "y", "z"]));
    expect(coloursFor(old, old)).toBe(first);
    by.value = by.value === "op" ? "stack" : "op";
    expect(coloursFor(old, old)).toBe(first);
  });

  it("follow the theme", () => {
    const shown = answer(["a", "\u2026before"]);
    const light = coloursFor(shown, shown);
    dark.value = true;
    const inDark = coloursFor(shown, shown);
    dark.value = false;
    expect(inDark[0]).toBe(light[0]);
    expect(inDark[1]).not.toBe(light[1]);
  });

  it("differ, though a table has handed out many before", async () => {
    sourceId.value = "three";
    const table = answer(Array.from({ length: 60 }, (_, index) => `row ${index}`));
    coloursFor(table, table);
    const shown = answer(Array.from({ length: 16 }, (_, index) => `row ${3 * index}`));
    const given = coloursFor(shown, shown);
    expect(new Set(given).size).toBe(16);
    await Promise.resolve();
    expect(coloursFor(shown, shown)).toEqual(given);
  });
});
