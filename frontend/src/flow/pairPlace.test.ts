import { describe, expect, it } from "vitest";
import { sinceAnother, withoutSpans } from "./pairPlace";

describe("what is looked at, in a recording of the same allocations", () => {
  const window = { begin: 10, end: 20 };
  it("is at the same moments, whatever they count from", () => {
    const [before, now] = ["1796091234301648000", "1796091231801648488"];
    const link = { window, marks: "10..20..one", at: 7 };
    expect(sinceAnother(link, before, now, "time")).toEqual({
      window: { begin: 2_499_999_522, end: 2_499_999_532 },
      marks: "2499999522..2499999532..one",
      at: 7,
    });
    expect(sinceAnother(link, now, before, "time").window).toEqual({
      begin: -2_499_999_502,
      end: -2_499_999_492,
    });
    expect(sinceAnother(link, before, null, "time")).toEqual(link);
  });
  it("is at the same events", () => {
    expect(sinceAnother({ window }, "500", "100", "event")).toEqual({ window });
  });
  it("is an allocation, but no span, as spans are numbered anew", () => {
    const selection = { kind: "allocation", id: "3" } as const;
    const link = { view: "trace", selection, steps: "1.2", area: "1..2..3", tracks: "p1" };
    expect(withoutSpans(link)).toEqual({ view: "trace", selection });
    expect(withoutSpans({ selection: { kind: "span", id: "3" } })).toEqual({});
  });
});
