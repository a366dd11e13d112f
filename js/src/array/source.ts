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
  /** The two colours of what was picked last, the same where there is one. */
  one = 0;
  two = 0;
  /** The other ends of blocks that show both; NaN where a block shows one value. */
  readonly ends: Reader | null;
  #endTint: Uint32Array = new Uint32Array(0);
  #numbers: ArrayLike<number> = [];
  #others: ArrayLike<number> = [];
  #bad = -1;
  #circular = false;

  constructor(
    values: Reader,
    start: number[],
    block: number[],
    grid: number[],
    whole: boolean,
    ends: Reader | null = null,
  ) {
    this.values = values;
    this.ends = ends;
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
    this.#bad = image ? pixel(bad) : -1;
    this.#circular = scale.map === "phase";
    this.tint = image
      ? this.#picture(image, pixel(bad))
      : Uint32Array.from(this.shades, (shade) => palette[shade] as number);
    if (!this.#numbers.length) {
      this.#numbers = this.values.numbers();
      this.#others = this.ends?.numbers() ?? [];
    }
    if (this.ends && !image)
      this.#endTint = Uint32Array.from(this.ends.shades(scale), (shade) => palette[shade] as number);
  }

  /** The other end of a block, NaN where it shows one value. */
  other(place: number): number {
    return this.ends ? this.ends.at(place) : NaN;
  }

  /** Cells are parts of a picture: several of them show their mean. */
  get blends(): boolean {
    return this.#bad >= 0;
  }

  /** Find the colours of the cells that one pixel covers: `deep` rows and `wide` columns from a place on. */
  pick(place: number, stepY: number, deep: number, stepX: number, wide: number): void {
    const { tint, shades } = this;
    if (this.#bad >= 0) {
      this.one = this.two = deep * wide === 1 ? (tint[place] as number) : this.#mean(place, stepY, deep, stepX, wide);
      return;
    }
    // Angles have no furthest: of several the first is shown, unless one is lost.
    if (deep * wide === 1 || (this.#circular && !this.#lost(place, stepY, deep, stepX, wide))) {
      this.one = this.two = tint[place] as number;
      const other = this.#others[place];
      if (other !== undefined && other === other) this.two = this.#endTint[place] as number;
      return;
    }
    let [worst, at, low, high, sum] = [252, -1, Infinity, -Infinity, 0];
    let [lowTint, highTint] = [0, 0];
    for (let i = 0; i < deep; i++) {
      for (let j = 0; j < wide; j++) {
        const here = place + i * stepY + j * stepX;
        const shade = shades[here] as number;
        if (shade > worst) [worst, at] = [shade, here];
        const value = this.#numbers[here] as number;
        const other = this.#others[here];
        const both = other !== undefined && other === other;
        sum += both ? value / 2 + other / 2 : value;
        if (value < low) [low, lowTint] = [value, tint[here] as number];
        if (value > high) [high, highTint] = [value, tint[here] as number];
        if (both && other < low) [low, lowTint] = [other, this.#endTint[here] as number];
        if (both && other > high) [high, highTint] = [other, this.#endTint[here] as number];
      }
    }
    if (at >= 0) {
      this.one = this.two = tint[at] as number;
      return;
    }
    const mean = sum / (deep * wide);
    const [up, down] = [high - mean, mean - low];
    this.one = up >= down ? highTint : lowTint;
    const both = Math.min(up, down) >= Math.max(up, down) / 2;
    this.two = both ? (up >= down ? lowTint : highTint) : this.one;
  }

  #lost(place: number, stepY: number, deep: number, stepX: number, wide: number): boolean {
    for (let i = 0; i < deep; i++)
      for (let j = 0; j < wide; j++) if ((this.shades[place + i * stepY + j * stepX] as number) > 252) return true;
    return false;
  }

  /** The mean colour of several cells of a picture; what is bad stays. */
  #mean(place: number, stepY: number, deep: number, stepX: number, wide: number): number {
    const sums = [0, 0, 0, 0] as [number, number, number, number];
    for (let i = 0; i < deep; i++) {
      for (let j = 0; j < wide; j++) {
        const colour = this.tint[place + i * stepY + j * stepX] as number;
        if (colour === this.#bad) return colour;
        for (let c = 0; c < 4; c++) sums[c as 0] += (colour >>> (8 * c)) & 255;
      }
    }
    const [r, g, b, alpha] = sums.map((sum) => Math.round(sum / (deep * wide))) as typeof sums;
    return pixel([r, g, b], alpha);
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
    layer.ends ? reader({ ...layer.ends, exact: false }) : null,
  );

export function piece(values: Nd, start: number[], stop: number[], block: number[], ends?: Nd): Source {
  const grid = start.map((from, axis) => Math.ceil(((stop[axis] as number) - from) / (block[axis] as number)));
  const count = grid.reduce((n, k) => n * k, 1);
  if (values.data.length !== count) throw new RangeError("A tile does not fill its place.");
  if (ends && ends.data.length !== count) throw new RangeError("The ends of a tile do not fill its place.");
  return new Source(reader({ data: values }), start, block, grid, false, ends ? apart(values, ends) : null);
}

/** The other ends that a tile brought; where they are its values there are none. */
function apart(values: Nd, ends: Nd): Reader {
  const same = (at: number): boolean => !Number.isFinite(values.data[at]) || values.data[at] === ends.data[at];
  const data = Float64Array.from(ends.data as ArrayLike<number>, (end, at) => (same(at) ? NaN : end));
  return reader({ data: { data, shape: ends.shape } });
}
