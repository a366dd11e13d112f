import { describe, expect, it } from "vitest";
import { bytes, count, decimalsFor, fit, num, percent, shapeText, whole } from "../src/shared/format";

describe("numbers", () => {
  it("have four digits and a real minus sign", () => {
    expect([0, 1, -2.97070574, 0.00257768, 0.983986, 12.3456, 12345.6].map((v) => num(v))).toEqual([
      "0",
      "1",
      "−2.971",
      "0.002578",
      "0.9840",
      "12.35",
      "12346",
    ]);
    expect([1.2e-5, -3.4e7, NaN, Infinity, -Infinity].map((v) => num(v))).toEqual([
      "1.20e−5",
      "−3.40e7",
      "NaN",
      "+inf",
      "−inf",
    ]);
  });

  it("keep all digits of integers", () => {
    expect([0, -12, 123456789, 2 ** 53 - 1].map(whole)).toEqual(["0", "−12", "123456789", num(2 ** 53 - 1, 6)]);
  });

  it("fit a cell without lying about their size", () => {
    expect([0.27, -0.271, 1, -1.5, 0].map((v) => fit(v, 4, 2))).toEqual([".27", "−.27", "1.00", "−1.5", "0"]);
    expect([123456, -123456].map((v) => fit(v, 4, 1))).toEqual(["1e5", "−1e5"]);
    expect(fit(123456, 2, 1)).toBe("");
    expect(fit(NaN, 8, 2)).toBe("");
    for (const v of [0.0001, 9.99, -9.996, 99.99, 1e9, -1e-9]) expect(fit(v, 5, 3).length).toBeLessThanOrEqual(5);
  });

  it("have as many decimals as the largest leaves room for", () => {
    expect([
      decimalsFor(0.8, 5),
      decimalsFor(0.8, 9),
      decimalsFor(12, 4),
      decimalsFor(900, 4),
      decimalsFor(1e6, 4),
    ]).toEqual([3, 3, 1, 0, -1]);
  });
});

describe("sizes", () => {
  it("bytes in steps of 1024", () => {
    expect([4, 3360, 40320, 4000000, 2 ** 33].map(bytes)).toEqual(["4 B", "3.4 kB", "40 kB", "4.0 MB", "8.6 GB"]);
  });

  it("shares never round to nothing or to all", () => {
    expect([
      percent(0, 10),
      percent(1, 100000),
      percent(1, 3),
      percent(99999, 100000),
      percent(10, 10),
      percent(0, 0),
    ]).toEqual(["0 %", "< 0.1 %", "33 %", "> 99.9 %", "100 %", "0 %"]);
  });

  it("counts and shapes", () => {
    expect([count(1234567), count(12)]).toEqual(["1,234,567", "12"]);
    expect([shapeText([]), shapeText([10, 84])]).toEqual(["scalar", "10 × 84"]);
  });
});
