// From cells to pixels. A pixel shows one cell where cells are as large as pixels. Where it covers several it follows the
// rule of blocks: what is not finite first, else the value furthest from the mean, hatched with the other end where that
// is at least half as far; of a picture it shows the mean. Every source answers for whole pixels only.

import type { Pose } from "./pose";
import type { Track } from "./mosaic";
import type { Source } from "./source";

/** For each pixel of one direction: its tile, and the part of it that it covers, in cells of the overview. */
export interface Span {
  tile: Int32Array;
  from: Float64Array;
  to: Float64Array;
}

export function span(t: Track, offset: number, scale: number, pixels: number): Span {
  const tile = new Int32Array(pixels).fill(-1);
  const from = new Float64Array(pixels);
  const to = new Float64Array(pixels);
  const pitch = t.cells + t.gap;
  // A tile begins and ends on whole pixels, so that all tiles of one size look alike.
  const round = (place: number): number => Math.round((place - offset) * scale);
  const first = Math.max(0, Math.floor(offset / pitch));
  for (let k = first; k < t.tiles; k++) {
    const begin = round(k * pitch);
    const end = Math.max(begin + 1, round(k * pitch + t.cells));
    if (begin >= pixels) break;
    const width = end - begin;
    for (let p = Math.max(0, begin); p < Math.min(end, pixels); p++) {
      tile[p] = k;
      from[p] = ((p - begin) / width) * t.cells;
      to[p] = ((p - begin + 1) / width) * t.cells;
    }
  }
  return { tile, from, to };
}

const NEAR = 1e-7; // of an element: what rounding has added to a border

/** For each pixel of one direction: the first cell of a source that it covers, -1 where it has not all; and how many. */
export interface Cover {
  first: Int32Array;
  count: Int32Array;
}

export function cover(s: Span, source: Source, axis: number, block: number, size: number): Cover {
  const n = s.tile.length;
  const out = { first: new Int32Array(n).fill(-1), count: new Int32Array(n).fill(1) };
  if (axis < 0) {
    for (let p = 0; p < n; p++) if ((s.tile[p] as number) >= 0) out.first[p] = 0;
    return out;
  }
  const [at, k, cells] = [source.start[axis] as number, source.block[axis] as number, source.grid[axis] as number];
  for (let p = 0; p < n; p++) {
    if ((s.tile[p] as number) < 0) continue;
    const whole = ((s.to[p] as number) - (s.from[p] as number)) * block;
    // The last block may have fewer elements than its cell has room for: its last one fills the rest.
    const from = Math.min((s.from[p] as number) * block, size - 1);
    const to = Math.max(from + Math.min(NEAR, whole), Math.min((s.to[p] as number) * block, size));
    let [a, b] = [Math.floor(from + NEAR), Math.ceil(to - NEAR) - 1];
    // Cells of a pixel and more: the one in its middle, so that none is drawn twice as wide as it is.
    if (k >= whole - NEAR) a = b = Math.min(size - 1, Math.max(0, Math.floor((from + to) / 2)));
    const [first, last] = [Math.floor((a - at) / k), Math.floor((Math.max(a, b) - at) / k)];
    if (first < 0 || last >= cells) continue;
    out.first[p] = first;
    out.count[p] = last - first + 1;
  }
  return out;
}

export interface Plate {
  pixels: Uint32Array;
  width: number;
  height: number;
}

const LINE = 3; // css pixels: thinner ones run into one colour that the scale does not have

/** The lines of the hatching, in the pixels of the screen. */
export const lined = (x: number, y: number, wide: number): boolean => ((x + y) / wide) % 2 >= 1;

