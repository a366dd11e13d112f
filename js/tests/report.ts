// Records of findings for the tests, as small as they can be, and a page that shows one.

import { vi } from "vitest";
import type { Side, State as Compared } from "../src/compare/types";
import type { State as Kept } from "../src/memory/types";
import type { Origin, Mark, State as Traced, Table } from "../src/trace/types";
import { fakeModel, nd, pack } from "./make";

export const mark = (state: Mark["state"], text = ""): Mark => ({
  state,
  nan: 0,
  posinf: 0,
  neginf: 0,
  beyond: 0,
  size: 6,
  text,
});

export const table = (name: string, values: number[], shape: number[], over: Partial<Table> = {}): Table => ({
  name,
  shape,
  dtype: "float32",
  lead: [],
  start: [0, 0],
  values: nd(Float64Array.from(values), [values.length / (shape.at(-1) as number), shape.at(-1) as number]),
  bad: nd(
    Uint8Array.from(values, (v) => (Number.isFinite(v) ? 0 : 1)),
    [values.length / (shape.at(-1) as number), shape.at(-1) as number],
  ),
  whole: true,
  ...over,
});

export const origin = (over: Partial<Origin> = {}): Origin => ({
  row: 1,
  pass: "forward",
  op: "log",
  where: "cell [8], line 2",
  cure: "take the log of `p.clamp_min(1e-12)`",
  how: "log of p[1, 0] = 0 gives -inf",
  at: nd(Int32Array.from([1, 0, 1, 2]), [2, 2]),
  which: nd(Uint8Array.from([2, 2])),
  count: 2,
  size: 6,
  inputs: [table("p", [0.6652, 0.2447, 0.09, 0, 1, 0], [2, 3])],
  outputs: [table("log", [-0.4, -1.4, -2.4, -Infinity, 0, -Infinity], [2, 3])],
  ...over,
});

export const trace = (over: Partial<Traced> = {}): Traced => ({
  title: "first bad value",
  library: "vistorch",
  report: "the report",
  course: "",
  sentence: "The first bad value comes from cell [8], line 2: log of p[1, 0] = 0 gives -inf, in 2 of 6 values.",
  more: "Line 3 heals the forward pass.",
  cure: "take the log of `p.clamp_min(1e-12)`",
  forward: 3,
  backward: 3,
  bound: null,
  error: null,
  says: [],
  graph: null,
  source: {
    where: "In [8]",
    lines: [
      { number: 1, text: "p = logits.softmax(-1)", marks: [] },
      { number: 2, text: "h = -p * p.log()", marks: [["starts here", "origin"]] },
      { number: 3, text: "h = torch.where(p > 0, h, 0)", marks: [["healed forward only", "healed"]] },
    ],
  },
  rows: [
    { id: 0, line: 1, where: "cell [8], line 1", op: "softmax", code: "logits.softmax(-1)", module: "", layer: "" },
    { id: 1, line: 2, where: "cell [8], line 2", op: "log", code: "p.log()", module: "", layer: "" },
    { id: 2, line: 3, where: "cell [8], line 3", op: "where", code: "torch.where(p > 0, h, 0)", module: "[0].act", layer: "ReLU" },
  ].map((row, i) => ({
    ...row,
    forward: [mark("clean"), mark("origin", "2 of 6 -inf"), mark("healed", "0 of 6")][i] as Mark,
    backward: [mark("propagated", "3 of 6 nan"), mark("origin", "0 / 0 = nan"), null][i] as Mark | null,
  })),
  first: origin(),
  origins: [origin({ pass: "backward", how: "0 / 0 = nan" }), origin({ row: 2, op: "where", where: "cell [8], line 3" })],
  leaves: [{ name: "logits", nan: 3, posinf: 0, neginf: 0, beyond: 0, size: 6 }],
  ...over,
});

export const side = (state: Side["state"], largest: Side["largest"] = 0.5): Side => ({
  state,
  differs: state !== "same",
  largest,
  relative: 0.1,
  beyond: state === "same" ? 0 : 2,
  size: 6,
  at: [1, 2],
  shapes: "",
  own: state === "own" ? largest : 0,
});

const value = (data: number[], shape: number[]) => ({
  shape,
  dtype: "float32",
  norm: 1,
  min: 0,
  max: 1,
  mean: 0,
  nan: 0,
  posinf: 0,
  neginf: 0,
  zeros: 0,
  block: shape.map(() => 1),
  grid: shape,
  exact: true,
  data: nd(Float32Array.from(data), shape),
});

