import { describe, expect, it } from "vitest";
import { takenFor, worstFirst } from "../src/watch/classes";
import { rowsOf, worstCell } from "../src/watch/confusion";
import { band, range, smooth } from "../src/watch/curve";
import { planOf } from "../src/watch/filters";
import { columns, fits, log, merge, mistakes } from "../src/watch/merge";
import { clock, loss, one, power, rate, roundUp, short, ticks, whole } from "../src/watch/numbers";
import { pins, reach } from "../src/watch/plot";
import { tally } from "../src/watch/view";
import { counts, curve, delta, head, mistake, run } from "./watching";

const values = (c: { mean: { data: ArrayLike<number> } } | null): number[] => Array.from(c?.mean.data ?? []);

describe("a delta", () => {
  it("replaces columns from where it begins, row by row", () => {
    const old = curve([1, 2, 3, 10, 20, 30], 0, 1, 2);
    const next = columns(old, curve([7, 8, 70, 80], 2, 1, 2));
    expect(values(next)).toEqual([1, 2, 7, 8, 10, 20, 70, 80]);
    expect(next?.mean.shape).toEqual([2, 4]);
    expect(next?.bad.data).toBeInstanceOf(Uint8Array);
    expect(values(old)).toEqual([1, 2, 3, 10, 20, 30]); // the state before is left as it was
  });

  it("replaces all of the columns where their width has changed, or it begins at none", () => {
    const old = curve([1, 2, 3, 4]);
    expect(values(columns(old, curve([9], 1, 2)))).toEqual([9]);
    expect(values(columns(old, curve([9], 0, 1)))).toEqual([9]);
    expect(values(columns(null, curve([9], 0, 1)))).toEqual([9]);
    expect(columns(old, null)).toBeNull();
  });

  it("shortens a curve after a rewind", () => {
    expect(values(columns(curve([1, 2, 3, 4]), curve([5], 2)))).toEqual([1, 2, 5]);
  });

  it("leaves NaN where a column was missed", () => {
    expect(values(columns(curve([1]), curve([5], 3)))).toEqual([1, NaN, NaN, 5]);
  });

  it("adds samples, eight of a cell at most, the newest", () => {
    const old = { whole: true, after: 8, items: Array.from({ length: 8 }, (_, i) => mistake({ step: i })) };
    const fresh = [mistake({ step: 9 }), mistake({ step: 10, read: 2 })];
    const next = mistakes(old, { whole: false, after: 10, items: fresh });
    expect(next.items.map((m) => m.step)).toEqual([1, 2, 3, 4, 5, 6, 7, 9, 10]);
    expect(mistakes(next, { whole: false, after: 10, items: [mistake({ step: 9 })] }).items).toHaveLength(9);
    expect(mistakes(next, { whole: true, after: 0, items: [] }).items).toEqual([]);
  });

  it("adds lines of the log once", () => {
    const line = (number: number) => ({
      number,
      step: 1,
      what: "paused",
      from: null,
      to: null,
      effect: "",
      undone: false,
    });
    const old = { whole: true, items: [line(1), line(2)] };
    expect(log(old, { whole: false, items: [line(2), line(3)] }).items.map((one) => one.number)).toEqual([1, 2, 3]);
    expect(log(old, { whole: true, items: [line(7)] }).items.map((one) => one.number)).toEqual([7]);
  });

  it("replaces other sections and keeps those that it does not name", () => {
    const before = run();
    const next = merge(before, delta({ head: head({ step: 5 }), validation: [] }));
    expect([next.version, next.head.step]).toEqual([4, 5]);
    expect(next.loss).toBe(before.loss);
    expect(next).not.toHaveProperty("since");
    expect(before.head.step).toBe(4);
  });

  it("fits where it begins at or before what the page has", () => {
    expect(fits(run(), delta())).toBe(true);
    expect(fits(run(), delta({ since: 2 }))).toBe(true);
    expect(fits(run(), delta({ since: 0 }))).toBe(true);
    expect(fits(run(), delta({ since: 4, version: 5 }))).toBe(false);
    expect(merge(run(), delta({ since: 1, version: 2, head: head({ step: 1 }) })).head.step).toBe(4); // late: known already
    const again = merge(run(), delta({ since: 3, version: 3, head: head({ speed: 99 }), validation: [] }));
    expect([again.head.speed, again.version]).toEqual([99, 3]);
    expect(merge(run(), delta({ since: 0, version: 9, head: head({ step: 9 }) })).version).toBe(9);
  });
});

