import { describe, expect, it } from "vitest";
import { steady, worstFirst } from "../src/watch/classes";
import { ends } from "../src/watch/health";
import { folded } from "../src/watch/log";
import { ordinal } from "../src/watch/numbers";
import type { Entry } from "../src/watch/types";

const entry = (number: number, step: number, what: string, undone = false): Entry => ({
  number,
  step,
  what,
  from: null,
  to: null,
  effect: "",
  undone,
});

describe("the order of the classes", () => {
  it("stays where the difference is noise, and is the worst first where it is not", () => {
    const seen = [100, 100, 100];
    expect(steady([0, 1, 2], [51, 50, 90], seen)).toEqual([0, 1, 2]);
    expect(steady([0, 1, 2], [60, 50, 90], seen)).toEqual([1, 0, 2]);
    expect(steady([0, 1, 2], [60, 50, 10], seen)).toEqual([2, 1, 0]);
    expect(steady([], [60, 50, 10], seen)).toEqual(worstFirst([60, 50, 10], seen));
  });
});

describe("the log", () => {
  it("tells steps that were made one by one as one entry", () => {
    const items = [
      entry(1, 10, "paused"),
      entry(2, 10, "one step"),
      entry(3, 11, "one step"),
      entry(4, 12, "one step"),
      entry(5, 13, "resumed"),
      entry(6, 20, "one step"),
    ];
    expect(folded(items).map((one) => [one.step, one.what, one.effect])).toEqual([
      [10, "paused", ""],
      [12, "one step × 3", "from step 10 on"],
      [13, "resumed", ""],
      [20, "one step", ""],
    ]);
    expect(folded([entry(1, 1, "one step", true), entry(2, 2, "one step")])).toHaveLength(2);
  });
});

describe("names and numbers", () => {
  it("keep the end of a long path, and count tries", () => {
    expect(ends("features.3")).toBe("features.3");
    expect(ends("backbone.layer1.0.conv1")).not.toBe(ends("backbone.layer1.0.conv2"));
    expect([1, 2, 3, 4, 11, 12, 21, 102].map(ordinal)).toEqual(
      ["1st", "2nd", "3rd", "4th", "11th", "12th", "21st", "102nd"],
    );
  });
});