/** Paint one source over the plate. */
export function lay(plate: Plate, pose: Pose, source: Source, scale: number): void {
  const { mosaic } = pose.fit;
  const { rows, cols, across, down } = pose.frame;
  const block = (axis: number): number => (axis < 0 ? 1 : (pose.block[axis] ?? 1));
  const size = (axis: number): number => (axis < 0 ? 1 : (pose.shape[axis] ?? 1));
  const base = source.base(pose);
  if (base < 0) return;
  const sx = span(mosaic.x, pose.camera.x, pose.sx * scale, plate.width);
  const sy = span(mosaic.y, pose.camera.y, pose.sy * scale, plate.height);
  const cx = cover(sx, source, cols, block(cols), size(cols));
  const cy = cover(sy, source, rows, block(rows), size(rows));
  const stride = (axis: number): number => (axis < 0 ? 0 : (source.strides[axis] as number));
  /** The place of a tile in the source; -1 where it has none of it. */
  const tileAt = (axis: number, tile: number): number => {
    if (axis < 0) return 0;
    const k = Math.floor((tile * block(axis) - (source.start[axis] as number)) / (source.block[axis] as number));
    return k < 0 || k >= (source.grid[axis] as number) ? -1 : k * stride(axis);
  };
  const { wrap, count } = mosaic;
  const over = Array.from({ length: wrap ? count : mosaic.x.tiles }, (_, tile) => tileAt(across, tile));
  const under = Array.from({ length: wrap ? 1 : mosaic.y.tiles }, (_, tile) => tileAt(wrap ? -1 : down, tile));
  const { pixels, width, height } = plate;
  const [one, two, has] = [new Uint32Array(width), new Uint32Array(width), new Uint8Array(width)];
  const thick = Math.max(1, Math.round(LINE * scale));
  const [stepY, stepX] = [stride(rows), stride(cols)];
  const plain = !source.ends && !source.blends;
  let [beforeTile, beforeRow, beforeDeep, hatched] = [-1, -1, -1, false];
  for (let y = 0; y < height; y++) {
    const [row, ty] = [cy.first[y] as number, sy.tile[y] as number];
    const at = y * width;
    if (row < 0) {
      beforeRow = -1;
      continue;
    }
    const deep = cy.count[y] as number;
    const again = row === beforeRow && ty === beforeTile && deep === beforeDeep;
    [beforeTile, beforeRow, beforeDeep] = [ty, row, deep];
    if (!again) {
      has.fill(0);
      hatched = false;
      const top = under[wrap ? 0 : ty] ?? -1;
      for (let x = 0; x < width; x++) {
        const [col, tx] = [cx.first[x] as number, sx.tile[x] as number];
        if (col < 0 || top < 0) continue;
        const left = over[wrap ? ty * wrap + tx : tx] ?? -1;
        if (left < 0) continue;
        const [place, wide] = [base + left + top + row * stepY + col * stepX, cx.count[x] as number];
        has[x] = 1;
        if (plain && deep * wide === 1) {
          one[x] = two[x] = source.tint[place] as number;
          continue;
        }
        source.pick(place, stepY, deep, stepX, wide);
        one[x] = source.one;
        two[x] = source.two;
        hatched ||= source.one !== source.two;
      }
    }
    if (again && !hatched && source.whole) pixels.copyWithin(at, at - width, at);
    else if (!hatched) for (let x = 0; x < width; x++) has[x] && (pixels[at + x] = one[x] as number);
    else
      for (let x = 0; x < width; x++)
        if (has[x]) pixels[at + x] = (lined(x, y, thick) ? two[x] : one[x]) as number;
  }
}

/** What a pixel shows that covers several values or blocks; "" where none does. */
export function crowded(pose: Pose, pooled: boolean, ratio: number): string {
  const many = [pose.sx, pose.sy].reduce((n, scale) => n * Math.ceil(1 / (scale * ratio) - 1e-9), 1);
  if (many < 2) return "";
  if (pose.image) return `a pixel over ${many} values shows their mean`;
  if (pooled) return `a pixel over ${many} blocks follows the same rule`;
  return `a pixel over ${many} values shows the one furthest from their mean, hatched with the other end where that is at least half as far`;
}
