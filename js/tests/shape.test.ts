import { describe, expect, it } from "vitest";
import widget from "../src/shape/page";
import type { State } from "../src/shape/types";
import { open } from "./report";

const state = (over: Partial<State> = {}): State => ({
  title: "shape error",
  report: "shape error: a has 4 columns",
  sentence: "a has 4 columns, b has 5 rows: they must be equal.",
  error: "RuntimeError: mat1 and mat2 shapes cannot be multiplied (3x4 and 5x6)",
  place: "cell [7], line 3",
  module: "net[1] Linear 84 → 10",
  op: "@",
  source: [
    [2, "a = 1", ""],
    [3, "a @ b", "hit"],
  ],
  operands: [
    { name: "a", shape: "3 × 4", note: "", bad: true },
    { name: "b", shape: "5 × 6", note: "int64", bad: true },
  ],
  drawing: {
    width: 200,
    height: 100,
    parts: [
      ["box", 10, 20, 30, 40, "value"],
      ["line", 10, 60, 40, 60, "bad"],
      ["text", 25, 75, "4", "bad", "middle"],
    ],
  },
  ...over,
});

describe("a shape error", () => {
  it("says what does not fit, where, and in the exception's own words", () => {
    const { one, all } = open(widget, "shape", state());
    expect(one(".vt-rp-verdict").textContent).toBe(state().sentence);
    expect(all(".vt-rp-verdict b").map((b) => b.textContent)).toEqual(["a", "b"]);
    expect(one(".vt-meta").textContent).toContain("net[1] Linear 84 → 10");
    expect(all(".vt-sh-hit span").map((line) => line.textContent)).toEqual(["a @ b"]);
    expect(one(".vt-sh-foot").textContent).toBe(state().error);
  });

  it("draws the parts where the record has them, and says them to who cannot see", () => {
    const { one, all } = open(widget, "shape", state());
    const svg = one(".vt-sh-picture svg");
    expect(svg.getAttribute("aria-label")).toBe(`a: 3 × 4; @ b: 5 × 6 int64. ${state().sentence}`);
    const box = one(".vt-sh-value");
    expect(["x", "y", "width", "height"].map((name) => box.getAttribute(name))).toEqual(["10", "20", "30", "40"]);
    expect(one(".vt-sh-line-bad").getAttribute("d")).toBe("M10 60L40 60");
    expect(all(".vt-sh-text-bad").map((text) => text.textContent)).toEqual(["4"]);
  });

  it("takes names as text", () => {
    const evil = "<img src=x onerror=alert(1)>";
    const named = state({
      sentence: `${evil} has 4`,
      error: evil,
      source: [[1, evil, "hit"]],
      operands: [{ name: evil, shape: "3", note: "", bad: true }],
      drawing: { width: 10, height: 10, parts: [["text", 1, 1, evil, "name", "middle"]] },
    });
    const { one, all } = open(widget, "shape", named);
    expect(all("img")).toEqual([]);
    expect(one(".vt-sh-text").textContent).toBe(evil);
  });

  it("leaves out the lines where none are known", () => {
    const { all } = open(widget, "shape", state({ source: [] }));
    expect(all(".vt-sh-source")).toEqual([]);
  });
});
