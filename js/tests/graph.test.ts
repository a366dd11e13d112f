import { describe, expect, it } from "vitest";
import { letters, math, vjp } from "../src/graph/math";
import { scaleOf, way, widthOf } from "../src/graph/svg";
import { numbers } from "../src/graph/heat";
import { witnesses } from "../src/graph/inspect";
import { titleOf } from "../src/graph/show";
import { Course } from "../src/steps/course";
import { chain } from "../src/steps/cards";
import type { State, StepFrame, StepNode } from "../src/steps/types";
import { nd } from "./make";

const html = (nodes: Node[]): string => {
  const box = document.createElement("div");
  box.append(...nodes);
  return box.innerHTML;
};
const text = (nodes: Node[]): string => {
  const box = document.createElement("div");
  box.append(...nodes);
  return (box.textContent ?? "").replace(/\s+/g, " ").trim();
};

describe("a graph of another library", () => {
  it("is named by a chip, whose dot is filled for vistorch alone", () => {
    const drawn = (source: string): string => html(titleOf("loss.backward()", ["3 ops"], source));
    expect(text(titleOf("t", [], "PyTorch <2.13>"))).toBe("tPyTorch <2.13>");
    expect(drawn("PyTorch 2.13")).toContain('fill="none"');
    expect(drawn("vistorch")).toContain('fill="currentColor"');
  });

  it("is checked by several witnesses, a line of each", () => {
    const lines = [[true, "finite difference agrees 2e-08"], [false, "vistorch differs by 0.5"]];
    expect(witnesses({ ok: false, text: "both", lines })).toEqual(lines);
    expect(witnesses({ ok: true, text: "agrees" })).toEqual([[true, "agrees"]]);
    expect(witnesses({ why: "gone" })).toEqual([[false, "gone"]]);
    expect(witnesses({ lines: ["no line"] })).toEqual([[false, "the kernel gave no answer"]]);
  });
});

describe("formulas", () => {
  it("call the one gradient that comes in g", () => {
    expect(text(vjp("\\bar x = \\bar z\\, y"))).toBe("g y");
    expect(text(vjp("\\bar x = \\alpha\\, \\bar z\\, b^T"))).toBe("α g bT");
    expect(html(vjp("\\bar x = \\bar z\\, b^T"))).toContain("<sup><i>T</i></sup>");
  });

  it("keep the names of gradients where g is taken or there are several", () => {
    expect(html(vjp("\\bar x = \\bar y\\, g\\, x"))).toContain('<span class="vt-over"><i>y</i></span>');
    expect(html(vjp("\\bar x = \\bar y + \\bar z"))).not.toContain("vt-gradc");
  });

  it("have fractions, roots, signs and words", () => {
    expect(html(math("\\frac{1}{2}"))).toBe('<span class="vt-frac"><span>1</span><span>2</span></span>');
    expect(html(math("\\tfrac12"))).toBe('<span class="vt-frac"><span>1</span><span>2</span></span>');
    expect(text(math("\\sqrt{1 - x^2}"))).toBe("√1 − x2");
    expect(text(math("0\\text{ not at } i"))).toBe("0 not at i");
    expect(text(math("\\mathrm{sum\\_to}(y)"))).toBe("sum_to(y)");
    expect(text(math("[a \\le x \\le b]"))).toBe("[a ≤ x ≤ b]");
  });

  it("say what each of their letters stands for", () => {
    const power = [{ input: "input", latex: "\\bar x = \\bar z\\, y x^{y-1}" }, { input: "exponent", latex: "\\bar y = \\bar z\\, z \\ln x" }];
    expect(letters(power)).toEqual([["g", "g"], ["x", "input"], ["y", "exponent"], ["z", "y"]]); // prettier-ignore
    expect(letters(power.slice(0, 1), power)).toEqual([["g", "g"], ["x", "input"], ["y", "exponent"]]); // prettier-ignore
    expect(letters([{ input: "input", latex: "\\bar x = \\bar y (1 - y^2)" }])).toEqual([["g", "g"], ["y", "y"]]); // prettier-ignore
    expect(letters([{ input: "input", latex: "\\bar x = \\bar y\\text{ at x }" }])).toEqual([["g", "g"]]);
    expect(letters([{ input: "i", latex: "nothing" }, { input: "j", latex: "" }])).toEqual([]);
  });

  it("show what they do not know as it stands, and nothing of it is markup", () => {
    expect(text(math("\\unheard{x}"))).toBe("unheardx");
    expect(html(math("\\text{<img src=x>}"))).toContain("&lt;img");
    for (const wrong of ["{", "}", "^", "\\frac", "\\bar", "_{", "{".repeat(500), "\\text{", "\\", "a^"]) {
      expect(() => math(wrong)).not.toThrow();
    }
  });
});

