// A run for the tests: two classes, four steps, one of everything, and deltas as Python makes them.

import type { Delta } from "../src/watch/merge";
import type { Columns, Counts, Head, Mistake, State } from "../src/watch/types";
import { nd } from "./make";

export const WORDS = ["pause", "step", "resume", "stop", "lr", "snapshot", "rewind", "filters", "stepper", "autopause", "trace", "into", "meant"];

export function curve(values: number[], from = 0, width = 1, rows = 1): Columns {
  const shape = [rows, values.length / rows];
  const one = () => nd(Float32Array.from(values), shape);
  return { width, from, low: one(), high: one(), mean: one(), bad: nd(new Uint8Array(values.length), shape) };
}

/** Counts from a confusion matrix. */
export function counts(matrix: number[][], over: Partial<Counts> = {}): Counts {
  const [pairs, n]: [number[], number[]] = [[], []];
  matrix.forEach((row, i) =>
    row.forEach((k, j) => {
      if (!k) return;
      pairs.push(i, j);
      n.push(k);
    }),
  );
  return {
    right: nd(Uint32Array.from(matrix.map((row, i) => row[i] as number))),
    seen: nd(Uint32Array.from(matrix.map((row) => row.reduce((a, b) => a + b, 0)))),
    pairs: nd(Uint16Array.from(pairs), [n.length, 2]),
    counts: nd(Uint32Array.from(n)),
    ...over,
  };
}

export const mistake = (over: Partial<Mistake> = {}): Mistake => ({
  label: 0,
  read: 1,
  step: 3,
  index: 17,
  where: "training",
  top: [
    [1, 0.7],
    [0, 0.3],
  ],
  image: nd(Uint8Array.from([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]), [2, 2, 3]),
  ...over,
});

export const head = (over: Partial<Head> = {}): Head => ({
  status: "running",
  say: "",
  error: null,
  step: 4,
  steps: 8,
  epoch: 1,
  epochs: 2,
  epoch_steps: 4,
  batch: 2,
  speed: 12.5,
  left: 0.32,
  seconds: 0.3,
  overhead: 0.018,
  cost: { refresh: 1.5 },
  device: "cpu",
  memory: [2 ** 20, 2 ** 30],
  parameters: 62006,
  loss: 0.326,
  accuracy: 0.75,
  lr: [0.001],
  why: { ...Object.fromEntries(WORDS.map((word) => [word, ""])), step: "Only when paused.", resume: "It is running." },
  says: [],
  alarm: null,
  autopause: null,
  tries: 1,
  begins: [],
  ...over,
});

export const run = (over: Partial<State> = {}): State => ({
  version: 3,
  title: "",
  head: head(),
  classes: ["cat", "dog"],
  several: false,
  loss: { curve: curve([NaN, 2, 1.5, 1, 0.5]), lr: curve([NaN, 1e-3, 1e-3, 1e-3, 1e-3]), undone: [] },
  validation: [],
  accuracy: {
    window: counts(
      [
        [20, 20],
        [4, 36],
      ],
      { size: 1024 },
    ),
    epoch: counts([
      [1, 1],
      [0, 3],
    ]),
    validation: null,
    before: null,
    without: 0,
    without_from: 0,
    epochs: [{ epoch: 1, step: 2, right: nd(Uint32Array.from([10, 20])), seen: nd(Uint32Array.from([40, 40])) }],
  },
  mistakes: { whole: true, after: 1, items: [mistake()] },
  flow: {
    names: ["conv.weight", "fc.bias"],
    shapes: [[2, 3, 3, 3], [2]],
    columns: curve([NaN, 1, 1, 1, 1, NaN, 0, 0, 0, 0], 0, 1, 2),
    now: nd(Float64Array.from([0.44, 0])),
    there: nd(Uint8Array.from([1, 1])),
    bounds: [1e-7, 1e3],
  },
  health: {
    band: [1e-4, 1e-2],
    window: 1024,
    flag: 0.25,
    layers: [
      {
        name: "conv",
        parameters: 56,
        ratio: 1e-3,
        mean: 1.1e-3,
        low: 5e-4,
        high: 2e-3,
        kind: "rectifier",
        units: nd(Uint8Array.from([0, 7])),
        dead: nd(Uint8Array.from([1, 0])),
        saturated: nd(Uint8Array.from([0, 0])),
        seen: 1024,
        state: "dead units",
        cure: "Lower the learning rate.",
      },
      {
        name: "fc",
        parameters: 6,
        ratio: null,
        mean: null,
        low: null,
        high: null,
        kind: "",
        units: null,
        dead: null,
        saturated: null,
        seen: 0,
        state: "in range",
        cure: "",
      },
    ],
  },
  filters: {
    choices: [{ name: "conv.weight", shape: [2, 3, 3, 3] }],
    chosen: "conv.weight",
    step: null,
    weight: null,
    gradient: null,
  },
  log: { whole: true, items: [] },
  snapshots: { steps: [1, 3], bytes: 4096, budget: 1 << 28 },
  ...over,
});

export const delta = (over: Partial<Delta> = {}): Delta => ({ version: 4, since: 3, ...over });
