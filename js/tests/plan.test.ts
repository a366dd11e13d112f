import { describe, expect, it } from "vitest";
import { planned, type Space } from "../src/array/plan";
import { Pose } from "../src/array/pose";
import type { Item } from "../src/array/types";
import { item } from "./make";

const WIDE = 854;

function plan(shape: number[], over: Partial<Item> = {}, space: Partial<Space> = {}) {
  const pose = new Pose(item(shape, over), false);
  const given = {
    width: WIDE,
    narrow: false,
    size: 640,
    left: 26,
    linked: 1,
    lens: shape.length > 1,
    pooled: Boolean(over.pooled),
    ...space,
  };
  return { ...planned(pose, given), box: pose.box };
}

describe("the plan of a card", () => {
  it("puts numbers below wide pictures and beside square ones", () => {
    expect(plan([10, 84]).name).toBe("plain");
    expect(plan([60, 60]).name).toBe("big");
    expect(plan([16, 6, 5, 5])).toMatchObject({ name: "tiles", lens: 172 });
    expect(plan([10]).name).toBe("row");
    expect(plan([3000]).name).toBe("plain");
  });

  it("stacks what is narrow, and a lens only where it shows more", () => {
    const small = { width: 394, narrow: true };
    expect(plan([60, 60], {}, small)).toMatchObject({ name: "plain", lens: 0 });
    expect(plan([16, 6, 5, 5], {}, small)).toMatchObject({ name: "stack", lens: 394 });
    expect(plan([60, 60], { pooled: "each block" }, small).name).toBe("stack");
  });

  it("never gives more than there is, whatever the shape", () => {
    for (const shape of [
      [1, 1],
      [4000, 2],
      [2, 4000],
      [40, 40],
      [64, 28, 28],
      [512, 256, 3, 3],
      [2, 3, 4, 5, 6],
    ]) {
      for (const width of [394, 600, WIDE]) {
        for (const pooled of ["", "blocks"]) {
          const narrow = width < 574;
          const { name, lens, box } = plan(shape, { pooled }, { width, narrow });
          const used = box.width + 26 + (name === "stack" ? 0 : lens + (lens ? 16 : 0));
          expect(used, `${shape} ${width} ${name}`).toBeLessThanOrEqual(width + 1);
          expect(box.height).toBeLessThanOrEqual(640 * 0.66 + 1);
        }
      }
    }
  });

  it("shares the width among pictures with one cursor", () => {
    expect(plan([84, 120], {}, { linked: 3, left: 0 }).box.width).toBeLessThanOrEqual((WIDE - 24) / 3);
    expect(plan([84, 120], {}, { linked: 3, left: 0, width: 394, narrow: true }).box.width).toBeGreaterThan(300);
  });
});
