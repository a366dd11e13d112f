// From cells to pixels, one plain loop each. A pixel's place in memory is the part of its row plus the part of its
// column; where a pixel covers several cells it shows what is not finite first, then the one furthest from their mean.

import type { Pose } from "./pose";
import type { Track } from "./mosaic";
import type { Source } from "./source";

/** For each pixel of one direction: its tile, the first and the last cell it covers (fractions of cells kept in `from`). */
export interface Span {
  tile: Int32Array;
  from: Float64Array;
  last: Int32Array;
  dense: boolean;
}

export function span(t: Track, offset: number, scale: number, pixels: number): Span {
  const tile = new Int32Array(pixels).fill(-1);
  const from = new Float64Array(pixels);
  const last = new Int32Array(pixels);
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
      if (scale >= 1) from[p] = ((p - begin + 0.5) / width) * t.cells;
      last[p] = Math.min(
        t.cells - 1,
        Math.max(Math.floor(from[p] as number), Math.ceil(((p - begin + 1) / width) * t.cells) - 1),
      );
    }
  }
  return { tile, from, last, dense: scale < 1 };
}

/** The part of each pixel's place in a source; -1 where the source has nothing there. */
export function parts(
  s: Span,
  source: Source,
  axis: number,
  block: number,
  over: number,
  overBlock: number,
  fold: number,
): Int32Array {
  const out = new Int32Array(s.tile.length).fill(-1);
  const one = (ax: number, item: number): number => {
    if (ax < 0) return 0;
    const k = Math.floor((item - (source.start[ax] as number)) / (source.block[ax] as number));
    return item < (source.start[ax] as number) || k >= (source.grid[ax] as number)
      ? -1
      : k * (source.strides[ax] as number);
  };
  for (let p = 0; p < out.length; p++) {
    const tile = s.tile[p] as number;
    if (tile < 0) continue;
    const a = one(axis, Math.floor((s.from[p] as number) * block));
    // A row of wrapped tiles counts for `fold` tiles of the axis that is wrapped.
    const b = fold ? tile * fold * (source.strides[over] as number) : one(over, tile * overBlock);
    if (a >= 0 && b >= 0) out[p] = a + b;
  }
  return out;
}

export interface Plate {
  pixels: Uint32Array;
  width: number;
  height: number;
}

/** Paint one source over the plate: `base` is the place of the sliders. */
export function lay(plate: Plate, pose: Pose, source: Source, scale: number): void {
  const { mosaic } = pose.fit;
  const { rows, cols, across, down } = pose.frame;
  const block = (axis: number): number => (axis < 0 ? 1 : (pose.block[axis] ?? 1));
  const base = source.base(pose);
  if (base < 0) return;
  const sx = span(mosaic.x, pose.camera.x, pose.sx * scale, plate.width);
  const sy = span(mosaic.y, pose.camera.y, pose.sy * scale, plate.height);
  const fold = mosaic.wrap && source.whole ? mosaic.wrap : 0;
  if (mosaic.wrap && !source.whole) return layWrapped(plate, pose, source, sx, sy);
  const px = parts(sx, source, cols, block(cols), across, block(across), 0);
  const py = parts(sy, source, rows, block(rows), mosaic.wrap ? across : down, block(down), fold);
  const { pixels, width, height } = plate;
  const dense = source.whole && (sx.dense || sy.dense);
  const stepX = cols < 0 ? 0 : (source.strides[cols] as number);
  const stepY = rows < 0 ? 0 : (source.strides[rows] as number);
  let before = -2;
  for (let y = 0; y < height; y++) {
    const row = py[y] as number;
    if (row < 0) {
      before = -2;
      continue;
    }
    const at = y * width;
    const key = dense ? row * 4096 + ((sy.last[y] as number) - Math.floor(sy.from[y] as number)) : row;
    if (key === before && source.whole) {
      pixels.copyWithin(at, at - width, at);
      continue;
    }
    before = key;
    const left = fold ? mosaic.count - (sy.tile[y] as number) * fold : Infinity;
    const deep = dense ? (sy.last[y] as number) - Math.floor(sy.from[y] as number) + 1 : 1;
    for (let x = 0; x < width; x++) {
      const col = px[x] as number;
      if (col < 0 || (sx.tile[x] as number) >= left) continue;
      const wide = dense ? (sx.last[x] as number) - Math.floor(sx.from[x] as number) + 1 : 1;
      const place = base + row + col;
      pixels[at + x] = source.tint[
        deep * wide > 1 ? loudest(source.shades, place, stepY, deep, stepX, wide) : place
      ] as number;
    }
  }
}

/** A piece of a wrapped mosaic: its tiles are looked up one by one. */
function layWrapped(plate: Plate, pose: Pose, source: Source, sx: Span, sy: Span): void {
  const { rows, cols, across } = pose.frame;
  const { wrap, count } = pose.fit.mosaic;
  const index = [...pose.cursor];
  for (let y = 0; y < plate.height; y++) {
    if ((sy.tile[y] as number) < 0) continue;
    if (rows >= 0) index[rows] = Math.floor((sy.from[y] as number) * (pose.block[rows] as number));
    for (let x = 0; x < plate.width; x++) {
      const tile = (sy.tile[y] as number) * wrap + (sx.tile[x] as number);
      if ((sx.tile[x] as number) < 0 || tile >= count) continue;
      index[across] = tile * (pose.block[across] as number);
      if (cols >= 0) index[cols] = Math.floor((sx.from[x] as number) * (pose.block[cols] as number));
      const place = source.place(index, pose);
      if (place >= 0) plate.pixels[y * plate.width + x] = source.tint[place] as number;
    }
  }
}

/** Of the cells that one pixel covers, the one it shows. */
export function loudest(
  shades: Uint8Array,
  place: number,
  stepY: number,
  deep: number,
  stepX: number,
  wide: number,
): number {
  let sum = 0;
  for (let i = 0; i < deep; i++) {
    for (let j = 0; j < wide; j++) {
      const at = place + i * stepY + j * stepX;
      const shade = shades[at] as number;
      if (shade > 252) return at;
      sum += shade;
    }
  }
  const mean = sum / (deep * wide);
  let best = place;
  let far = -1;
  for (let i = 0; i < deep; i++) {
    for (let j = 0; j < wide; j++) {
      const at = place + i * stepY + j * stepX;
      const off = Math.abs((shades[at] as number) - mean);
      if (off > far) [best, far] = [at, off];
    }
  }
  return best;
}
