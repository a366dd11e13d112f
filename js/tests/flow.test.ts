import { describe, expect, it } from "vitest";
import widget from "../src/flow/page";
import { decades, ordered, place } from "../src/flow/order";
import type { Row, State } from "../src/flow/types";
import { open } from "./report";

const row = (name: string, norm: Row["norm"], over: Partial<Row> = {}): Row => ({
  name,
  layer: name.replace(/\.\w+$/, ""),
  shape: [2, 3],
  count: 6,
  norm,
  mean: 0.1,
  max: 0.2,
  zeros: 0.5,
  bad: 0,
  weight: 2,
  relative: 0.25,
  state: "in range",
  cure: "",
  ...over,
});
const absent = { mean: null, max: null, zeros: null, weight: null, relative: null, state: "no gradient" };

const state = (rows: Row[]): State => ({
  title: "Gradient flow of Net",
  report: "the report",
  verdict: "Gradient vanishes in 1 of 5.",
  scale: [-9, 0],
  bounds: [1e-6, "inf"],
  rows,
  says: ["1 parameter without a gradient."],
});
const ROWS = [
  row("a.weight", 0.5),
  row("a.bias", 1e-8, { state: "gradient vanishes", cure: "Use ReLU." }),
  row("b.weight", 0, { state: "exactly zero", max: 0, zeros: 1 }),
  row("b.bias", "nan", { state: "not finite", cure: "Rewind.", bad: 3 }),
  row("<i>", null, absent),
];

describe("the scale", () => {
  it("is logarithmic, and has no place for zero and what is not finite", () => {
    expect(place(1e-9, [-9, 0])).toBe(0);
    expect(place(1, [-9, 0])).toBe(1);
    expect(place(1e-3, [-6, 0])).toBeCloseTo(0.5);
    expect([0, "nan", "inf", null].map((v) => place(v, [-9, 0]))).toEqual([null, null, null, null]);
  });

  it("names at most seven decades", () => {
    expect(decades([-3, 0])).toEqual([-3, -2, -1, 0]);
    expect(decades([-12, 1]).length).toBeLessThanOrEqual(7);
  });

  it("orders rows: not finite is largest, no gradient last", () => {
    expect(ordered(ROWS, "model")).toEqual([0, 1, 2, 3, 4]);
    expect(ordered(ROWS, "small")).toEqual([2, 1, 0, 3, 4]);
    expect(ordered(ROWS, "large")).toEqual([3, 0, 1, 2, 4]);
  });
});

describe("gradient flow", () => {
  it("says what is wrong, each cure once, and begins at the first row to look at", () => {
    const { one, all, rows } = open(widget, "flow", state(ROWS));
    expect(one(".vt-rp-verdict").textContent).toContain("Gradient vanishes in 1 of 5.");
    expect(all(".vt-rp-more").map((line) => line.textContent)).toEqual([
      "Gradient vanishes: Use ReLU.",
      "Not finite: Rewind.",
      "1 parameter without a gradient.",
    ]);
    expect(rows()[1]).toContain("1.00e−8");
    expect(one(".vt-fl-detail").textContent).toContain("a.bias 2 × 3 · gradient: norm 1.00e−8");
  });

  it("draws a bar where there is a place for one, and words where there is none", () => {
    const { all } = open(widget, "flow", state(ROWS));
    const bars = all(".vt-fl-space").map((space) => space.querySelector<HTMLElement>(".vt-fl-bar")?.style.width ?? "");
    expect(bars.map((width) => width !== "")).toEqual([true, true, false, false, false]);
    expect(all(".vt-fl-none").map((text) => text.textContent)).toEqual(["exactly zero", "3 not finite", "no gradient"]);
  });

  it("shows names as text, orders by a button, and tells of the row that is chosen", () => {
    const { one, all, press, rows } = open(widget, "flow", state(ROWS));
    expect(rows()[4]).toContain("<i>");
    press("largest first");
    expect(rows()[0]).toContain("b.bias");
    all(".vt-rp-body .vt-rp-row")[4]?.click();
    expect(one(".vt-fl-detail").textContent).toBe("<i> 2 × 3 · no gradient");
  });
});
