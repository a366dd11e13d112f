// Values that cover an array or a part of it: the overview that came with the page, and tiles that the kernel sent.

import { pixel, type Rgb } from "../shared/colour";
import type { Nd } from "../shared/payload";
import { strides } from "./axes";
import type { Pose } from "./pose";
import { reader, type Reader } from "./values";
import type { Item, Layer, Picture, Scale } from "./types";

export class Source {
  readonly values: Reader;
  readonly start: number[];
  readonly block: number[];
  readonly grid: number[];
  readonly strides: number[];
  /** Covers all of the array. */
  readonly whole: boolean;
  /** One value for each element. */
  readonly single: boolean;
  shades: Uint8Array = new Uint8Array(0);
  tint: Uint32Array = new Uint32Array(0);

  constructor(values: Reader, start: number[], block: number[], grid: number[], whole: boolean) {
    this.values = values;
    this.start = start;
    this.block = block;
    this.grid = grid;
    this.whole = whole;
    this.single = block.every((k) => k === 1);
    this.strides = strides(grid);
  }

  /** Exactly what the array holds there, not a block's or a level's. */
  get exact(): boolean {
    return this.single && !this.values.rough;
  }

  /** The flat place of an element; -1 outside. The axis of colour channels counts from its first. */
  place(index: readonly number[], pose: Pose): number {
    let place = 0;
    for (let axis = 0; axis < index.length; axis++) {
      if (axis === pose.frame.channels) continue;
      const off = (index[axis] as number) - (this.start[axis] as number);
      const k = Math.floor(off / (this.block[axis] as number));
      if (off < 0 || k >= (this.grid[axis] as number)) return -1;
      place += k * (this.strides[axis] as number);
    }
    return place;
  }

  /** The part of the place that the sliders give. */
  base(pose: Pose): number {
    let place = 0;
    for (const axis of pose.sliders) {
      const off = (pose.cursor[axis] as number) - (this.start[axis] as number);
      const k = Math.floor(off / (this.block[axis] as number));
      if (off < 0 || k >= (this.grid[axis] as number)) return -1;
      place += k * (this.strides[axis] as number);
    }
    return place;
  }

  /** Give every place its colour. */
  dye(scale: Scale, palette: Uint32Array, image: Picture | null, bad: Rgb): void {
    this.shades = this.values.shades(scale);
    this.tint = image
      ? this.#picture(image, pixel(bad))
      : Uint32Array.from(this.shades, (shade) => palette[shade] as number);
  }

  #picture(image: Picture, bad: number): Uint32Array {
    const axis = image.channels ?? -1;
    const step = axis < 0 ? 0 : (this.strides[axis] as number);
    const n = axis < 0 ? 1 : (this.grid[axis] as number);
    const out = new Uint32Array(this.values.length);
    const span = image.hi > image.lo ? 255 / (image.hi - image.lo) : 0;
    const level = (place: number): number =>
      Math.max(0, Math.min(255, Math.round((this.values.at(place) - image.lo) * span)));
    for (let place = 0; place < out.length; place++) {
      if (step && Math.floor(place / step) % n) continue;
      let broken = false;
      for (let c = 0; c < n; c++) broken ||= (this.shades[place + c * step] as number) > 252;
      if (broken) out[place] = bad;
      else if (n < 3)
        out[place] = pixel([level(place), level(place), level(place)], n === 2 ? level(place + step) : 255);
      else {
        const colour: Rgb = [level(place), level(place + step), level(place + 2 * step)];
        out[place] = pixel(colour, n > 3 ? level(place + 3 * step) : 255);
      }
    }
    return out;
  }
}

export const overview = (item: Item, layer: Layer): Source =>
  new Source(
    reader(layer.values),
    item.shape.map(() => 0),
    item.block,
    item.grid,
    true,
  );

export function piece(values: Nd, start: number[], stop: number[], block: number[]): Source {
  const grid = start.map((from, axis) => Math.ceil(((stop[axis] as number) - from) / (block[axis] as number)));
  const count = grid.reduce((n, k) => n * k, 1);
  if (values.data.length !== count) throw new RangeError("A tile does not fill its place.");
  return new Source(reader({ data: values }), start, block, grid, false);
}
