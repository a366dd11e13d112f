import { describe, expect, it } from "vitest";
import { NAN, NEGINF, POSINF } from "../src/shared/colour";
import { sentence } from "../src/shared/report";
import widget from "../src/compare/page";
import { cellOf, cells, code, elementOf, most, written } from "../src/compare/cells";
import { apart } from "../src/compare/show";
import type { Row, Value } from "../src/compare/types";
import { nd } from "./make";
import { compared, open } from "./report";

const pooled: Value = {
  shape: [2, 5, 7],
  dtype: "float32",
  norm: 1,
  min: 0,
  max: 1,
  mean: 0,
  nan: 0,
  posinf: 0,
  neginf: 0,
  zeros: 0,
  block: [1, 2, 3],
  grid: [2, 3, 3],
  exact: false,
  codes: nd(Uint8Array.from({ length: 18 }, (_, i) => [0, 1, 255, 254, 253][i % 5] as number), [2, 3, 3]),
  levels: nd(Float32Array.from([-1, 4])),
};

describe("cells", () => {
  it("are read from codes as well as from numbers", () => {
    const read = cells(pooled);
    expect(read).toMatchObject({ rows: 6, columns: 3 });
    expect([...(read?.values.slice(0, 5) ?? [])]).toEqual([-1, 4, NaN, Infinity, -Infinity]);
    expect(most(read)).toBe(4);
    const wide = { ...pooled, codes: nd(Uint16Array.from({ length: 18 }, () => 65535), [2, 3, 3]) };
    expect(Number.isNaN(cells(wide)?.values[0])).toBe(true);
    expect(cells({ ...pooled, codes: undefined } as never)).toBeNull();
    expect(cells({ ...pooled, grid: [0, 3] })).toBeNull();
  });

  it("know their elements, and elements their cells", () => {
    expect(cellOf([1, 4, 6], pooled)).toBe(17);
    expect(elementOf(17, pooled)).toEqual([1, 4, 6]);
    for (let cell = 0; cell < 18; cell++) expect(cellOf(elementOf(cell, pooled), pooled)).toBe(cell);
    expect(written(17, pooled)).toBe("[1, 4, 6]");
    expect(written(9, pooled)).toBe("[1, 0:2, 0:3]");
  });

  it("take their colour around 0, and what is not finite its own", () => {
    expect([code(0, 2), code(2, 2), code(-9, 2), code(5, 0)]).toEqual([126, 252, 0, 126]);
    expect([code(NaN, 1), code(Infinity, 1), code(-Infinity, 1)]).toEqual([NAN, POSINF, NEGINF]);
  });
});

describe("a sentence", () => {
  it("has whole words in bold, in their order, and no others", () => {
    const parts = sentence("The first t is in t, not the last.", ["t", "last"]);
    expect(parts.map((part) => (typeof part === "string" ? part : `*${part.textContent}*`)).join("")).toBe(
      "The first *t* is in t, not the *last*.",
    );
    expect(sentence("nothing here", ["absent", ""])).toEqual(["nothing here"]);
  });
});

describe("a comparison", () => {
  it("says the first difference and shows it exactly", () => {
    const { one, all, chosen } = open(widget, "compare", compared());
    expect(one(".vt-rp-verdict b").textContent).toBe("mul (number 2)");
    expect(one(".vt-meta").textContent).toContain("4 differ");
    expect(chosen()).toContain("mul");
    expect(one(".vt-cm-place").textContent).toBe("[1, 2], where it is largest");
    expect(all(".vt-cm-maps b").map((b) => b.textContent)).toEqual(["2", "−2.5", "−4.5"]);
    expect(one(".vt-rp-side").textContent).toContain("In [2], line 1: y = x * 2");
  });

  it("says the exact difference where a cell of the overview shows another element's", () => {
    const first = { ...compared().first, at: [1, 4, 6], a: pooled, b: pooled, difference: pooled } as never;
    const { all } = open(widget, "compare", compared({ first }));
    expect(all(".vt-cm-maps b").map((b) => b.textContent)).toEqual(["2", "−2.5", "−4.5"]);
  });

  it("tells each op's difference, its own or not, and what only one run has", () => {
    const { rows } = open(widget, "compare", compared());
    expect(rows()[1]).toContain("its own0.5000 in 2 of 6");
    expect(rows()[2]).toContain("only in before");
    expect(rows()[3]).toContain("inherited+inf in 2 of 6");
    expect(compared().rows.map(apart)).toEqual([true, true, true, true]);
    expect(apart({ ...(compared().rows[0] as Row), backward: null })).toBe(false);
  });

  it("moves one cursor over the three pictures, and back", () => {
    const { one, key, all } = open(widget, "compare", compared());
    const maps = one(".vt-cm-maps");
    key(maps, "ArrowLeft");
    expect(one(".vt-cm-place").textContent).toBe("[1, 1]");
    expect(all(".vt-cm-maps b").map((b) => b.textContent)).toEqual(["4", "4", "0"]);
    key(maps, "ArrowUp");
    key(maps, "ArrowUp");
    expect(one(".vt-cm-place").textContent).toBe("[0, 1]");
    key(maps, "Home");
    expect(one(".vt-cm-place").textContent).toBe("[1, 2], where it is largest");
  });

  it("shows an op that is chosen, and the pictures again with the first", () => {
    const { all, one } = open(widget, "compare", compared());
    all(".vt-rp-body .vt-rp-row")[3]?.click();
    expect(one(".vt-rp-side").textContent).toMatch(/sum.*largest difference \+inf.*fed what before gave it/);
    expect(all(".vt-cm-maps")).toHaveLength(0);
    all(".vt-rp-body .vt-rp-row")[1]?.click();
    expect(all(".vt-cm-maps")).toHaveLength(1);
  });

  it("tells of gradients", () => {
    const { all } = open(widget, "compare", compared());
    expect(all(".vt-rp-ends > *").map((li) => li.textContent)).toEqual(["w.grad 0.5000 in 2 of 6", "v.grad only in before"]);
  });

  it("is one line where the runs agree", () => {
    const rows = compared().rows.slice(0, 1).map((row) => ({ ...row, backward: null }));
    const none = { first: null, leaves: [], sentence: "The runs agree.", differing: 0 };
    const { one } = open(widget, "compare", compared({ ...none, rows }));
    expect(one(".vt-rp-verdict").className).toContain("vt-rp-good");
    expect(one(".vt-rp-main").hidden).toBe(true);
  });

  it("counts what is not listed", () => {
    const { one } = open(widget, "compare", compared({ ops: 5004, differing: 17 }));
    expect(one(".vt-meta").textContent).toBe("5,004 ops17 differtolerance by type");
    expect(one(".vt-rp-main").textContent).toContain("5,000 more ops are not listed");
  });

  it("survives what has no values: a difference of shapes", () => {
    const first = { ...compared().first, difference: null, a: null, b: null, at: [], values: [], apart: "" } as never;
    const { one, all } = open(widget, "compare", compared({ first }));
    expect(one(".vt-rp-side").textContent).toContain("mul");
    expect(all(".vt-cm-maps")).toHaveLength(0);
  });

  it("keeps markup text", () => {
    const evil = "<img src=x onerror=alert(1)>";
    const rows = compared().rows.map((row) => ({ ...row, op: evil, module: evil, line: evil }));
    const leaves = [{ name: evil, only: "b" as const }];
    const { el } = open(widget, "compare", compared({ title: evil, sentence: evil, rows, leaves }));
    expect(el.querySelector("img")).toBeNull();
    expect((el.textContent ?? "").split(evil).length).toBeGreaterThan(8);
  });
});