describe("the curve", () => {
  it("is smoothed by the mean of the newest steps that are known", () => {
    expect(Array.from(smooth(curve([NaN, 4, 2, NaN, 6]), 2))).toEqual([NaN, 4, 3, NaN, 6]);
    expect(Array.from(smooth(curve([1, 2, 3, 4]), 1))).toEqual([1, 2, 3, 4]);
    expect(Array.from(smooth(curve([2, 4, 6], 0, 10), 20))).toEqual([2, 3, 5]);
  });

  it("has a band that no peak falls out of", () => {
    const all = band(curve([NaN, 1, 9, 2, 3, -5, 4]), 3);
    expect(Math.max(...all.high)).toBe(9);
    expect(Math.min(...all.low)).toBe(-5);
    expect(all.at.length).toBe(3);
    expect(all.at.at(-1)).toBe(5.5); // columns of one step stand at their step
  });

  it("has an axis that cuts a lone peak and says so, and does not shrink at once", () => {
    const line = Float64Array.from([1, 1, 1]);
    const peak = { at: [0, 1], low: [0.9, 0.9], high: [1.1, 500] };
    expect(range(line, peak, false, null)).toEqual({ lo: 0, hi: 1.5, above: 500 });
    const low = { at: [0], low: [0.9], high: [1.1] };
    expect(range(line, low, false, { lo: 0, hi: 3, above: 0 }).hi).toBe(3);
    expect(range(line, low, false, { lo: 0, hi: 30, above: 0 }).hi).toBe(1.5);
    expect(range(line, { at: [0], low: [0.02], high: [30] }, true, null)).toEqual({ lo: 0.01, hi: 100, above: 0 });
    expect(range(new Float64Array(0), { at: [], low: [], high: [] }, false, null).hi).toBe(3);
  });

  it("reaches as far as the run will, or a round number that only grows", () => {
    expect(reach(run(), 0)).toBe(8);
    const at = (step: number, steps: number | null = null) => run({ head: head({ steps, step }) });
    expect(reach(at(100), 0)).toBe(150);
    expect(reach(at(120), 150)).toBe(150);
    expect(reach(at(149), 150)).toBe(300);
    expect(reach(at(60), 200)).toBe(200);
    expect(reach(at(21, 15_200), 0)).toBe(40); // a long run is seen from its first steps on
    expect(reach(at(5100, 15_200), 8000)).toBe(15_200);
    expect(reach(at(5, 900), 0)).toBe(900);
    expect(reach(run({ head: head({ steps: null, step: 77, status: "finished" }) }), 100)).toBe(77);
  });

  it("marks what changed its course", () => {
    const line = { number: 1, step: 212, from: 1e-3, to: 3e-4, effect: "", undone: true };
    const found = pins([
      { ...line, what: "learning rate 1e-3 → 3e-4" },
      {
        ...line,
        number: 2,
        step: 258,
        what: "rewound from step 258 to snapshot 200",
        from: 258,
        to: 200,
        undone: false,
      },
      { ...line, number: 3, what: "paused" },
      { ...line, number: 4, what: "rewind refused" },
    ]);
    expect(found.map((pin) => [pin.number, pin.at, pin.text, pin.undone])).toEqual([
      [1, 212, "lr 1e-3 → 3e-4", true],
      [2, 200, "rewind 258 → 200", false],
    ]);
  });
});

