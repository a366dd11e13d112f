import { describe, expect, it } from "vitest";
import widget from "../src/trace/page";
import { causes, indices, lineOf, matching, listed } from "../src/trace/places";
import type { Row, Source } from "../src/trace/types";
import { nd } from "./make";
import { origin, mark, open, table, trace } from "./report";

describe("places", () => {
  it("follow broadcasting back to an input", () => {
    expect(matching([3, 1, 2], [4, 2, 3], [2, 1])).toEqual([1, 0]);
    expect(matching([3, 1, 2], [4, 2, 3], [4, 2, 3])).toEqual([3, 1, 2]);
    expect(matching([1, 2], [2, 3], [])).toEqual([]);
    expect(matching([1, 2], [2, 3], [2, 4])).toBeNull();
    expect(matching([1], [3], [2, 3])).toBeNull();
  });

  it("mark the cells that bad values came from, where one entry explains another", () => {
    const one = origin();
    expect([...causes(one, one.inputs[0] as never)]).toEqual(["1,0", "1,2"]);
    const part = table("p", [0, 1, 0], [2, 3], { start: [1, 0] });
    expect([...causes(one, part)]).toEqual(["0,0", "0,2"]);
    const product = origin({ inputs: [table("x", [1, 1, 1], [1, 3]), table("w", [1, 1], [5, 2])] });
    expect(causes(product, product.inputs[0] as never).size).toBe(0);
    const deep = origin({
      at: nd(Int32Array.from([4, 1, 0]), [1, 3]),
      outputs: [table("o", [1, 1], [5, 2, 1])],
      inputs: [table("i", [1, 1], [5, 2, 1], { lead: [3] })],
    });
    expect(causes(deep, deep.inputs[0] as never).size).toBe(0);
  });

  it("are written as a sentence has them", () => {
    expect(listed(indices(nd(Int32Array.from([1, 0, 1, 2]), [2, 2])), 2)).toBe("[1, 0] and [1, 2]");
    expect(listed([[1], [2]], 40)).toBe("[1], [2] and 38 more");
    expect(listed([], 0)).toBe("");
  });

  it("find the line of a row in the source that is shown, and in no other", () => {
    const source: Source = { where: "In [8]", lines: [] };
    const row = { line: 2, where: "cell [8], line 2" } as Row;
    expect(lineOf(row, source)).toBe(2);
    expect(lineOf({ ...row, where: "net.py, line 2" }, source)).toBeNull();
    expect(lineOf({ ...row, where: "net.py, line 2" }, { where: "net.py", lines: [] })).toBe(2);
  });
});

