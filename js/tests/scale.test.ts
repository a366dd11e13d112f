import { describe, expect, it } from "vitest";
import { NAN, NEGINF, POSINF } from "../src/shared/colour";
import { partFor, placeOf, shader, shareOf, valueAt } from "../src/array/scale";
import { reader, wording } from "../src/array/values";
import { nd, scale } from "./make";

describe("the part of a map", () => {
  it("is that of the values' sign", () => {
    const one = (lo: number, hi: number) => partFor(scale({ centre: false, lo, hi }));
    expect([partFor(scale()), one(0, 3), one(-3, 0), one(-3, -2), one(-3, 1)]).toEqual([true, false, "negative", "negative", false]);
  });
});

const kinds = [
  scale(),
  scale({ curve: "log", linear: 0.05 }),
  scale({ centre: false, lo: 1, hi: 5 }),
  scale({ centre: false, curve: "log", lo: 0.01, hi: 100 }),
];

describe("places on a scale", () => {
  it("follow the formulas of the contract", () => {
    expect(placeOf(scale())(1)).toBeCloseTo(0.5);
    expect(placeOf(scale({ curve: "log", linear: 0.1 }))(-1)).toBeCloseTo(-Math.log1p(10) / Math.log1p(20));
    expect(placeOf(scale({ centre: false, lo: 1, hi: 5 }))(2)).toBeCloseTo(0.25);
    expect(placeOf(scale({ centre: false, curve: "log", lo: 1, hi: 100 }))(10)).toBeCloseTo(0.5);
  });

  it("come back to their value", () => {
    for (const one of kinds) for (const p of [0.1, 0.5, 0.9]) expect(placeOf(one)(valueAt(one, p))).toBeCloseTo(p);
  });

  it("stop at the ends, and a scale without width does not divide by it", () => {
    for (const one of kinds) {
      expect(shareOf(one, placeOf(one)(1e9))).toBe(1);
      expect(shareOf(one, placeOf(one)(-1e9))).toBe(0);
    }
    expect(placeOf(scale({ lo: 0, hi: 0 }))(0)).toBe(0);
    expect(placeOf(scale({ centre: false, lo: 3, hi: 3 }))(3)).toBe(0);
  });

  it("what is not finite has numbers of its own", () => {
    expect([NaN, Infinity, -Infinity].map(shader(scale()))).toEqual([NAN, POSINF, NEGINF]);
    expect([-2, 0, 2].map(shader(scale()))).toEqual([0, 126, 252]);
  });
});

describe("values", () => {
  it("are read from codes, the top three of which are not finite", () => {
    const levels = nd(Float32Array.from([-1, 0, 1]));
    const eight = reader({ codes: nd(Uint8Array.from([0, 2, 253, 254, 255])), levels, exact: false });
    expect([0, 1, 2, 3, 4].map((i) => eight.at(i))).toEqual([-1, 1, -Infinity, Infinity, NaN]);
    expect(eight.rough).toBe(true);
    const wide = reader({ codes: nd(Uint16Array.from([1, 65533, 65534, 65535])), levels, exact: true });
    expect([0, 1, 2, 3].map((i) => wide.at(i))).toEqual([0, -Infinity, Infinity, NaN]);
    expect(wide.rough).toBe(false);
    expect([...wide.shades(scale({ lo: -1, hi: 1 }))]).toEqual([126, NEGINF, POSINF, NAN]);
  });

  it("have the words of their dtype", () => {
    expect(wording("bool")(1)).toBe("True");
    expect(wording("int64")(-123456)).toBe("−123456");
    expect(wording("float32")(0.5)).toBe("0.5000");
  });
});