const mul = { forward: side("own"), backward: null };

export const compared = (over: Partial<Compared> = {}): Compared => ({
  title: "before against after",
  libraries: ["vistorch"],
  report: "the report",
  a: "before",
  b: "after",
  names: ["before", "after"],
  rtol: null,
  atol: null,
  sentence: "The first difference is in mul (number 2): at [1, 2] it gives 2 and 2.5.",
  ops: 4,
  differing: 4,
  rows: [
    { id: 0, a: 0, b: 0, op: "t", module: "[0]", layer: "Linear 2 → 2", line: "", forward: side("same"), backward: side("inherited") },
    { id: 1, a: 1, b: 1, op: "mul", module: "[0]", layer: "Linear 2 → 2", line: "In [2], line 1: y = x * 2", ...mul },
    { id: 2, a: 2, b: null, op: "relu", module: "act", layer: "ReLU", line: "", forward: null, backward: null },
    { id: 3, a: 3, b: 2, op: "sum", module: "", layer: "", line: "", forward: side("inherited", "inf"), backward: side("same") },
  ],
  first: {
    row: 1,
    pass: "forward",
    output: 0,
    at: [1, 2],
    values: ["2", "-2.5"],
    apart: "-4.5",
    a: value([0, 1, 2, 3, 4, 2], [2, 3]),
    b: value([0, 1, 2, 3, 4, -2.5], [2, 3]),
    difference: value([0, 0, 0, 0, 0, -4.5], [2, 3]),
  },
  leaves: [
    { name: "w", ...side("differs"), only: "" },
    { name: "v", only: "a" },
  ],
  ...over,
});

export const kept = (over: Partial<Kept> = {}): Kept => ({
  title: "memory",
  report: "the report",
  peak: { tick: 2, bytes: 12_000, what: "SinBackward0", where: "In [2], line 3: z = y.sin()" },
  ticks: nd(Int32Array.from([0, 1, 2, 3, 4])),
  bytes: nd(Float64Array.from([0, 4000, 12_000, 4000, 0])),
  devices: {},
  backward: [[3, 4]],
  leaves: 400,
  opaque: 0,
  says: [],
  nodes: 3,
  graph: null,
  source: "vistorch",
  alive: nd(Int32Array.from([0, 1, 3, 2, 1])),
  rows: [
    ["SinBackward0", 8000, 0, 2, 3],
    ["ExpBackward0", 4000, 0, 1, 4],
    ["MulBackward0", 0, 4000, 2, null],
  ].map(([name, bytes, shared, made, freed], id) => ({
    id,
    name: name as string,
    where: "In [2], line 3",
    module: "",
    layer: "",
    device: "cpu",
    bytes: bytes as number,
    shared: shared as number,
    shapes: [[1000], []],
    made: made as number,
    freed: freed as number | null,
    at_peak: true,
  })),
  ...over,
});

interface Widget {
  render(stage: { model: ReturnType<typeof fakeModel>; el: HTMLElement; signal: AbortSignal }): void;
}

/** A page in the document, and hands for it. */
export function open(widget: unknown, kind: string, state: unknown) {
  HTMLCanvasElement.prototype.getContext = (() => null) as never;
  const write = vi.fn().mockResolvedValue(undefined);
  vi.stubGlobal("navigator", { clipboard: { writeText: write } });
  const model = fakeModel(pack(kind, state));
  const ended = new AbortController();
  const el = document.createElement("div");
  document.body.replaceChildren(el);
  (widget as Widget).render({ model, el, signal: ended.signal });
  const all = (what: string): HTMLElement[] => [...el.querySelectorAll<HTMLElement>(what)];
  const one = (what: string): HTMLElement => {
    const found = el.querySelector<HTMLElement>(what);
    if (!found) throw new Error(`nothing is ${what}`);
    return found;
  };
  const key = (target: HTMLElement, name: string): void => {
    target.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true, cancelable: true }));
  };
  const press = (text: string): void => {
    const found = all("button").find((button) => button.textContent === text);
    if (!found) throw new Error(`no button says ${text}`);
    found.click();
  };
  const rows = (): string[] => all(".vt-rp-body > .vt-rp-row").map((row) => row.textContent ?? "");
  const chosen = (): string => one('.vt-rp-row[aria-selected="true"]').textContent ?? "";
  return { el, model, ended, all, one, key, press, rows, chosen, write };
}
