// What is shown of a chosen node: pieces that the graph and the stepper share.

import { button, el } from "../shared/dom";
import { bytes, num, shapeText } from "../shared/format";
import type { Kernel } from "./kernel";
import { letters, math, partial, vjp } from "./math";
import type { Graph } from "./model";

export const section = (name: string, right: string | null, ...children: (Node | null)[]): HTMLElement =>
  el(
    "div.vt-part",
    {},
    el("div.vt-lab", {}, el("span", { text: name }), el("span.vt-space"), right ? el("span", { text: right }) : null),
    ...children,
  );

export function headOf(name: string, facts: (string | false)[]): HTMLElement {
  return el(
    "div",
    {},
    el("div.vt-nodename", { text: name, role: "heading", "aria-level": 3 }),
    el("div.vt-meta", {}, ...facts.filter(Boolean).map((text) => el("span", { text: text as string }))),
  );
}

/** "In [5], line 2: loss = f(x)": the place in grey, the line as code. */
export function sourceOf(line: string): HTMLElement | null {
  if (!line) return null;
  const at = line.indexOf(": ");
  const [place, code] = at < 0 ? [line, ""] : [line.slice(0, at), line.slice(at + 2)];
  return el("div.vt-src", { title: line }, el("i", { text: place }), el("span", { text: code }));
}

export interface Rule {
  input: string;
  latex: string;
  shape: number[] | null;
}

export function formulasOf(rules: Rule[]): HTMLElement | null {
  if (!rules.length) return null;
  const lines = rules.flatMap(({ input, latex, shape }) => [
    partial("L", input),
    el("span.vt-equals", { text: "=" }),
    el("span.vt-rhs", {}, ...vjp(latex)),
    el("span.vt-shape", { text: shape ? shapeText(shape) : "" }),
  ]);
  return el("div.vt-rules", { role: "group", "aria-label": "formulas" }, ...lines);
}

/** What an op computes, in a sentence; nothing where none is known. */
export const doesOf = (text: string): HTMLElement | null => (text ? el("div.vt-does", { text }) : null);

/** What each letter of the formulas is here: `known` says name and shape of "g", of "y", and of each input. */
export function lettersOf(rules: Rule[], known: (what: string) => [string, string], all = rules): HTMLElement | null {
  const found = letters(rules, all);
  if (!found.length) return null;
  const lines = found.flatMap(([letter, what]) => {
    const [name, shape] = known(what);
    return [el("i", { class: what === "g" ? "vt-gradc" : "vt-valuec" }, ...math(letter)), el("span", { text: name }), el("span.vt-shape", { text: shape })];
  });
  return el("div.vt-letters", { role: "group", "aria-label": "letters of the formulas" }, ...lines);
}