describe("a trace", () => {
  it("says where it came from, and marks the line and what it came from", () => {
    const { one, all, chosen } = open(widget, "trace", trace());
    expect(one(".vt-rp-verdict").textContent).toBe(trace().sentence.replace("-inf", "−inf"));
    expect(all(".vt-rp-verdict b").map((b) => b.textContent)).toEqual(["cell [8], line 2", "log"]);
    expect(one(".vt-tr-start").textContent).toBe("2h = -p * p.log()starts here");
    expect(chosen()).toContain("log");
    expect(all(".vt-tr-cause").map((cell) => cell.textContent)).toEqual(["0", "0"]);
    expect(all(".vt-tr-bad").map((cell) => cell.textContent)).toEqual(["−inf", "−inf"]);
    expect(all(".vt-tr-bad .vt-rp-neginf")).toHaveLength(2);
    expect(one(".vt-rp-side").textContent).toContain("at [1, 0] and [1, 2]");
    expect(one(".vt-rp-ends").textContent).toBe("logits.grad 3 of 6 NaN");
  });

  it("shows what can be typed as code", () => {
    const { all } = open(widget, "trace", { ...trace(), more: "", says: ["type `%vt break bad` and <b>go</b>"] });
    expect(all(".vt-rp-more").map((line) => line.textContent)).toEqual(["type %vt break bad and <b>go</b>"]);
    expect(all(".vt-rp-more .vt-tr-code").map((code) => code.textContent)).toEqual(["%vt break bad"]);
  });

  it("gives each mark a sign and a word", () => {
    const { all } = open(widget, "trace", trace());
    const cells = all(".vt-rp-body .vt-rp-row").map((row) => [...row.children].slice(2).map((c) => c.textContent));
    expect(cells).toEqual([
      ["clean", "propagated3 of 6 nan"],
      ["origin2 of 6 −inf", "origin0 / 0 = nan"],
      ["healed0 of 6", "–"],
    ]);
    expect(all(".vt-rp-body .vt-rp-sign.vt-rp-origin")).toHaveLength(2);
    expect(all(".vt-rp-body .vt-rp-sign.vt-rp-healed")).toHaveLength(1);
  });

  it("walks the ops by keys, and the line follows", () => {
    const { all, key, one, chosen } = open(widget, "trace", trace());
    const rows = all(".vt-rp-body .vt-rp-row");
    key(rows[1] as HTMLElement, "ArrowDown");
    expect(document.activeElement).toBe(rows[2]);
    expect(one(".vt-tr-here").textContent).toContain("torch.where");
    expect(one(".vt-rp-side").textContent).toContain("origin 3 of 3");
    key(rows[2] as HTMLElement, "Home");
    expect(chosen()).toContain("softmax");
    expect(one(".vt-tr-here").textContent).toContain("p = logits");
    expect(rows.map((row) => row.tabIndex)).toEqual([0, -1, -1]);
    rows[1]?.click();
    expect(rows.map((row) => row.tabIndex)).toEqual([-1, 0, -1]);
    expect(one(".vt-rp-side").textContent).toContain("origin 1 of 3");
  });

  it("walks the origins by brackets and buttons", () => {
    const { one, key, chosen, all } = open(widget, "trace", trace());
    key(one(".vt-rp"), "]");
    expect(one(".vt-rp-side").textContent).toMatch(/origin 2 of 3.*backward.*0 \/ 0 = nan/);
    const next = all(".vt-tr-turn button").at(-1) as HTMLElement;
    next.focus();
    next.click();
    expect(chosen()).toContain("where");
    expect(document.activeElement?.getAttribute("aria-label")).toBe("next origin");
    key(one(".vt-rp"), "[");
    expect(one(".vt-rp-side").textContent).toContain("origin 2 of 3");
  });

  it("copies the report by its button and by c, and offers the text where it may not", async () => {
    const { press, key, one, write } = open(widget, "trace", trace());
    press("Copy as text");
    key(one(".vt-rp"), "c");
    await new Promise((done) => setTimeout(done));
    expect(write.mock.calls).toEqual([["the report"], ["the report"]]);
    expect(one(".vt-rp-status").textContent).toBe("copied");
    write.mockRejectedValue(new Error("refused"));
    press("Copy as text");
    await new Promise((done) => setTimeout(done));
    expect(one(".vt-rp-take").hidden).toBe(false);
    expect((one(".vt-rp-take") as HTMLTextAreaElement).value).toBe("the report");
  });

  it("is quiet where nothing is wrong", () => {
    const rows = trace().rows.map((row) => ({ ...row, forward: mark("clean"), backward: null }));
    const none = { first: null, origins: [], leaves: [], more: "", rows, sentence: "There is no bad value." };
    const { one, press, all } = open(widget, "trace", trace(none));
    expect(one(".vt-rp-verdict").classList.contains("vt-rp-good")).toBe(true);
    expect((one(".vt-rp-list").closest("[hidden]") as HTMLElement | null)?.hidden).toBe(true);
    press("Show the ops");
    expect(one(".vt-rp-list").closest("[hidden]")).toBeNull();
    expect(all(".vt-rp-side")).toHaveLength(0);
  });

  it("shows only what is bad of many ops, and all again", () => {
    const many = Array.from({ length: 50 }, (_, id) => ({
      ...(trace().rows[0] as Row),
      id,
      backward: id === 7 ? mark("origin") : mark("clean"),
    }));
    const { rows, press } = open(widget, "trace", trace({ rows: many, first: origin({ row: 7 }), origins: [] }));
    expect(rows()).toHaveLength(1);
    press("Only what is bad");
    expect(rows()).toHaveLength(50);
  });

  it("tells of the exception that ended the cell", () => {
    const { one } = open(widget, "trace", trace({ error: "ZeroDivisionError: division by zero" }));
    expect(one(".vt-tr-error").textContent).toBe(" The cell ended with ZeroDivisionError: division by zero");
    const rows = trace().rows.map((row) => ({ ...row, forward: mark("clean"), backward: null }));
    const lines: Source["lines"] = [{ number: 1, text: "1 / 0", marks: [["ended here", "failed"]] }];
    const none = { first: null, origins: [], leaves: [], rows, source: { where: "In [8]", lines } };
    const clean = open(widget, "trace", trace({ ...none, error: "ZeroDivisionError: division by zero" }));
    expect(clean.one(".vt-tr-src").textContent).toBe("11 / 0ended here");
    expect(clean.one(".vt-tr-src").closest("[hidden]")).toBeNull();
  });

  it("keeps markup text, everywhere", () => {
    const evil = "<img src=x onerror=alert(1)>";
    const inputs = [table(evil, [1], [1], { dtype: evil })];
    const one = origin({ op: evil, where: evil, how: evil, cure: evil, inputs });
    const { el } = open(
      widget,
      "trace",
      trace({
        title: evil,
        sentence: evil,
        more: evil,
        error: evil,
        says: [evil],
        report: evil,
        source: { where: evil, lines: [{ number: 1, text: evil, marks: [[evil, "origin"]] }] },
        rows: [{ ...(trace().rows[1] as Row), op: evil, code: evil, module: evil, forward: mark("origin", evil) }],
        first: one,
        origins: [],
        leaves: [{ name: evil, nan: 1, posinf: 0, neginf: 0, beyond: 0, size: 1 }],
      }),
    );
    expect(el.querySelector("img")).toBeNull();
    expect((el.textContent ?? "").split(evil).length).toBeGreaterThan(10);
  });

  it("has no listener after its end", () => {
    const { ended, all, chosen, model } = open(widget, "trace", trace());
    ended.abort();
    all(".vt-rp-body .vt-rp-row")[0]?.click();
    expect(chosen()).toContain("log");
    expect(model.listeners()).toBe(0);
  });
});
