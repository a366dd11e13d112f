// Fit: a graph too large to be read whole has its groups closed as far as it takes, with a kernel and without.

import { beforeEach, describe, expect, it, vi } from "vitest";
import { Board } from "../src/graph/board";
import { Folds } from "../src/graph/folds";
import { Kernel } from "../src/graph/kernel";
import { Graph } from "../src/graph/model";
import type { Layout, State } from "../src/graph/types";
import { fakeModel, nd, pack } from "./make";

const OPS = 5; // of each of four groups

/** A chain of four groups of five ops each, with some of them open. */
function layout(open: number[], wide = 100): Layout {
  const boxes: number[][] = [];
  for (let g = 0; g < 4; g++) {
    if (!open.includes(g)) boxes.push([1, g, 0, 60 * boxes.length, wide, 26]);
    else for (let i = 0; i < OPS; i++) boxes.push([0, OPS * g + i, 0, 60 * boxes.length, wide, 26]);
  }
  const none = nd(new Int32Array(0), [0, 5]);
  return {
    open: nd(Int32Array.from(open)),
    width: wide,
    height: 60 * boxes.length,
    boxes: nd(Int32Array.from(boxes.flat()), [boxes.length, 6]),
    pills: nd(new Int32Array(0), [0, 7]),
    frames: none,
    edges: none,
    norms: nd(new Float64Array(0)),
    points: nd(new Int32Array(0), [0, 2]),
  };
}

function state(layouts: Layout[], stages: number[], marked = -1): State {
  const count = 4 * OPS;
  const all = (of: (i: number) => number) => nd(Int32Array.from({ length: count }, (_, i) => of(i)));
  const same = all(() => 0);
  const names = ["op", "name", "label", "dtype", "device", "line", "says", "chip", "bold", "plain", "right", "layer", "kind", "shape", "saved", "shared", "formulas", "row"]; // prettier-ignore
  const nodes = {
    ...Object.fromEntries(names.map((name) => [name, same])),
    step: all((i) => i + 1),
    group: all((i) => Math.floor(i / OPS)),
    mark: all((i) => (i === marked ? 3 : 0)),
    grad: nd(new Float64Array(count).fill(NaN)),
    value: nd(new Float64Array(count).fill(NaN)),
  };
  const empty = nd(new Int32Array(0));
  const group = { kind: "", parent: -1, note: "", synthetic: false, ops: OPS, parameters: 0, saved: 0 };
  return {
    title: "t", source: "vistorch", meta: [], says: [], strings: [""], shapes: [[]], formulas: [[]], nodes,
    kept: { node: empty, name: empty, shape: empty, bytes: empty, alias: empty },
    edges: { source: empty, target: empty, input: empty, output: empty, shape: empty, norm: empty, value: empty, dead: empty },
    groups: [0, 1, 2, 3].map((g) => ({ ...group, name: `g${g}`, path: `g${g}` })),
    roots: [], scale: null, failed: -1, layouts, stages: nd(Int32Array.from(stages)),
  } as unknown as State; // prettier-ignore
}

function made(given: State, live = false) {
  const { signal } = new AbortController();
  const board = new Board(signal);
  Object.defineProperty(board.box, "clientWidth", { value: 600 });
  Object.defineProperty(board.box, "clientHeight", { value: 640 });
  const model = fakeModel(new Uint8Array(0), live);
  const say = vi.fn();
  const folds = new Folds(new Graph(given), board, new Kernel(model as never, signal), { choose: () => {}, toggle: (g) => folds.toggle(g) }, say, () => {});
  return { board, folds, model, say, open: () => [...folds.open].sort() };
}

const WHOLE = [0, 1, 2, 3];
// 20 boxes are 1,200 high, 12 are 720, which is just legible in 640, 4 are 240.
const ladder = (): State => state([layout(WHOLE), layout([]), layout([1, 2])], [1, 2, 0]);

beforeEach(() => {
  vi.stubGlobal("ResizeObserver", class { observe() {} disconnect() {} }); // prettier-ignore
});

describe("a graph at first", () => {
  it("shows the finest stage that can be read whole", () => {
    const { board, open } = made(ladder());
    board.sized();
    expect(open()).toEqual([1, 2]);
  });

  it("shows what was asked for, however large, and does not hide where a bad value came from", () => {
    const asked = made(state([layout(WHOLE), layout([]), layout([1, 2])], [1, 2]));
    asked.board.sized();
    expect(asked.open()).toEqual(WHOLE);
    const bad = made(state([layout(WHOLE), layout([]), layout([1, 2])], [1, 2, 0], 0));
    bad.board.sized();
    expect(bad.open()).toEqual(WHOLE);
  });

  it("stays as it is where all of it can be read", () => {
    const { board, open } = made(state([layout([1]), layout([])], [1, 0]));
    board.sized();
    expect(open()).toEqual([1]);
  });
});

describe("Fit", () => {
  it("closes what it must, and the second press shows all that was open, small", () => {
    const { board, open } = made(ladder());
    board.fits();
    expect(open()).toEqual([1, 2]);
    expect(board.zoom).toBeGreaterThanOrEqual(0.8);
    board.fits();
    expect(open()).toEqual(WHOLE);
    expect(board.zoom).toBeLessThan(0.6);
    board.fits();
    expect(open()).toEqual([1, 2]);
  });

  it("opens nothing: what a reader closed stays closed", () => {
    const { board, folds, open } = made(state([layout(WHOLE), layout([]), layout([1, 2]), layout([0, 2, 3]), layout([2])], [1, 2, 0]));
    folds.toggle(1);
    expect(open()).toEqual([0, 2, 3]);
    board.fits();
    expect(open()).toEqual([2]);
  });

  it("has the kernel lay out what did not come with the page", () => {
    const { board, folds, model, open } = made(state([layout(WHOLE), layout([]), layout([1, 2]), layout([0, 2, 3])], [1, 2, 0]), true);
    folds.toggle(1);
    board.fits();
    const asked = model.send.mock.calls[0]?.[0] as { id: number; open: number[] };
    expect(asked.open).toEqual([2]);
    model.fire("msg:custom", { type: "folded", id: asked.id }, [pack("layout", layout([2]))]);
    expect(open()).toEqual([2]);
  });

  it("says so where no fold helps", () => {
    const { board, say, open } = made(state([layout(WHOLE), layout([], 4000)], [1, 0]));
    board.fits();
    expect(open()).toEqual(WHOLE);
    expect(say).toHaveBeenCalledWith("No fold makes this graph legible as a whole: it is shown small.");
  });
});
