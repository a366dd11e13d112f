// The picture of one sheet on a canvas: pixels, signs, numbers, labels of the axes. It draws; others decide.

import { prepare, ratio } from "../shared/dom";
import { decimalsFor } from "../shared/format";
import { real } from "../shared/payload";
import type { Theme } from "../shared/theme";
import { KINDS } from "./bad";
import { unravel } from "./axes";
import { badCell, frame, number, type Pen, type Rect, tickStep } from "./ink";
import { placeIn, type Track } from "./mosaic";
import type { Pose } from "./pose";
import { lay } from "./raster";
import type { Sheet } from "./sheet";

export interface Look {
  /** The overview, one of several with a common cursor, or the lens. */
  part: "main" | "linked" | "lens";
  labels: boolean;
  /** Corners of what the lens shows, framed on the overview. */
  lens: [number[], number[]] | null;
}

export interface Surface {
  canvas: HTMLCanvasElement;
  pose: Pose;
  look: Look;
  /** Room for labels, left of the picture and above it. */
  left: number;
  top: number;
  draw(): void;
}

const GLYPHS = 60;

/** Room for the labels around a picture. */
export function margins(pose: Pose, labels: boolean): { left: number; top: number; bottom: number } {
  if (!labels) return { left: 0, top: 0, bottom: 0 };
  const axis = pose.tiled ? pose.frame.down : pose.frame.rows;
  const digits = axis < 0 ? 0 : String((pose.shape[axis] as number) - 1).length;
  return {
    left: axis < 0 ? 0 : Math.max(20, Math.ceil(12 + 6.7 * digits)),
    top: pose.tiled ? 16 : 0,
    bottom: pose.tiled ? 2 : 17,
  };
}

