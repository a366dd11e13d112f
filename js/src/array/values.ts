// Reading the values of a layer, whether they came as numbers or as codes into a table of levels.

import { real, type Nd, type Numbers } from "../shared/payload";
import { num, whole } from "../shared/format";
import { shader } from "./scale";
import type { Coded, Exact, Layer, Scale } from "./types";

type Values = Exact | Coded;

export interface Reader {
  length: number;
  /** The number at a flat place of the grid. */
  at(place: number): number;
  /** The numbers of all places. */
  numbers(): ArrayLike<number>;
  /** True where that number stands for its neighbours too: it was rounded to one of the levels. */
  rough: boolean;
  /** The colour numbers of all places on a scale. */
  shades(scale: Scale): Uint8Array;
  /** All the digits there are, for integers beyond 2^53. */
  digits?(place: number): string;
}

function plain(nd: Nd): Reader {
  const { data, exact } = nd;
  const reader: Reader = {
    length: data.length,
    rough: false,
    at: (place) => data[place] ?? NaN,
    numbers: () => data,
    shades: (scale) => {
      const shade = shader(scale);
      const out = new Uint8Array(data.length);
      for (let i = 0; i < out.length; i++) out[i] = shade(data[i] as number);
      return out;
    },
  };
  if (exact) reader.digits = (place) => String(exact[place]).replace("-", "−");
  return reader;
}

function coded(codes: Numbers, levels: Numbers, rough: boolean): Reader {
  const top = codes.BYTES_PER_ELEMENT === 1 ? 255 : 65535;
  const value = (code: number): number => {
    if (code === top) return NaN;
    if (code === top - 1) return Infinity;
    if (code === top - 2) return -Infinity;
    return levels[code] ?? NaN;
  };
  return {
    length: codes.length,
    rough,
    at: (place) => (place >= 0 && place < codes.length ? value(codes[place] as number) : NaN),
    numbers: () => Float64Array.from(codes as ArrayLike<number>, value),
    shades: (scale) => {
      const shade = shader(scale);
      const table = new Uint8Array(top + 1);
      for (let code = 0; code < levels.length; code++) table[code] = shade(levels[code] as number);
      for (let code = top - 2; code <= top; code++) table[code] = shade(value(code));
      return Uint8Array.from(codes, (code) => table[code] as number);
    },
  };
}

export function reader(values: Values | null): Reader {
  if (!values) return plain({ data: new Float64Array(0), shape: [0] });
  return "codes" in values ? coded(values.codes.data, values.levels.data, !values.exact) : plain(values.data);
}

/** A number in the words of its dtype. */
export function wording(dtype: string): (value: number, digits?: number) => string {
  if (dtype === "bool") return (value) => (value ? "True" : "False");
  if (/^u?int/.test(dtype)) return (value, digits = 15) => (digits < 8 ? num(value, digits) : whole(value));
  return (value, digits = 4) => num(value, digits);
}

/** What the readout calls a layer: nothing, or |x| and its phase. */
export function layerName(layer: Layer): string {
  return layer.name === "value" ? "" : layer.name;
}

export const chosenScale = (layer: Layer): number =>
  Math.max(0, Math.min(layer.scales.length - 1, real(layer.scale) || 0));