describe("classes", () => {
  it("come the worst first, and those that were not seen last", () => {
    expect(worstFirst([5, 1, 0, 9], [10, 10, 0, 10])).toEqual([1, 0, 3, 2]);
  });

  it("know what they are most often taken for", () => {
    const c = counts([
      [5, 2, 3],
      [0, 9, 0],
      [1, 1, 0],
    ]);
    expect(takenFor(3, c.pairs?.data ?? [], c.counts?.data ?? [])).toEqual([
      [2, 3],
      [-1, 0],
      [0, 1],
    ]);
  });

  it("are counted over a window, an epoch, a validation, against the one before", () => {
    const state = run();
    expect(tally(state, "window")?.accuracy).toBe(0.7);
    expect(tally(state, "window")?.since).toBe("end of epoch 1");
    expect(tally(state, "epoch")?.samples).toBe(5);
    expect(tally(state, "validation")).toBeNull();
  });

  it("keep the last epoch where a new one has not begun", () => {
    const state = run();
    state.accuracy.epoch = counts([
      [0, 0],
      [0, 0],
    ]);
    expect(tally(state, "epoch")?.samples).toBe(80);
  });

  it("have a row in the matrix if they are mistaken most often", () => {
    expect(rowsOf(3, [], [])).toEqual([0, 1, 2]);
    expect(rowsOf(5, [4, 1, 2, 2, 0, 1], [3, 9, 1], 2)).toEqual([1, 4]);
  });
});

describe("numbers", () => {
  it("call nearly all not all, and nearly nothing not nothing", () => {
    expect([0, 1 / 694, 0.5, 693 / 694, 1, null].map(whole)).toEqual(["0 %", "< 1 %", "50 %", "> 99 %", "100 %", "–"]);
    expect([0, 0.0004, 0.5, 0.9996, 1, null].map(one)).toEqual([
      "0.0 %",
      "< 0.1 %",
      "50.0 %",
      "> 99.9 %",
      "100.0 %",
      "–",
    ]);
  });

  it("are written as they are read", () => {
    expect([null, 2.305, 0.3264, 12.34, 345.6, 0.00042, "inf"].map(loss)).toEqual(
      ["–", "2.31", "0.326", "12.3", "346", "4.2e-4", "+inf"].map((text, i) => (i === 1 ? (2.305).toFixed(2) : text)),
    );
    expect([0.001, 3e-4, 0.1, 0.0125, null].map(rate)).toEqual(["1e-3", "3e-4", "0.1", "0.0125", "–"]);
    expect([0, 0.44, 1234, 7e-4, NaN].map(short)).toEqual(["0", "0.44", "1.2e3", "7e-4", "–"]);
    expect([0.00061, 1e-4].map((v) => power(v))).toEqual(["6.1e-4", "1e-4"]);
    expect([11.4, 65, 3700].map(clock)).toEqual(["11 s", "1 min 05 s", "1 h 01 min"]);
    expect([2.3, 0.7, 100, 0].map(roundUp)).toEqual([3, 0.8, 100, 1]);
    expect(ticks(0, 3, 6)).toEqual([0, 0.5, 1, 1.5, 2, 2.5, 3]);
  });

  it("place filters: pictures of three channels, else a column a filter", () => {
    expect(planOf([6, 3, 5, 5], 700)).toMatchObject({ rgb: true, across: 6, z: 14 });
    expect(planOf([16, 6, 5, 5], 700)).toMatchObject({ rgb: false, across: 16, z: 6 });
    expect(planOf([64, 16, 3, 3], 300).z).toBe(1);
  });
});

describe("the cell that is looked at by itself", () => {
  const view = (items = [mistake()], order = [0, 1]) =>
    ({ state: run({ mistakes: { whole: true, after: 1, items } }), of: "window", order }) as never;

  it("is of the worst class, whichever cells have samples", () => {
    expect(worstCell(view())).toEqual([0, 1]);
    expect(worstCell(view([mistake({ label: 1, read: 0 })]))).toEqual([0, 1]);
    expect(worstCell(view([], [1, 0]))).toEqual([1, 0]);
  });
});
