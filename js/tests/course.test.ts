import { describe, expect, it } from "vitest";
import { epochs } from "../src/watch/course";
import { reach } from "../src/watch/plot";
import { curve, head, run } from "./watching";

describe("epochs on the axis", () => {
  it("are as long as the loader, to the end of the axis", () => {
    expect(epochs(head({ epoch_steps: 4, begins: [] }), 8)).toEqual([
      { epoch: 1, from: 0, to: 4 },
      { epoch: 2, from: 4, to: 8 },
    ]);
  });

  it("stand where the loader began them, not where a rewind would have them", () => {
    const begins: [number, number, number][] = [
      [1, 0, 1],
      [3, 1, 0],
      [4, 6, 1],
    ];
    expect(epochs(head({ epoch_steps: 10, begins, tries: 2, step: 8 }), 26)).toEqual([
      { epoch: 1, from: 0, to: 1 },
      { epoch: 3, from: 1, to: 6 },
      { epoch: 4, from: 6, to: 16 },
      { epoch: 5, from: 16, to: 26 },
    ]);
    const cut = epochs(head({ epoch_steps: 10, begins: begins.slice(0, 2), tries: 2, step: 3 }), 26);
    expect(cut).toEqual([
      { epoch: 1, from: 0, to: 1 },
      { epoch: 3, from: 1, to: 3 },
    ]);
  });
});

describe("the axis", () => {
  it("holds what a rewind has undone", () => {
    const state = run({ head: head({ step: 5, steps: 1300 }) });
    state.loss.undone = [{ ...curve([1, 1, 1, 1]), from: 376 }];
    expect(reach(state, 0)).toBeGreaterThanOrEqual(379);
  });
});
