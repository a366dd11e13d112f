// One item as it is looked at: its layer, its scale, and all the values that are known of it.

import { POSINF } from "../shared/colour";
import { num } from "../shared/format";
import type { Theme } from "../shared/theme";
import type { Pose } from "./pose";
import { overview, type Source } from "./source";
import type { Item, Layer, Scale } from "./types";
import { partFor } from "./scale";
import { chosenScale, layerName, wording } from "./values";

/** What is known of an element: its number, and how far that can be trusted. */
export interface Reading {
  value: number;
  shade: number;
  /** "" exact, "≈" rounded to a level, "block" one value of its block. */
  trust: "" | "≈" | "block";
  text: string;
}

const KEPT = 12;

/** How many elements one value of a source stands for. */
const coarseness = (source: Source): number => source.block.reduce((n, k) => n * k, 1);

export class Sheet {
  readonly item: Item;
  layer = 0;
  readonly chosen: number[];
  readonly write: (value: number, digits?: number) => string;
  #whole: Source[];
  #pieces: { layer: number; source: Source }[] = [];
  #dyed = "";
  #wholes: boolean[] = [];

  constructor(item: Item) {
    this.item = item;
    this.#whole = item.layers.map((layer) => overview(item, layer));
    this.chosen = item.layers.map(chosenScale);
    this.write = wording(item.dtype);
  }

  /** Every value that came with the page is a whole number: then none is printed with decimals. */
  get wholes(): boolean {
    return (this.#wholes[this.layer] ??= this.#areWhole(this.#whole[this.layer] as Source));
  }

  #areWhole(source: Source): boolean {
    const all = source.values.numbers();
    return source.exact && Array.prototype.every.call(all, (v: number) => !Number.isFinite(v) || Number.isInteger(v));
  }

  get face(): Layer {
    return this.item.layers[this.layer] as Layer;
  }

  get scale(): Scale {
    return this.face.scales[this.chosen[this.layer] as number] as Scale;
  }

  /** The sources of the layer that is shown, the coarser first: each is painted over those before it. */
  sources(layer = this.layer): Source[] {
    const pieces = this.#pieces.flatMap((p) => (p.layer === layer ? [p.source] : []));
    return [this.#whole[layer] as Source, ...pieces.sort((a, b) => coarseness(b) - coarseness(a))];
  }

  add(layer: number, source: Source): void {
    this.#pieces.push({ layer, source });
    if (this.#pieces.length > KEPT) this.#pieces.shift();
    this.#dyed = "";
  }

  setScale(which: number): void {
    const n = this.face.scales.length;
    this.chosen[this.layer] = ((which % n) + n) % n;
  }

  /** Colour all sources, if scale, layer, mode or theme have changed. */
  dye(theme: Theme, image: boolean): void {
    const { scale } = this;
    const key = [this.layer, this.chosen[this.layer], image, theme.token(scale.map), this.#pieces.length].join();
    if (key === this.#dyed) return;
    this.#dyed = key;
    const colours = theme.palette(scale.map, partFor(scale));
    for (const source of this.sources()) source.dye(scale, colours, image ? this.item.image : null, theme.rgb("bad"));
  }

  /** The best source that holds an element. */
  best(index: readonly number[], pose: Pose, layer = this.layer): { source: Source; place: number } | null {
    let found: { source: Source; place: number } | null = null;
    for (const source of this.sources(layer)) {
      const place = source.place(index, pose);
      const finer = !found || source.block.every((k, axis) => k <= (found?.source.block[axis] as number));
      if (place >= 0 && finer) found = { source, place };
    }
    return found;
  }

  read(index: readonly number[], pose: Pose, layer = this.layer): Reading | null {
    const found = this.best(index, pose, layer);
    if (!found) return null;
    const { source, place } = found;
    const value = source.values.at(place);
    const finite = Number.isFinite(value);
    const trust = !source.single ? "block" : source.values.rough && finite ? "≈" : "";
    const rough = source.values.rough && finite ? "≈ " : "";
    const other = source.other(place);
    // A block that has both ends of its range says both.
    const ends = Number.isFinite(other) ? [value, other].sort((a, b) => a - b).map((v) => this.write(v)).join(" … ") : "";
    const text = rough + (ends || (finite ? (source.values.digits?.(place) ?? this.write(value)) : num(value)));
    return { value, shade: source.shades[place] ?? POSINF, trust, text };
  }

  /** The value in all its layers or colour channels, as the readout says it. */
  words(index: readonly number[], pose: Pose): { text: string; bad: boolean; trust: Reading["trust"] } {
    const { channels } = pose.frame;
    if (pose.image && channels >= 0) {
      const found = this.best(index, pose);
      if (!found) return { text: "", bad: false, trust: "" };
      const step = found.source.strides[channels] as number;
      const all = Array.from({ length: found.source.grid[channels] as number }, (_, c) =>
        found.source.values.at(found.place + c * step),
      );
      const rough = found.source.values.rough ? "≈ " : "";
      const trust = !found.source.single ? "block" : rough ? "≈" : "";
      return {
        text: rough + all.map((v) => this.write(v, 3)).join("  "),
        bad: all.some((v) => !Number.isFinite(v)),
        trust,
      };
    }
    const reading = this.read(index, pose);
    if (!reading) return { text: "", bad: false, trust: "" };
    const others = this.item.layers.flatMap((layer, k) => {
      if (k === this.layer || !layerName(layer)) return [];
      const other = this.read(index, pose, k);
      return other ? [`${layerName(layer)} ${other.text}`] : [];
    });
    const name = layerName(this.face);
    const text = [name ? `${name} ${reading.text}` : reading.text, ...others].join(" · ");
    return { text, bad: !Number.isFinite(reading.value), trust: reading.trust };
  }
}
