import { describe, expect, it } from "vitest";
import { Pose } from "../src/array/pose";
import { Sheet } from "../src/array/sheet";
import { item, layer, nd } from "./make";

const sheet = (values: number[], over = {}) =>
  new Sheet(item([values.length], { layers: [layer({ data: nd(Float64Array.from(values)) }, over)] }));

describe("a sheet", () => {
  it("prints no decimals where every value is a whole number", () => {
    expect([sheet([1, 2, -3]).wholes, sheet([1, NaN, Infinity, 4]).wholes, sheet([1, 2.5]).wholes]).toEqual([true, true, false]);
    const pooled = item([4], { block: [2], grid: [2], layers: [layer({ data: nd(Float64Array.from([1, 2])) })] });
    expect(new Sheet(pooled).wholes).toBe(false); // of a block's others nothing is known
  });

  it("says both ends of a block that has both", () => {
    const ends = { codes: nd(Uint8Array.from([0, 255])), levels: nd(Float64Array.from([-2])) };
    const pooled = item([4], { block: [2], grid: [2], layers: [layer({ data: nd(Float64Array.from([3, 1])) }, { ends })] });
    const one = new Sheet(pooled);
    const pose = new Pose(pooled, false);
    expect([one.read([0], pose)?.text, one.read([2], pose)?.text]).toEqual(["−2 … 3", "1"]);
  });
});