describe("edges", () => {
  it("are as wide as the logarithm of their norm", () => {
    const scale = scaleOf([0.01, 1, 0, NaN, Infinity]);
    expect(scale).toEqual([-2, 0]);
    expect([0.01, 0.1, 1].map((norm) => widthOf(norm, scale))).toEqual([1.5, 3.75, 6]);
    expect([null, 0, NaN, Infinity].map((norm) => widthOf(norm, scale))).toEqual([1.25, 1.5, 1.5, 6]);
    expect(scaleOf([0, NaN])).toBeNull();
    expect(scaleOf([2, 2])?.[1]).toBeCloseTo(Math.log10(2) + 0.5);
  });

  it("run straight where they can and end before the arrow's head", () => {
    expect(way([[0, 0], [0, 40]], 6)).toBe("M0 0V34"); // prettier-ignore
    expect(way([[0, 0], [10, 40]])).toBe("M0 0C0 20 10 20 10 40"); // prettier-ignore
  });
});

describe("values", () => {
  it("are read from codes, with what is not finite", () => {
    const value = { codes: nd(Uint8Array.from([0, 1, 253, 254, 255])), levels: nd(Float32Array.from([-1, 2])) };
    expect([...(numbers(value as never) as number[])]).toEqual([-1, 2, -Infinity, Infinity, NaN]);
  });
});

const value = (data: number[], shape: number[] = [data.length]) => ({
  shape,
  dtype: "float32",
  norm: Math.hypot(...data),
  min: Math.min(...data),
  max: Math.max(...data),
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

// x -> a -> b, and d, which no gradient reaches: b runs first.
function small(over: Partial<State> = {}): State {
  const node = (id: number, name: string, to: [string, number | null, number][], leaf = false): StepNode => ({
    id, name, op: name, label: leaf ? name : "", leaf, module: "", shape: [2], dtype: "float32", line: null,
    forward: 0, formulas: [], to, saved: [], bytes: 0,
  }); // prettier-ignore
  const frame = (id: number, to: number, pending: number[], grads: StepFrame["grads"] = []): StepFrame => ({
    node: id, says: "", incoming: [0], hooked: null,
    outgoing: [{ input: "input", to, output: 0, gradient: 1, before: null, after: 1, sum: "0 + 2", numbers: null }],
    grads, done: grads.length ? [id, to] : [id], pending, question: null,
  }); // prettier-ignore
  return {
    title: "b.backward()",
    source: "vistorch",
    count: 2,
    at: 0,
    says: [],
    nodes: [node(0, "b", [["input", 1, 0]]), node(1, "a", [["input", 2, 0]]), node(2, "x", [], true)],
    frames: [frame(0, 1, [1]), frame(1, 2, [2], [{ node: 2, before: null, after: 1, sum: "0 + 2" }])],
    start: [[2, null]],
    waits: [[0, 0, 0]],
    values: [value([1, 1]), value([2, 2])],
    failed: null,
    skipped: 0,
    total: 2,
    whole: true,
    done: [],
    graph: null,
    places: [],
    stops: [],
    ask: false,
    held: false,
    ...over,
  };
}

describe("the course of a pass", () => {
  it("has a state for every step, both ways", () => {
    const course = new Course(small());
    expect(course.count).toBe(2);
    expect(course.stands()).toEqual(["pending", "", ""]);
    course.at = 1;
    expect(course.stands()).toEqual(["here", "pending", ""]);
    expect(course.grad(2).value).toBeNull();
    course.at = 2;
    expect(course.stands()).toEqual(["done", "here", "done"]);
    expect(course.grad(2).sum).toBe("0 + 2");
    course.at = 0;
    expect(course.stands()).toEqual(["pending", "", ""]);
  });

  it("knows what is never reached, if it knows the whole pass", () => {
    const state = small();
    state.nodes.push({ ...(state.nodes[2] as StepNode), id: 3, label: "d" });
    expect(new Course(state).stands()[3]).toBe("never");
    expect(new Course({ ...state, whole: false }).stands()[3]).toBe("");
  });

  it("runs to breakpoints and past the one it stands at", () => {
    const course = new Course(small({ stops: [[1, "nan"]] }));
    expect(course.run(new Set(), -1)).toBe(1);
    course.at = 1;
    expect(course.run(new Set(), 1)).toBe(2);
    expect(new Course(small()).run(new Set([0]), -1)).toBe(0);
  });

  it("counts the frames that did not travel", () => {
    const course = new Course(small({ skipped: 500, total: 1000, whole: false, at: 501 }));
    expect(course.at).toBe(1);
    expect(course.frames()).toBe(501);
    expect(course.place).toBe("step 501 of 1000");
    expect(course.stepOf(502)).toBe(2);
  });

  it("is a chain of cards only where all of it can be read", () => {
    const course = new Course(small());
    expect(chain(course)?.map((node) => node.name)).toEqual(["b", "a", "x"]);
    expect(chain(new Course(small({ values: [value([1, 2, 3, 4])] })))).toBeNull();
    const wide = small();
    (wide.nodes[0] as StepNode).to?.push(["other", 2, 0]);
    expect(chain(new Course(wide))).toBeNull();
  });
});
