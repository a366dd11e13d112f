import { expect, test } from "vitest";
import { ceiling, firstBad, heightOf, parts, path } from "../src/kata/draw";

const BOX = { left: 0, right: 10, top: 0, bottom: 10 };

test("an axis ends at a nice number, and a loss that climbs leaves it", () => {
  expect([0.524, 1, 1.2, 3.03, 7.9, 0, Number.NaN].map(ceiling)).toEqual([1, 1, 2, 5, 10, 1, 1]);
  expect(heightOf([Float64Array.from([7.9, 100, 1e7])])).toBe(20);
  expect(heightOf([Float64Array.from([0.69, 0.52]), Float64Array.from([1.003, 0.14])])).toBe(2);
  expect(heightOf([Float64Array.from([Number.NaN])])).toBe(1);
});

test("a path stays in its box and begins anew behind a gap", () => {
  const values = Float64Array.from([1, 99, Number.NaN, 3]);
  expect(path((i) => i, (v) => 10 - v, values, BOX)).toBe("M0 9L1 0M3 7");
  expect([firstBad(values), firstBad(Float64Array.from([1, 2]))]).toEqual([2, -1]);
});

test("what stands between backquotes is code", () => {
  expect(parts("`a` is 1, `b` not")).toEqual([
    { code: true, text: "a" },
    { code: false, text: " is 1, " },
    { code: true, text: "b" },
    { code: false, text: " not" },
  ]);
  expect(parts("")).toEqual([]);
});