/** A formula with this node's numbers, of one input where there are several. */
export const example = (input: string, text: string, note = ""): HTMLElement =>
  el("div.vt-example", {
    text: `${input ? `${input}: ` : ""}${text}`.replace(/(^|[\s(·])-(?=[\s\d(])/g, "$1−").replace(/e-(?=\d)/g, "e−"),
    title: note,
  });

export interface Saved {
  name: string;
  text: string;
  bytes: number;
  alias: boolean;
}

export function savedOf(saved: Saved[], own: number): HTMLElement {
  const lines = saved.flatMap((one) => [
    el("span", { text: one.name }),
    el("span.vt-faint", { text: one.text }),
    el("span.vt-right", { text: one.alias ? "alias" : one.bytes ? bytes(one.bytes) : "" }),
  ]);
  return section("Saved for this node", saved.length ? bytes(own) : "nothing", el("div.vt-saved", {}, ...lines));
}

/** What one independent computation says of a node's gradient. */
export type Witness = [good: boolean, text: string];

/** The witnesses of an answer; a kernel that says why not is one that disagrees. */
export function witnesses(answer: Record<string, unknown>): Witness[] {
  const lines = Array.isArray(answer.lines) ? answer.lines : [];
  const read = lines.flatMap((line): Witness[] => (Array.isArray(line) ? [[line[0] === true, String(line[1])]] : []));
  return read.length ? read : [[answer.ok === true, String(answer.text ?? answer.why ?? "the kernel gave no answer")]];
}

/** The button that asks the kernel to compare a node with finite differences, and its answer. */
export function checkOf(kernel: Kernel, node: number, known: Map<number, Witness[]>, signal: AbortSignal): HTMLElement {
  const said = el("span.vt-checked", { role: "status" });
  const update = (): void => {
    const lines = known.get(node) ?? [];
    if (!lines.length) said.textContent = "compares this node with finite differences";
    else said.replaceChildren(...lines.map(([good, text]) => el(`span.${good ? "vt-goodc" : "vt-badc"}`, { text: `${good ? "✓" : "✗"} ${text}` })));
  };
  const asks = button(
    "button.vt-check",
    "Check",
    "check against finite differences  c",
    () => {
      said.textContent = "checking …";
      kernel.ask({ type: "check", node }, (answer) => {
        known.set(node, witnesses(answer));
        update();
      });
    },
    signal,
  );
  update();
  return el("div.vt-checkline", {}, asks, said);
}

/** ", from head[4] ReLU": where an input comes from, where a gradient goes back to it. */
function source(graph: Graph, out: { input: string; target: number }[], input: string): string {
  const edge = out.find((e) => e.input === input);
  return edge ? `, ${graph.called(edge.target)}` : "";
}

/** The inspector of a graph: what the record itself knows of a node. */
export function inspect(graph: Graph, node: number, checked: HTMLElement | null): HTMLElement[] {
  const op = graph.isOp(node);
  const step = graph.number(node, "step");
  const parts: (HTMLElement | null)[] = [
    headOf(op ? graph.word(node, "layer") || graph.word(node, "name") || graph.word(node, "op") : graph.word(node, "label") || graph.kind(node), [
      op ? (graph.word(node, "layer") ? graph.word(node, "name") : graph.where(node)) : graph.kind(node),
      op && graph.word(node, "label"),
      step > 0 && `step ${step} of ${graph.steps}`,
    ]),
    sourceOf(graph.word(node, "line")),
  ];
  const says = graph.word(node, "says");
  if (says) parts.push(el("div.vt-note", { text: says }));
  const out = graph.out(node).filter((e) => !e.dead);
  const rules = graph
    .formulas(node)
    .map(([input, latex]) => ({ input, latex, shape: out.find((e) => e.input === input)?.shape ?? null }));
  if (op) {
    const table = formulasOf(rules.filter((rule) => rule.shape || rules.length === 1));
    const none = el("div.vt-note", { text: "This op has no formula to show." });
    if (graph.kind(node) === "op") {
      const shapeOf = (what: string): string => shapeText(out.find((e) => e.input === what)?.shape ?? []);
      const shown = lettersOf(rules, (what) =>
        what === "g"
          ? ["came in", shapeText(graph.shape(node))]
          : what === "y"
            ? ["output, what forward gave", shapeText(graph.shape(node))]
            : [`${what}${source(graph, out, what)}`, out.some((e) => e.input === what) ? shapeOf(what) : ""],
      );
      parts.push(section("What this node does", null, doesOf(graph.word(node, "does")), table ?? none, shown, checked));
    }
  }
  const shape = shapeText(graph.shape(node));
  parts.push(
    section(
      op ? "Its output" : "The tensor",
      null,
      facts([
        ["shape", shape],
        ["dtype", graph.word(node, "dtype")],
        ["device", graph.word(node, "device")],
      ]),
    ),
  );
  const flows = op ? out : graph.into(node).filter((e) => !e.dead);
  if (flows.length) {
    const lines = flows.flatMap((e) => {
      const norm = e.norm;
      return [
        el("span", { text: op ? `→ ${graph.called(e.target)}` : `← ${graph.called(e.source)}` }),
        el("span.vt-faint", { text: shapeText(e.shape) }),
        el("span.vt-right.vt-gradc" as "span", { text: Number.isNaN(norm) ? "" : num(Number.isNaN(e.value) ? norm : e.value, 3) }),
      ];
    });
    const known = flows.some((e) => !Number.isNaN(e.norm));
    parts.push(section(op ? "Gradients flow to" : "Gradients come from", known ? "norms; a single number with its sign" : null, el("div.vt-saved", {}, ...lines)));
  }
  const grad = graph.number(node, "grad");
  if (!op && !Number.isNaN(grad)) parts.push(section("Its .grad", Number.isNaN(graph.number(node, "value")) ? `norm ${num(grad, 3)}` : num(graph.number(node, "value"), 4)));
  if (op && graph.kind(node) === "op") {
    const saved = graph.kept(node).map((k) => ({ ...k, text: shapeText(k.shape) }));
    parts.push(savedOf(saved, graph.number(node, "saved")));
  }
  return parts.filter((part): part is HTMLElement => part !== null);
}

export function facts(pairs: [string, string][]): HTMLElement {
  return el(
    "div.vt-factlist",
    {},
    ...pairs.filter(([, text]) => text).map(([name, text]) => el("span", {}, el("i", { text: name }), el("b", { text }))),
  );
}
