// Records for the tests: packed bytes as Python writes them, and the smallest item that can be shown.

import { vi } from "vitest";
import type { Item, Layer, Scale, State } from "../src/array/types";
import type { Nd, Numbers } from "../src/shared/payload";

const NAMES: [new (...given: never[]) => unknown, string][] = [
  [Float32Array, "f32"],
  [Float64Array, "f64"],
  [Int8Array, "i8"],
  [Uint8Array, "u8"],
  [Int16Array, "i16"],
  [Uint16Array, "u16"],
  [Int32Array, "i32"],
  [Uint32Array, "u32"],
  [BigInt64Array, "i64"],
];

export const nd = (data: Numbers, shape: number[] = [data.length]): Nd => ({ data, shape });

/** Bytes of a record; every { data, shape } in the state becomes a buffer. */
export function pack(kind: string, state: unknown): Uint8Array {
  const buffers: [number, number][] = [];
  const parts: Uint8Array[] = [];
  let at = 0;
  const walk = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(walk);
    if (typeof value === "number" && !Number.isFinite(value))
      return Number.isNaN(value) ? "nan" : value > 0 ? "inf" : "-inf";
    if (value === null || typeof value !== "object") return value;
    if ("data" in value && ArrayBuffer.isView((value as Nd).data)) {
      const { data, shape } = value as Nd;
      const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
      const space = new Uint8Array(Math.ceil(bytes.length / 8) * 8);
      space.set(bytes);
      const type = NAMES.find(([Kind]) => data instanceof Kind)?.[1];
      buffers.push([at, bytes.length]);
      parts.push(space);
      at += space.length;
      return { buffer: buffers.length - 1, type, shape };
    }
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, walk(inner)]));
  };
  const inner = walk(state);
  const json = new TextEncoder().encode(JSON.stringify({ kind, state: inner, buffers }));
  const start = Math.ceil((8 + json.length) / 8) * 8;
  const out = new Uint8Array(start + at);
  out.set([0x56, 0x54, 0x31, 0]);
  new DataView(out.buffer).setUint32(4, json.length, true);
  out.set(json, 8);
  let place = start;
  for (const part of parts) {
    out.set(part, place);
    place += part.length;
  }
  return out;
}

export function scale(over: Partial<Scale> = {}): Scale {
  return {
    id: "max",
    label: "to max |x|",
    map: "tide",
    centre: true,
    curve: "linear",
    lo: -2,
    hi: 2,
    linear: 0.1,
    beyond: 0,
    say: "diverging around 0 · linear · ends at ±max |x|",
    counts: nd(Uint32Array.from([1, 2, 3, 4])),
    under: 0,
    over: 0,
    edges: nd(Float64Array.from([-2, -1, 0, 1, 2])),
    ...over,
  };
}

export function layer(values: Layer["values"], over: Partial<Layer> = {}): Layer {
  const stats = { count: 6, min: -1, max: 2, mean: 0.5, std: 1, median: 0.25, zeros: 1, nan: 0, posinf: 0, neginf: 0, argmin: 0, argmax: 1, read: true };
  return {
    name: "value",
    values,
    ends: null,
    stats,
    scales: [scale(), scale({ id: "log", label: "symmetric log", curve: "log" })],
    scale: 0,
    ...over,
  };
}

export function item(shape: number[], over: Partial<Item> = {}): Item {
  const size = shape.reduce((n, k) => n * k, 1);
  const roles = (["across", "down", "rows", "cols"] as const).slice(-Math.min(4, shape.length));
  return {
    name: "w",
    index: "w",
    role: "",
    shape,
    dims: shape.map((_, axis) => `axis ${axis}`),
    dtype: "float32",
    device: "cpu",
    nbytes: size * 4,
    notes: [],
    block: shape.map(() => 1),
    grid: shape,
    pooled: "",
    roles: [...roles],
    image: null,
    layers: [
      layer({
        data: nd(
          Float32Array.from({ length: size }, (_, i) => i / 4),
          shape,
        ),
      }),
    ],
    bad: { nan: 0, posinf: 0, neginf: 0, at: nd(new Float64Array(0)), which: nd(new Uint8Array(0)) },
    ...over,
  };
}

export const state = (items: Item[], over: Partial<State> = {}): State => ({
  layout: "one",
  title: "",
  text: "",
  items,
  size: 640,
  says: [],
  ...over,
});

/** A stand-in for the model of a notebook, which counts who listens. */
export function fakeModel(payload: Uint8Array, live = false) {
  const handlers = new Map<string, Set<(...given: unknown[]) => void>>();
  return {
    get: (name: string): unknown => ({ payload, live })[name as "payload" | "live"],
    on(event: string, f: (...given: never[]) => void) {
      handlers.set(event, (handlers.get(event) ?? new Set()).add(f as () => void));
    },
    off(event: string, f: (...given: never[]) => void) {
      handlers.get(event)?.delete(f as () => void);
    },
    send: vi.fn(),
    fire(event: string, ...given: unknown[]) {
      for (const f of handlers.get(event) ?? []) f(...given);
    },
    listeners: () => [...handlers.values()].reduce((n, one) => n + one.size, 0),
  };
}
