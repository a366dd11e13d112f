import { expect, test } from "vitest";
import { short } from "../src/diagnose/short";
import { CERTAIN, SIGNS, plural } from "../src/shared/findingwords";

test("each severity and each certainty has a mark of its own", () => {
  expect(new Set(Object.values(SIGNS)).size).toBe(3);
  expect(Object.keys(CERTAIN)).toEqual(["exact", "lineage", "measured"]);
});

test("counts agree with their noun", () => {
  expect([plural(1, "step"), plural(64, "step"), plural(1200, "rule")]).toEqual(["1 step", "64 steps", "1,200 rules"]);
});

test("a loss is short, and what is no number is a word", () => {
  expect([2.30258, 0.00031, 123456, -0.5, 0, 1e-7].map(short)).toEqual(["2.3", "0.00031", "1.2e5", "−0.5", "0", "1.0e−7"]);
  expect((["nan", "inf", "-inf"] as const).map(short)).toEqual(["NaN", "∞", "−∞"]);
});
