import { describe, expect, it } from "vitest";
import { palette } from "../src/shared/colour";
import { Pose } from "../src/array/pose";
import { lay, span } from "../src/array/raster";
import { track } from "../src/array/mosaic";
import { overview, piece } from "../src/array/source";
import { roomy, view } from "../src/array/tiles";
import type { Layer, Role } from "../src/array/types";
import { item, layer, nd, scale } from "./make";
import { blocksOf, colourOf, differences, type Scene } from "./blocks";

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

/** The two values that one pixel over all of these shows. */
function picked(values: number[]): number[] {
  const { source } = drawn([values.length], Float64Array.from(values) as never, ["cols"]);
  const wide = scale({ lo: -95, hi: 95 });
  source.dye(wide, colours, null, [255, 0, 0]);
  source.pick(0, 0, 1, 1, values.length);
  const of = (colour: number): number =>
    values.find((v) => colourOf(v, wide, colours) === colour && (Number.isFinite(v) || v === worst)) as number;
  const bad = values.filter((v) => !Number.isFinite(v));
  const worst = bad.some(Number.isNaN) ? NaN : Math.max(...bad);
  if (bad.length) return [source.one, source.two].map((colour) => (colour === RED ? worst : of(colour)));
  return [of(source.one), of(source.two)];
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
    expect(picked([10, 11, 12, 90])).toEqual([90, 90]);
    expect(picked([50, 51, 0, NaN])).toEqual([NaN, NaN]);
  });

  // The same table as in tests/debug/array/test_pool.py: what a block of these values shows, and its other end.
  const BLOCKS: [number[], number, number | null][] = [
    [[5], 5, null],
    [[1, 1, 1], 1, null],
    [[0, 0, 0, 9], 9, null],
    [[0, 0, 0, -9], -9, null],
    [[-1, 1], 1, -1],
    [[2, 3], 3, 2],
    [[-1, 1, -1], 1, -1],
    [[1, -1, 1], -1, 1],
    [[-1, 1, -1, 1, -1], 1, -1],
    [[0, 0, 0, 3, 1], 3, null],
    [[0, 1, 4], 4, 0],
    [[NaN, 1, -1], NaN, null],
    [[Infinity, 1, -Infinity], Infinity, null],
    [[-Infinity, 1, 1], -Infinity, null],
  ];
  it.each(BLOCKS)("shows of %j as one pixel %d and %d", (values, shown, end) => {
    expect(picked(values)).toEqual([shown, end ?? shown]);
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

describe("what every pixel shows", () => {
  // Any rank, roles, blocks, zoom, slice and screen; the overview with what a kernel sends for the view over it.
  const random = (seed: number) => () => (seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0) / 2 ** 32;

  function scene(seed: number): Scene {
    const next = random(seed);
    const whole = (low: number, high: number): number => low + Math.floor(next() * (high - low + 1));
    const rank = whole(1, 4);
    const most = [2000, 130, 40, 14][rank - 1] as number;
    const shape = Array.from({ length: rank }, () => whole(1, next() < 0.3 ? 4 : most));
    const block = shape.map((n) => (next() < 0.4 ? 1 : whole(1, Math.min(n, 24))));
    const size = shape.reduce((n, k) => n * k, 1);
    const kind = whole(0, 3);
    const values = Float64Array.from({ length: size }, (_, i) => {
      const v = kind === 0 ? (i % 2 ? 1 : -1) : kind === 1 ? next() * (i % 2 ? 1 : -1) : next() * 2 - 1;
      return kind === 3 && next() < 0.01 ? ([NaN, Infinity, -Infinity][whole(0, 2)] as number) : v;
    });
    const roles: Role[] = ["rows", "cols", "across", "down", "slider"];
    for (let i = roles.length - 1; i > 0; i--) {
      const j = whole(0, i);
      [roles[i], roles[j]] = [roles[j] as Role, roles[i] as Role];
    }
    const zoom = next() < 0.5 ? 1 : 1 + next() * 12;
    return {
      shape,
      block,
      values,
      roles: roles.slice(0, rank),
      box: [whole(30, 260), whole(20, 160)],
      ratio: [1, 1, 1.5, 2][whole(0, 3)] as number,
      zoom: [zoom, next(), next()],
      cursor: shape.map((n) => whole(0, n - 1)),
    };
  }

  function check(one: Scene): { wrong: string[]; pose: Pose; plate: Uint32Array } {
    const { shape, block, values } = one;
    const made = blocksOf(values, shape, shape.map(() => 0), shape, block);
    const levels = Float64Array.from(new Set(made.ends.filter((v) => !Number.isNaN(v))));
    const codes = Uint16Array.from(made.ends, (v) => (Number.isNaN(v) ? 65535 : levels.indexOf(v)));
    const about = item(shape, {
      block,
      grid: made.grid,
      roles: one.roles,
      layers: [layer({ data: nd(made.values, made.grid) }, { ends: { codes: nd(codes), levels: nd(levels) } })],
    });
    const pose = new Pose(about, true);
    pose.setBox(...one.box);
    pose.cursor = one.cursor;
    pose.zoomBy(one.zoom[0], one.zoom[1] * pose.box.width, one.zoom[2] * pose.box.height);
    const sources = [overview(about, about.layers[0] as Layer)];
    const want = view(pose);
    if (want) {
      const region = roomy(want, shape, [pose.frame.rows, pose.frame.cols]);
      const exact = blocksOf(values, shape, region.start, region.stop, region.block);
      sources.push(piece(nd(exact.values), region.start, region.stop, region.block, nd(exact.whole)));
    }
    const on = scale({ lo: -1, hi: 1 });
    for (const source of sources) source.dye(on, colours, null, [255, 0, 0]);
    const [w, h] = [Math.round(pose.box.width * one.ratio), Math.round(pose.box.height * one.ratio)];
    const plate = { pixels: new Uint32Array(w * h), width: w, height: h };
    for (const source of sources) lay(plate, pose, source, one.ratio);
    return { wrong: differences(one, pose, sources, on, colours, plate), pose, plate: plate.pixels };
  }

  it.each(Array.from({ length: 60 }, (_, i) => i + 1))("follows the rule, scene %d", (seed) => {
    expect(check(scene(seed * 7919)).wrong).toEqual([]);
  });

  it("has as many of one sign as of the other where values alternate, however they are cut", () => {
    for (const [columns, k, width] of [
      [1000, 1, 600],
      [1000, 59, 578],
      [1000, 3, 333],
      [997, 2, 410],
      [640, 5, 640],
    ] as const) {
      const values = Float64Array.from({ length: 8 * columns }, (_, i) => (i % 2 ? 1 : -1) * (0.5 + ((i * 7) % 11) / 22));
      const { plate } = check({
        shape: [8, columns],
        block: [2, k],
        values,
        roles: ["rows", "cols"],
        box: [width, 48],
        ratio: 1,
        zoom: [1, 0, 0],
        cursor: [0, 0],
      });
      const [low, high] = [-1, 1].map((sign) => {
        const ramp = new Set(Array.from({ length: 126 }, (_, i) => colours[126 + sign * (i + 1)] as number));
        return plate.filter((pixel) => ramp.has(pixel)).length;
      }) as [number, number];
      expect(Math.abs(low - high) / (low + high), `${columns} in blocks of ${k}`).toBeLessThan(0.08);
    }
  });
});

describe("pictures in colour", () => {
  it("take three channels from lo to hi, and show a bad channel as bad", () => {
    const values = Float32Array.from([1, 0, 0.5, NaN, 0.5, 0.5, 0, 0.5, 0, 0.5, 1, 0]);
    const one = item([3, 2, 2], {
      image: { channels: 0, rows: 1, cols: 2, lo: 0, hi: 1, shown: true },
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
