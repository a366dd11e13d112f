import { describe, expect, it } from "vitest";
import widget from "../src/flow/page";
import { type Check, dict, either, flag, later, list, maybe, nd, none, num, one, optional, real, record, row, text } from "../src/shared/check";
import { fakeModel, nd as array, pack } from "./make";

/** What a check says of a value; "" where it lets it pass. */
const said = (check: Check<never>, value: unknown): string => {
  try {
    check(value, "it");
    return "";
  } catch (error) {
    return (error as Error).message;
  }
};

describe("checks", () => {
  it("let pass what fits, and say in one sentence where something else is", () => {
    const cases: [Check<never>, unknown, unknown, string][] = [
      [text as never, "a", 1, "it: expected text, got 1"],
      [num as never, 1.5, undefined, "it: expected a number, got undefined"],
      [num as never, 0, "nan", 'it: expected a number, got "nan"'],
      [flag as never, false, 0, "it: expected true or false, got 0"],
      [real as never, "-inf", "many", 'it: expected a number, got "many"'],
      [none as never, null, 0, "it: expected null, got 0"],
      [one("a", "b") as never, "b", "c", 'it: expected "a" or "b", got "c"'],
      [maybe(text) as never, null, 3, "it: expected text, got 3"],
      [optional(text) as never, undefined, null, "it: expected text, got null"],
      [either(num, text) as never, "a", null, "it: expected text, got null"],
      [list(num) as never, [1, 2], [1, "2"], 'it[1]: expected a number, got "2"'],
      [list(num) as never, [], {}, "it: expected a list, got a record"],
      [row(num, text) as never, [1, "a"], [1], "it: expected a list of 2, got a list of 1"],
      [dict(num) as never, { a: 1 }, { a: 1, b: [] }, "it.b: expected a number, got a list of 0"],
      [record<{ a: number }>({ a: num }) as never, { a: 1 }, {}, "it.a: expected a number, got undefined"],
      [record<{ a: number }>({ a: num }) as never, { a: 1, b: 2 }, null, "it: expected a record, got null"],
      [nd(1) as never, array(Float32Array.of(1)), [1], "it: expected an array, got a list of 1"],
      [nd(2) as never, array(Float32Array.of(1), [1, 1]), array(Float32Array.of(1)), "it: expected an array of 2 axes, got one of 1"],
      [nd(-1) as never, array(Float32Array.of(1), []), undefined, "it: expected an array, got undefined"],
    ];
    for (const [check, good, bad, sentence] of cases) {
      expect(said(check, good)).toBe("");
      expect(said(check, bad)).toBe(sentence);
    }
  });

  it("follow a type that holds itself", () => {
    interface Tree {
      inner: Tree[];
    }
    const tree: Check<Tree> = record<Tree>({ inner: list(later(() => tree)) });
    expect(said(tree as never, { inner: [{ inner: [] }] })).toBe("");
    expect(said(tree as never, { inner: [{ inner: [{}] }] })).toBe("it.inner[0].inner[0].inner: expected a list, got undefined");
  });

  it("cut what they quote", () => {
    expect(said(num as never, "x".repeat(500)).length).toBeLessThan(90);
  });
});

describe("a page", () => {
  const row = { name: "w", layer: "", shape: [2], count: 2, mean: 1, max: 1, zeros: 0, bad: 0, weight: 1, relative: 1 };
  const state = (over: object): object => ({
    title: "t",
    report: "the report",
    verdict: "v",
    scale: [-1, 0],
    bounds: [0, "inf"],
    rows: [{ ...row, norm: 1, state: "in range", cure: "", ...over }],
    says: [],
  });
  const shown = (over: object): HTMLElement => {
    const host = document.createElement("div");
    document.body.append(host);
    widget.render({ model: fakeModel(pack("flow", state(over))), el: host, signal: new AbortController().signal });
    return host;
  };

  it("shows a record that is as it should be", () => {
    expect(shown({}).querySelector(".vt-rp-row b")?.textContent).toBe("w");
  });

  it("says where a record is not, and keeps its text", () => {
    const host = shown({ norm: undefined });
    expect(host.textContent).toContain("This cannot be shown: flow.rows[0].norm: expected a number, got undefined");
    expect(host.querySelector(".vt-text")?.textContent).toBe("the report");
    expect(host.dataset["failed"]).toContain("flow.rows[0].norm");
  });
});
