import { describe, expect, it } from "vitest";
import { MOST_MOVES, nextOrder } from "../src/watch/glide";

/** Numbers that look random and are the same each time. */
function numbers(seed: number): () => number {
  let x = seed;
  return () => {
    x = (Math.imul(x, 1664525) + 1013904223) >>> 0;
    return x / 2 ** 32;
  };
}

function shuffled(n: number, next: () => number, swaps = n): number[] {
  const out = Array.from({ length: n }, (_, i) => i);
  for (let k = 0; k < swaps; k++) {
    const [i, j] = [Math.floor(next() * n), Math.floor(next() * n)];
    [out[i], out[j]] = [out[j] as number, out[i] as number];
  }
  return out;
}

/** The places of the rows a part of the way from one order to the next, each gliding by a transform alone. */
const between = (from: number[], to: number[], part: number): number[] =>
  from.map((row, i) => i + (to.indexOf(row) - i) * part);

describe("rows that change places", () => {
  it("are never nearer than a row's height, but for the one row on its way over them", () => {
    const next = numbers(7);
    for (let trial = 0; trial < 400; trial++) {
      const n = 2 + Math.floor(next() * 12);
      let shown = shuffled(n, next);
      const wanted = shuffled(n, next, trial % 5);
      let steps = 0;
      for (; String(shown) !== String(wanted); steps++) {
        const { order, mover } = nextOrder(shown, wanted);
        expect([...order].sort((a, b) => a - b)).toEqual(Array.from({ length: n }, (_, i) => i));
        if (mover !== null) {
          for (const part of [0.1, 0.25, 0.5, 0.75, 0.9]) {
            const places = between(shown, order, part);
            const others = places.filter((_, i) => shown[i] !== mover).sort((a, b) => a - b);
            for (let i = 1; i < others.length; i++)
              expect((others[i] as number) - (others[i - 1] as number)).toBeGreaterThan(1 - 1e-9);
          }
        } else expect(order).toEqual(wanted);
        shown = order;
      }
      expect(steps).toBeLessThanOrEqual(MOST_MOVES);
    }
  });

  it("take the fewest moves, the worst class first", () => {
    expect(nextOrder([0, 1, 2, 3], [3, 0, 1, 2])).toEqual({ order: [3, 0, 1, 2], mover: 3 });
    expect(nextOrder([0, 1, 2, 3], [1, 2, 3, 0])).toEqual({ order: [1, 2, 3, 0], mover: 0 });
    expect(nextOrder([0, 1, 2, 3, 4], [4, 0, 3, 1, 2])).toEqual({ order: [4, 0, 1, 2, 3], mover: 4 });
  });

  it("take their places at once where many moved, or where there are others than before", () => {
    const back = [9, 8, 7, 6, 5, 4, 3, 2, 1, 0];
    expect(nextOrder([...back].reverse(), back)).toEqual({ order: back, mover: null });
    expect(nextOrder([0, 1], [2, 1, 0])).toEqual({ order: [2, 1, 0], mover: null });
    expect(nextOrder([0, 1], [1, 2])).toEqual({ order: [1, 2], mover: null });
  });
});