export function surface(canvas: HTMLCanvasElement, sheet: Sheet, pose: Pose, theme: Theme, look: Look): Surface {
  let plateKey = "";
  let plate: ImageData | null = null;
  const numbers = new WeakMap<object, number>();
  let serial = 0;
  const own: Surface = { canvas, pose, look, left: 0, top: 0, draw };
  return own;

  function draw(): void {
    const space = margins(pose, look.labels);
    [own.left, own.top] = [space.left, space.top];
    const [w, h] = [pose.box.width, pose.box.height];
    const k = ratio();
    const pen = prepare(canvas, Math.ceil(w + own.left + 1), Math.ceil(h + space.top + space.bottom), k);
    if (!pen) return;
    sheet.dye(theme, pose.image);
    pixels(pen, Math.round(w * k), Math.round(h * k), k);
    pen.save();
    pen.translate(own.left, own.top);
    pen.beginPath();
    pen.rect(0, 0, w, h);
    pen.clip();
    pen.font = theme.font(10.5);
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    cells(pen);
    pen.restore();
    pen.save();
    pen.translate(own.left, own.top);
    if (!pose.tiled) {
      pen.strokeStyle = theme.token("line");
      pen.lineWidth = 1;
      pen.strokeRect(0.5, 0.5, Math.round(w) - 1, Math.round(h) - 1);
    }
    pen.beginPath();
    pen.rect(-3, -3, w + 6, h + 6);
    pen.clip();
    marks(pen);
    pen.restore();
    if (look.labels) labels(pen);
  }

  /** The values as pixels; painted again only when something of it has changed. */
  function pixels(pen: Pen, width: number, height: number, k: number): void {
    if (width < 1 || height < 1) return;
    const { camera } = pose;
    const sources = sheet.sources();
    const name = (tint: object): number => {
      if (!numbers.has(tint)) numbers.set(tint, ++serial);
      return numbers.get(tint) as number;
    };
    const slice = pose.sliders.map((axis) => pose.cursor[axis]);
    const key = [
      width,
      height,
      k,
      camera.zoom,
      camera.x,
      camera.y,
      pose.roles,
      slice,
      sources.map((s) => name(s.tint)),
    ].join();
    if (key !== plateKey || !plate) {
      plate = new ImageData(width, height);
      const out = { pixels: new Uint32Array(plate.data.buffer), width, height };
      for (const source of sources) lay(out, pose, source, k);
      plateKey = key;
    }
    pen.putImageData(plate, Math.round(own.left * k), Math.round(own.top * k));
  }

  /** Numbers and signs, where cells are large enough, or where there are few. */
  function cells(pen: Pen): void {
    const first = pose.rect(pose.cursor);
    const printed = first.w >= 28 && first.h >= 15 && !pose.image;
    const { at, which } = sheet.item.bad;
    if (printed || (first.w >= 5 && first.h >= 5 && at.data.length)) {
      const space = Math.floor((first.w - 3) / 6.3);
      const decimals = decimalsFor(Math.max(Math.abs(real(sheet.scale.lo)), Math.abs(real(sheet.scale.hi))), space);
      const integers = /^(bool|u?int)/.test(sheet.item.dtype) || sheet.wholes;
      visible((index) => {
        const found = sheet.best(index, pose);
        if (!found) return;
        const { source, place } = found;
        const shade = source.shades[place] as number;
        const r = pose.rect(index);
        if (shade > 252 && !pose.image) badCell(pen, theme, KINDS[255 - shade] as number, r, r.w > 7);
        // A block's value is not that of its elements: no number while theirs may still come.
        // A block that is drawn in two values has no number that would be its own.
        else if (printed && (source.single || !pose.fine) && Number.isNaN(source.other(place)))
          number(pen, source.values.at(place), source.tint[place] as number, r, space, integers ? 0 : decimals);
      });
      return;
    }
    // Small cells: the known places are marked larger than they are, while they are few.
    const few: [number, Rect][] = [];
    for (let i = 0; i < at.data.length; i++) {
      const index = unravel(at.data[i] as number, pose.shape);
      if (!pose.shows(index)) continue;
      const r = pose.rect(index);
      if (r.x > -r.w && r.y > -r.h && r.x < pose.box.width && r.y < pose.box.height)
        few.push([KINDS[which.data[i] as 0 | 1 | 2], r]);
    }
    const least = few.length > GLYPHS ? 0 : 10;
    for (const [value, r] of few) {
      const [gx, gy] = [Math.max(0, least - r.w) / 2, Math.max(0, least - r.h) / 2];
      if (least) badCell(pen, theme, value, { x: r.x - gx, y: r.y - gy, w: r.w + 2 * gx, h: r.h + 2 * gy });
    }
  }

  /** Every element (or block) that is in view. */
  function visible(visit: (index: number[]) => void): void {
    const { mosaic } = pose.fit;
    const { rows, cols, across, down } = pose.frame;
    const runs = (t: Track, offset: number, scale: number, space: number, axis: number): [number, number][] => {
      const out: [number, number][] = [];
      const block = axis < 0 ? 1 : (pose.block[axis] as number);
      const step = pose.fine ? 1 : block;
      const size = axis < 0 ? 1 : (pose.shape[axis] as number);
      for (let tile = Math.floor(offset / (t.cells + t.gap)); tile < t.tiles; tile++) {
        if ((placeIn(t, tile, 0) - offset) * scale > space) break;
        const from = Math.max(0, Math.floor(((offset - placeIn(t, tile, 0)) * block) / step) * step);
        for (let i = from; i < size && (placeIn(t, tile, i / block) - offset) * scale < space; i += step)
          out.push([tile, i]);
      }
      return out;
    };
    const xs = runs(mosaic.x, pose.camera.x, pose.sx, pose.box.width, cols);
    const index = [...pose.cursor];
    for (const [ty, y] of runs(mosaic.y, pose.camera.y, pose.sy, pose.box.height, rows)) {
      for (const [tx, x] of xs) {
        const tile = mosaic.wrap ? ty * mosaic.wrap + tx : tx;
        if (mosaic.wrap && tile >= mosaic.count) continue;
        if (rows >= 0) index[rows] = y;
        if (cols >= 0) index[cols] = x;
        if (across >= 0) index[across] = tile * (pose.block[across] as number);
        if (down >= 0) index[down] = ty * (pose.block[down] as number);
        visit(index);
      }
    }
  }

  function marks(pen: Pen): void {
    const r = pose.rect(pose.index);
    if (pose.tiled && look.part !== "lens") {
      const { mosaic } = pose.fit;
      const { tx, ty } = pose.tileOf(pose.cursor);
      const tile = {
        x: (placeIn(mosaic.x, tx, 0) - pose.camera.x) * pose.sx - 1,
        y: (placeIn(mosaic.y, ty, 0) - pose.camera.y) * pose.sy - 1,
        w: mosaic.x.cells * pose.sx + 2,
        h: mosaic.y.cells * pose.sy + 2,
      };
      frame(pen, theme, tile);
      if (pose.hover || pose.sx > 6) frame(pen, theme, r, 3, true);
      return;
    }
    if (look.part === "linked") {
      const [x, y, space] = [r.x + r.w / 2, r.y + r.h / 2, Math.max(r.w, r.h, 10) / 2 + 1];
      pen.globalAlpha = 0.75;
      pen.fillStyle = theme.token("accent");
      pen.fillRect(x - 0.5, 0, 1, y - space);
      pen.fillRect(x - 0.5, y + space, 1, pose.box.height);
      pen.fillRect(0, y - 0.5, x - space, 1);
      pen.fillRect(x + space, y - 0.5, pose.box.width, 1);
      pen.globalAlpha = 1;
      frame(pen, theme, r, 10);
      return;
    }
    if (look.lens) {
      const [a, b] = look.lens.map((index) => pose.rect(index)) as [typeof r, typeof r];
      frame(pen, theme, { x: a.x, y: a.y, w: b.x + b.w - a.x, h: b.y + b.h - a.y }, 8);
    } else frame(pen, theme, pose.rect(pose.cursor), 7);
    if (pose.hover) frame(pen, theme, r, 5, true);
  }

  /** Indices beside and below; over the tiles where there are tiles. */
  function labels(pen: Pen): void {
    const { mosaic } = pose.fit;
    const { rows, cols, across, down } = pose.frame;
    pen.font = theme.font(11);
    const write = (text: number, x: number, y: number, on: boolean): void => {
      pen.fillStyle = theme.token(on ? "accent" : "ink-2");
      pen.fillText(String(text), x, y);
    };
    const index = pose.index;
    const tile = pose.tileOf(index);
    /** Labels of evenly spaced items; the chosen one always, and nothing too near to it. */
    const row = (
      n: number,
      unit: number,
      begin: (i: number) => number,
      size: number,
      space: number,
      reach: number,
      chosen: number,
      put: (i: number, at: number, on: boolean) => void,
    ): void => {
      const step = tickStep(size, space);
      const here = begin(chosen) + size / 2;
      for (let i = 0; i < n; i += step) {
        const at = begin(i) + size / 2;
        if (at < 0 || at > reach || i === chosen || Math.abs(at - here) < space * 0.8) continue;
        put(i * unit, at, false);
      }
      if (here >= 0 && here <= reach) put(chosen * unit, here, true);
    };
    const [w, h] = [pose.box.width, pose.box.height];
    const digits = (axis: number): number => 7 * String(axis < 0 ? 0 : (pose.shape[axis] as number)).length;
    const unit = (axis: number): number => (axis < 0 ? 1 : (pose.block[axis] as number));
    if (pose.tiled) {
      pen.textAlign = "center";
      pen.textBaseline = "middle";
      const tileX = (i: number): number => (placeIn(mosaic.x, i, 0) - pose.camera.x) * pose.sx;
      const tileY = (i: number): number => (placeIn(mosaic.y, i, 0) - pose.camera.y) * pose.sy;
      const wide = mosaic.x.cells * pose.sx;
      if (mosaic.wrap) {
        const chosen = tile.ty * mosaic.wrap + tile.tx;
        if (wide < digits(across)) return;
        for (let i = 0; i < mosaic.count; i++) {
          const [x, y] = [tileX(i % mosaic.wrap) + wide / 2, tileY(Math.floor(i / mosaic.wrap))];
          if (x > 0 && x < w && y > -2 && y < h) write(i * unit(across), own.left + x, own.top + y - 8, i === chosen);
        }
        return;
      }
      const keep = (x: number): number => Math.max(4, Math.min(x, w - 4));
      row(mosaic.x.tiles, unit(across), tileX, wide, digits(across) + 4, w, tile.tx, (i, x, on) =>
        write(i, own.left + keep(x), 7, on),
      );
      pen.textAlign = "right";
      if (down >= 0)
        row(mosaic.y.tiles, unit(down), tileY, mosaic.y.cells * pose.sy, 14, h, tile.ty, (i, y, on) =>
          write(i, own.left - 7, own.top + y, on),
        );
      return;
    }
    // Labels count what can be reached: elements, or the blocks they were pooled into.
    const step = (axis: number): number => (pose.fine ? 1 : unit(axis));
    const one = pose.rect(index);
    pen.textAlign = "center";
    pen.textBaseline = "alphabetic";
    const along = (
      axis: number,
      size: number,
      offset: number,
      space: number,
      reach: number,
      put: (i: number, at: number, on: boolean) => void,
    ): void => {
      if (axis < 0) return;
      const k = step(axis);
      row(
        Math.ceil((pose.shape[axis] as number) / k),
        k,
        (i) => i * size - offset,
        size,
        space,
        reach,
        Math.floor((index[axis] as number) / k),
        put,
      );
    };
    const keep = (x: number): number => Math.max(4, Math.min(x, w - digits(cols) / 2));
    along(cols, one.w, pose.camera.x * pose.sx, digits(cols) + 14, w + 1, (i, x, on) =>
      write(i, own.left + keep(x), own.top + h + 13, on),
    );
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    along(rows, one.h, pose.camera.y * pose.sy, 15, h + 1, (i, y, on) =>
      write(i, own.left - 7, own.top + Math.max(6, Math.min(y, h - 4)), on),
    );
  }
}
