import { describe, expect, it } from "vitest";
import { palette } from "../src/shared/colour";
import { Pose } from "../src/array/pose";
import { lay, loudest, span } from "../src/array/raster";
import { track } from "../src/array/mosaic";
import { overview, piece } from "../src/array/source";
import type { Layer, Role } from "../src/array/types";
import { item, layer, nd, scale } from "./make";

const colours = palette("#000000 #ffffff", true, "#ff0000");
const RED = 0xff0000ff;

function drawn(shape: number[], values: Float32Array, roles: Role[], width = 600, height = 400) {
  const one = item(shape, { roles, layers: [layer({ data: nd(values, shape) })] });
  const pose = new Pose(one, false);
  pose.setBox(width, height);
  const source = overview(one, one.layers[0] as Layer);
  source.dye(scale({ lo: -1, hi: 1 }), colours, null, [255, 0, 0]);
  const [w, h] = [Math.round(pose.box.width), Math.round(pose.box.height)];
  const plate = { pixels: new Uint32Array(w * h), width: w, height: h };
  lay(plate, pose, source, 1);
  return {
    pose,
    source,
    plate,
    at: (x: number, y: number) => plate.pixels[Math.floor(y) * w + Math.floor(x)] as number,
  };
}

describe("the raster", () => {
  it("paints each cell in its colour, under every assignment of roles", () => {
    const shape = [2, 3, 4, 5];
    const values = Float32Array.from({ length: 120 }, (_, i) => i / 60 - 1);
    for (const roles of [
      ["across", "down", "rows", "cols"],
      ["cols", "slider", "rows", "across"],
      ["down", "slider", "cols", "rows"],
    ] as Role[][]) {
      const { pose, source, at } = drawn(shape, values, roles);
      for (let flat = 0; flat < 120; flat++) {
        const index = [Math.floor(flat / 60), Math.floor(flat / 20) % 3, Math.floor(flat / 5) % 4, flat % 5];
        if (!pose.shows(index)) continue;
        const r = pose.rect(index);
        expect(at(r.x + r.w / 2, r.y + r.h / 2), `${roles} ${index}`).toBe(source.tint[flat]);
      }
    }
  });

  it("leaves gaps between tiles, and nothing after the last of a wrapped row", () => {
    // Behind the last tile lies the next slice: it must not be drawn.
    const { plate, pose } = drawn([2, 7, 9, 9], new Float32Array(1134), ["slider", "across", "rows", "cols"], 200, 200);
    expect(pose.fit.mosaic.wrap).toBeGreaterThan(1);
    const empty = plate.pixels.filter((p) => p === 0).length;
    const cell = pose.sx * pose.sy;
    expect(plate.pixels.length - empty).toBeLessThan(567 * cell * 1.15);
    expect(plate.pixels.length - empty).toBeGreaterThan(567 * cell * 0.85);
  });

  it("shows one bad value and one extreme among ten thousand in three hundred pixels", () => {
    const values = new Float32Array(10000).fill(0.1);
    values[7777] = NaN;
    values[1234] = 1;
    const { plate, source } = drawn([10000], values, ["cols"], 300, 100);
    expect(plate.pixels).toContain(RED);
    expect(plate.pixels).toContain(source.tint[1234] as number);
  });

  it("lays exact values over the overview where they belong", () => {
    const one = item([8, 8], {
      block: [4, 4],
      grid: [2, 2],
      layers: [layer({ data: nd(new Float32Array(4), [2, 2]) })],
    });
    const pose = new Pose(one, true);
    pose.setBox(400, 400);
    const base = overview(one, one.layers[0] as Layer);
    const fine = piece(nd(Float32Array.from({ length: 16 }, (_, i) => i / 16)), [4, 4], [8, 8], [1, 1]);
    for (const source of [base, fine]) source.dye(scale({ lo: -1, hi: 1 }), colours, null, [255, 0, 0]);
    const [w, h] = [Math.round(pose.box.width), Math.round(pose.box.height)];
    const plate = { pixels: new Uint32Array(w * h), width: w, height: h };
    lay(plate, pose, base, 1);
    lay(plate, pose, fine, 1);
    for (const index of [
      [5, 6],
      [7, 7],
      [4, 4],
    ]) {
      const r = pose.rect(index);
      const found = plate.pixels[Math.floor(r.y + r.h / 2) * w + Math.floor(r.x + r.w / 2)];
      expect(found).toBe(fine.tint[((index[0] as number) - 4) * 4 + (index[1] as number) - 4]);
    }
    expect(plate.pixels[0]).toBe(base.tint[0]);
  });

  it("refuses a tile that does not fill its place", () => {
    expect(() => piece(nd(new Float32Array(3)), [0, 0], [2, 2], [1, 1])).toThrow(RangeError);
  });

  it("chooses what is not finite first, then the furthest from the mean", () => {
    expect(loudest(Uint8Array.from([10, 11, 12, 90]), 0, 0, 1, 1, 4)).toBe(3);
    expect(loudest(Uint8Array.from([250, 251, 0, 253]), 0, 0, 1, 1, 4)).toBe(3);
  });

  it("gives every tile of one size the same pixels to a pixel", () => {
    const s = span(track(5, 16, 0.83), 0, 5.37, 520);
    const widths = Array.from({ length: 16 }, (_, k) => s.tile.filter((t) => t === k).length);
    expect(Math.max(...widths) - Math.min(...widths)).toBeLessThanOrEqual(1);
  });

  it("paints 40,000 cells within its budget", () => {
    const values = Float32Array.from({ length: 40000 }, (_, i) => Math.sin(i));
    const { pose, source } = drawn([200, 200], values, ["rows", "cols"], 400, 400);
    const plate = { pixels: new Uint32Array(160000), width: 400, height: 400 };
    const times = Array.from({ length: 9 }, () => {
      const from = performance.now();
      lay(plate, pose, source, 1);
      return performance.now() - from;
    });
    expect(Math.min(...times)).toBeLessThan(8);
  });
});

describe("pictures in colour", () => {
  it("take three channels from lo to hi, and show a bad channel as bad", () => {
    const values = Float32Array.from([1, 0, 0.5, NaN, 0.5, 0.5, 0, 0.5, 0, 0.5, 1, 0]);
    const one = item([3, 2, 2], {
      image: { channels: 0, rows: 1, cols: 2, lo: 0, hi: 1 },
      layers: [layer({ data: nd(values, [3, 2, 2]) })],
    });
    const source = overview(one, one.layers[0] as Layer);
    source.dye(scale(), colours, one.image, [255, 0, 0]);
    expect([...source.tint.slice(0, 4)].map((p) => p.toString(16))).toEqual([
      "ff0080ff",
      "ff808000",
      "ffff0080",
      "ff0000ff",
    ]);
  });
});
