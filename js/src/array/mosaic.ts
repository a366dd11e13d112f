// The geometry of the picture: tiles of cells, some of them beside and below each other, in units of one cell.
// One direction knows nothing of the other, so that places in memory are a sum: row part + column part.

import type { Frame } from "./axes";

/** One direction of the picture. */
export interface Track {
  cells: number;
  tiles: number;
  gap: number;
  /** Cells and gaps together. */
  length: number;
}

export interface Mosaic {
  x: Track;
  y: Track;
  /** Tiles across before the next row of tiles begins; 0 where the tiles are not wrapped. */
  wrap: number;
  /** How many tiles there are in all when wrapped. */
  count: number;
}

export const track = (cells: number, tiles: number, gap: number): Track => ({
  cells,
  tiles,
  gap,
  length: Math.max(0, cells * tiles + gap * Math.max(0, tiles - 1)),
});

/** The tile and the cell within it at a place; null in a gap or outside. */
export function locate(t: Track, place: number): { tile: number; cell: number } | null {
  if (place < 0 || place >= t.length) return null;
  const pitch = t.cells + t.gap;
  const tile = Math.min(t.tiles - 1, Math.floor(place / pitch));
  const cell = place - tile * pitch;
  return cell < t.cells ? { tile, cell } : null;
}

/** Where a cell of a tile begins. */
export const placeIn = (t: Track, tile: number, cell: number): number => tile * (t.cells + t.gap) + cell;

export interface Fit {
  mosaic: Mosaic;
  /** Pixels per cell when everything is in view. */
  sx: number;
  sy: number;
  /** Pixels per cell that no zoom exceeds: a number can be read in it. */
  maxX: number;
  maxY: number;
}

export interface Wish {
  width: number;
  height: number;
  /** Cells must be square (pictures). */
  square: boolean;
  /** Values in a cell along rows and columns, where zooming shows each of them; 1 and 1 otherwise. */
  inX: number;
  inY: number;
}

const GAP = 4;
const LABELLED = 15;
const WIDEST = 64;
const HIGHEST = 34;
const LEAST = { x: 110, y: 168 };
const READ = { x: 58, y: 30 };

/** The mosaic of a grid under its roles, and the scale at which the whole of it fits a box. */
export function fit(grid: readonly number[], frame: Frame, wish: Wish): Fit {
  const size = (axis: number): number => (axis < 0 ? 1 : (grid[axis] ?? 1));
  const [rows, cols, across, down] = [size(frame.rows), size(frame.cols), size(frame.across), size(frame.down)];
  if (across > 1 && frame.down < 0) {
    let best: Fit | null = null;
    for (let n = 1; n <= across; n++) {
      const deep = Math.ceil(across / n);
      if (Math.ceil(across / deep) !== n) continue;
      const one = scaled(rows, cols, n, deep, wish, deep > 1 ? LABELLED : GAP);
      one.mosaic.wrap = deep > 1 ? n : 0;
      one.mosaic.count = across;
      // Wider first: a row of tiles is read before a column of them.
      if (!best || one.sx * one.sy >= best.sx * best.sy * 0.999) best = one;
    }
    if (best) return best;
  }
  return scaled(rows, cols, across, down, wish, GAP);
}

function scaled(rows: number, cols: number, across: number, down: number, wish: Wish, gapY: number): Fit {
  const px = (tiles: number, space: number, gap: number): number =>
    tiles > 1 ? Math.max(0, Math.min(gap, (0.25 * space) / tiles)) : 0;
  const [gx, gy] = [px(across, wish.width, GAP), px(down, wish.height, gapY)];
  const space = { x: wish.width - gx * (across - 1), y: wish.height - gy * (down - 1) };
  const [nx, ny] = [Math.max(1, cols * across), Math.max(1, rows * down)];
  let sx = Math.min(space.x / nx, space.y / ny, wish.square ? 16 : HIGHEST);
  let sy = sx;
  if (!wish.square && across * down === 1) {
    // A few rows or columns alone are stretched until they can be seen, up to cells that hold a number.
    if (ny * sy < LEAST.y) sy = Math.max(sy, Math.min(LEAST.y / ny, HIGHEST));
    if (nx * sx < wish.width && space.x / nx >= 44 && space.y / ny >= 20) sx = Math.min(space.x / nx, WIDEST);
    else if (nx * sx < LEAST.x) sx = Math.max(sx, Math.min(LEAST.x / nx, WIDEST));
  }
  const mosaic = { x: track(cols, across, gx / sx), y: track(rows, down, gy / sy), wrap: 0, count: across };
  const maxX = READ.x * wish.inX;
  return { mosaic, sx, sy, maxX, maxY: wish.square ? maxX : READ.y * wish.inY };
}
