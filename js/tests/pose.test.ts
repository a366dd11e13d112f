import { describe, expect, it } from "vitest";
import { Pose } from "../src/array/pose";
import type { Role } from "../src/array/types";
import { item } from "./make";

const posed = (shape: number[], over = {}, fine = false, box: [number, number] = [600, 400]): Pose => {
  const pose = new Pose(item(shape, over), fine);
  pose.setBox(...box);
  return pose;
};

describe("a pose", () => {
  it("finds under each drawn cell the element that is drawn there", () => {
    const shapes: [number[], Role[]][] = [
      [[7], ["cols"]],
      [
        [10, 84],
        ["rows", "cols"],
      ],
      [
        [10, 84],
        ["cols", "rows"],
      ],
      [
        [16, 6, 5, 5],
        ["across", "down", "rows", "cols"],
      ],
      [
        [13, 5, 5],
        ["across", "rows", "cols"],
      ],
      [
        [13, 5, 5],
        ["down", "rows", "cols"],
      ],
      [
        [3, 4, 5, 6, 7],
        ["slider", "across", "down", "rows", "cols"],
      ],
    ];
    for (const [shape, roles] of shapes) {
      const pose = posed(shape, { roles });
      const size = shape.reduce((n, k) => n * k, 1);
      for (let flat = 0; flat < size; flat += Math.max(1, size >> 6)) {
        const index = shape.map(
          (_, axis) => Math.floor(flat / shape.slice(axis + 1).reduce((n, k) => n * k, 1)) % (shape[axis] as number),
        );
        if (roles[0] === "slider") index[0] = pose.cursor[0] as number;
        const r = pose.rect(index);
        expect(pose.at(r.x + r.w / 2, r.y + r.h / 2), `${shape} ${roles}`).toEqual(index);
      }
    }
  });

  it("keeps what is under the pointer there while zooming, and stays in its box", () => {
    const pose = posed([200, 300]);
    const before = pose.at(210, 130);
    for (let i = 0; i < 30; i++) pose.zoomBy(1.3, 210, 130);
    expect(pose.at(210, 130)).toEqual(before);
    expect(pose.sx).toBeGreaterThanOrEqual(44);
    pose.panTo(1e9, 1e9);
    expect(pose.at(pose.box.width - 1, pose.box.height - 1)).toEqual([199, 299]);
    for (let i = 0; i < 40; i++) pose.zoomBy(0.7, 10, 10);
    expect(pose.camera).toEqual({ zoom: 1, x: 0, y: 0 });
  });

  it("does not change its height when zoomed", () => {
    const pose = posed([40, 84]);
    const { height } = pose.box;
    pose.zoomBy(9, 50, 50);
    expect(pose.box.height).toBe(height);
  });

  it("moves the cursor by cells, out of a tile into the next, and never out of the array", () => {
    const pose = posed([2, 2, 3, 3], {});
    for (let i = 0; i < 3; i++) pose.move(1, 0);
    expect(pose.cursor).toEqual([1, 0, 0, 0]);
    for (let i = 0; i < 3; i++) pose.move(0, 1);
    expect(pose.cursor).toEqual([1, 1, 0, 0]);
    pose.leap(-1, -1);
    expect(pose.cursor).toEqual([0, 0, 0, 0]);
    for (let i = 0; i < 50; i++) pose.move(-1, -1);
    expect(pose.cursor).toEqual([0, 0, 0, 0]);
    for (let i = 0; i < 50; i++) pose.leap(1, 1);
    expect(pose.cursor.slice(0, 2)).toEqual([1, 1]);
  });

  it("steps by blocks where only blocks are known, by elements where the kernel answers", () => {
    const blocks = { block: [5, 5], grid: [200, 200] };
    const still = posed([1000, 1000], blocks);
    still.move(1, 1);
    expect(still.cursor).toEqual([5, 5]);
    expect(still.at(3, 3)?.every((i) => i % 5 === 0)).toBe(true);
    const live = posed([1000, 1000], blocks, true);
    live.move(1, 1);
    expect(live.cursor).toEqual([1, 1]);
    for (let i = 0; i < 40; i++) live.zoomBy(1.5, 100, 100);
    expect(live.rect(live.cursor).w).toBeGreaterThan(40);
  });

  it("brings the cursor into view", () => {
    const pose = posed([200, 300]);
    pose.zoomBy(20, 0, 0);
    pose.go([199, 299]);
    const r = pose.rect(pose.cursor);
    expect(r.x >= 0 && r.x + r.w <= pose.box.width + 1 && r.y >= 0 && r.y + r.h <= pose.box.height + 1).toBe(true);
  });

  it("turns sliders, round when it plays", () => {
    const pose = posed([3, 4, 5], { roles: ["slider", "rows", "cols"] });
    pose.turn(0, 1);
    pose.turn(0, 1);
    pose.turn(0, 1);
    expect(pose.cursor[0]).toBe(2);
    pose.turn(0, 1, true);
    expect(pose.cursor[0]).toBe(0);
    expect(pose.shows([1, 0, 0])).toBe(false);
  });

  it("goes to the picture and back to the roles it had", () => {
    const pose = posed([3, 8, 8], { image: { channels: 0, rows: 1, cols: 2, lo: 0, hi: 1, shown: true } });
    expect(pose.roles).toEqual(["channels", "rows", "cols"]);
    pose.setImage(false);
    expect(pose.roles).toEqual(["down", "rows", "cols"]);
  });

  it("has room for arrays with very many tiles and for one value", () => {
    for (const shape of [[512, 256, 1, 1], [1, 1], [1], [1, 4000], [4000, 1]]) {
      const pose = posed(shape);
      expect(Number.isFinite(pose.sx) && pose.sx > 0 && pose.box.width > 0 && pose.box.width <= 600.001).toBe(true);
    }
  });
});
