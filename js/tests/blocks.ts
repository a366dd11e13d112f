// A slow reading of the rule of blocks: what a block of an array shows, and what every pixel of a picture has to be.

import { lined, span } from "../src/array/raster";
import { shader } from "../src/array/scale";
import type { Pose } from "../src/array/pose";
import type { Source } from "../src/array/source";
import type { Role, Scale } from "../src/array/types";

export interface Scene {
  shape: number[];
  block: number[];
  values: Float64Array;
  roles: Role[];
  box: [number, number];
  ratio: number;
  /** The factor, and where in the box. */
  zoom: [number, number, number];
  cursor: number[];
}

/** What a set of values shows: one of them, and the other end of their range where it is at least half as far off. */
export function ruled(values: readonly number[], others: readonly number[] = values): [number, number] {
  for (const bad of [NaN, Infinity, -Infinity]) if (values.some((v) => Object.is(v, bad))) return [bad, bad];
  const all = [...values, ...others].sort((a, b) => a - b);
  const [low, high] = [all[0] as number, all[all.length - 1] as number];
  const mean = values.reduce((sum, v, i) => sum + (v + (others[i] as number)) / 2, 0) / values.length;
  const [up, down] = [high - mean, mean - low];
  const [one, other] = up >= down ? [high, low] : [low, high];
  return [one, Math.min(up, down) * 2 >= Math.max(up, down) ? other : one];
}

/** The blocks of a part of an array: `ends` NaN where there is none, `whole` the value itself there. */
export function blocksOf(values: Float64Array, shape: number[], start: number[], stop: number[], block: number[]) {
  const grid = start.map((from, axis) => Math.ceil(((stop[axis] as number) - from) / (block[axis] as number)));
  const held: number[][] = Array.from({ length: grid.reduce((n, k) => n * k, 1) }, () => []);
  const index = shape.map(() => 0);
  for (let flat = 0; flat < values.length; flat++) {
    let rest = flat;
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      index[axis] = rest % (shape[axis] as number);
      rest = Math.floor(rest / (shape[axis] as number));
    }
    if (index.some((i, axis) => i < (start[axis] as number) || i >= (stop[axis] as number))) continue;
    const place = index.reduce(
      (sum, i, axis) => sum * (grid[axis] as number) + Math.floor((i - (start[axis] as number)) / (block[axis] as number)),
      0,
    );
    (held[place] as number[]).push(values[flat] as number);
  }
  const found = held.map((entries) => ruled(entries));
  const ends = Float64Array.from(found, ([one, two]) => (one === two || !Number.isFinite(one) ? NaN : two));
  return { grid, values: Float64Array.from(found, ([one]) => one), ends, whole: Float64Array.from(found, ([, two]) => two) };
}

export const colourOf = (value: number, scale: Scale, palette: Uint32Array): number => palette[shader(scale)(value)] as number;

/** The pixels that are not what they have to be. */
export function differences(
  scene: Scene,
  pose: Pose,
  sources: readonly Source[],
  scale: Scale,
  palette: Uint32Array,
  plate: { pixels: Uint32Array; width: number; height: number },
): string[] {
  const { mosaic } = pose.fit;
  const { frame } = pose;
  const [sx, sy] = [
    span(mosaic.x, pose.camera.x, pose.sx * scene.ratio, plate.width),
    span(mosaic.y, pose.camera.y, pose.sy * scene.ratio, plate.height),
  ];
  const wrong: string[] = [];
  const blockOf = (axis: number): number => scene.block[axis] as number;
  /** The cells of a source that one direction of a pixel covers; null where it has not all. */
  const cells = (source: Source, axis: number, s: typeof sx, p: number): number[] | null => {
    if (axis < 0) return [0];
    const size = scene.shape[axis] as number;
    const range = [s.from[p], s.to[p]].map((cell) => (cell as number) * blockOf(axis)) as [number, number];
    const [k, at] = [source.block[axis] as number, source.start[axis] as number];
    const clipped = range.map((end) => Math.min(end, size)) as [number, number];
    if (clipped[0] > size - 1) clipped[0] = Math.min(range[0], size - 1);
    let elements: number[];
    if (k >= range[1] - range[0] - 1e-7) elements = [Math.min(size - 1, Math.floor((clipped[0] + clipped[1]) / 2))];
    else {
      elements = [];
      for (let i = 0; i < size; i++) if (i + 1 > clipped[0] + 1e-7 && i < clipped[1] - 1e-7) elements.push(i);
    }
    const found = [...new Set(elements.map((i) => Math.floor((i - at) / k)))];
    return found.length && found.every((c) => c >= 0 && c < (source.grid[axis] as number)) ? found : null;
  };
  for (let y = 0; y < plate.height; y += 1 + (y % 3)) {
    for (let x = 0; x < plate.width; x += 1 + (x % 3)) {
      const [tx, ty] = [sx.tile[x] as number, sy.tile[y] as number];
      let expected: number | null = 0;
      const tile = mosaic.wrap ? ty * mosaic.wrap + tx : tx;
      if (tx >= 0 && ty >= 0 && !(mosaic.wrap && tile >= mosaic.count)) {
        for (const source of [...sources].reverse()) {
          const index: (number[] | null)[] = scene.shape.map((_, axis) => {
            if (axis === frame.cols) return cells(source, axis, sx, x);
            if (axis === frame.rows) return cells(source, axis, sy, y);
            const element =
              axis === frame.across
                ? tile * blockOf(axis)
                : axis === frame.down
                  ? ty * blockOf(axis)
                  : (pose.cursor[axis] as number);
            const c = Math.floor((element - (source.start[axis] as number)) / (source.block[axis] as number));
            return c >= 0 && c < (source.grid[axis] as number) ? [c] : null;
          });
          if (index.some((one) => one === null)) continue;
          let places = [0];
          (index as number[][]).forEach((some, axis) => {
            places = places.flatMap((place) => some.map((c) => place + c * (source.strides[axis] as number)));
          });
          const values = places.map((place) => source.values.at(place));
          const others = places.map((place, i) => {
            const other = source.other(place);
            return Number.isNaN(other) ? (values[i] as number) : other;
          });
          const pair = values.length === 1 ? ([values[0], others[0]] as [number, number]) : ruled(values, others);
          const shown = lined(x, y, Math.max(1, Math.round(3 * scene.ratio))) ? pair[1] : pair[0];
          expected = colourOf(Number.isFinite(pair[0]) ? shown : pair[0], scale, palette);
          break;
        }
      }
      const is = plate.pixels[y * plate.width + x] as number;
      if (is !== expected) wrong.push(`${x},${y}: ${is.toString(16)} where ${expected.toString(16)} belongs`);
    }
  }
  return wrong.slice(0, 5);
}
