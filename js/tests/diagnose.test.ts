import { expect, test } from "vitest";
import { CERTAIN, SIGNS, plural } from "../src/shared/findingwords";

test("each severity and each certainty has a mark of its own", () => {
  expect(new Set(Object.values(SIGNS)).size).toBe(3);
  expect(Object.keys(CERTAIN)).toEqual(["exact", "lineage", "measured"]);
});

test("counts agree with their noun", () => {
  expect([plural(1, "step"), plural(64, "step"), plural(1200, "rule")]).toEqual(["1 step", "64 steps", "1,200 rules"]);
});
