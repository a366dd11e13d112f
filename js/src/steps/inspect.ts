// What is shown of a step: what came in, the formula with its numbers, what went out and what was accumulated where.

import { el } from "../shared/dom";
import { num, shapeText } from "../shared/format";
import type { Theme } from "../shared/theme";
import { heat, normOf, scaleLine, single, sizeText, describe, type Value } from "../graph/heat";
import { doesOf, example, formulasOf, headOf, lettersOf, savedOf, section, sourceOf } from "../graph/inspect";
import type { Course } from "./course";
import type { Outgoing, StepFrame, StepNode } from "./types";

export interface Pane {
  course: Course;
  theme: Theme;
  width: number;
  signal: AbortSignal;
  again: (() => void)[];
}

function lineText(node: StepNode): string {
  if (!node.line) return "";
  const { cell, file, line, text } = node.line;
  return `${cell === null ? `${file}:${line}` : `In [${cell}], line ${line}`}: ${text}`;
}

/** A value as a picture with its scale; a small one as its numbers. */
function shown(value: Value, role: "gradient" | "value", tall: number, pane: Pane): HTMLElement[] {
  const exact = value.exact && value.data;
  const size = value.shape.reduce((n, k) => n * k, 1);
  if (exact && size === 1) return [el(`b.vt-${role === "gradient" ? "gradc" : "valuec"}.vt-single` as "b", { text: num(Number(value.data?.data[0]), 5) })];
  const picture = heat(value, role, pane.theme, pane.width, tall, pane.signal);
  const [line, again] = scaleLine(value, role, pane.theme, pane.signal);
  pane.again.push(picture.repaint, again);
  return [picture.root, line];
}

/** "‖g‖ 0.0732": nothing for one number, which stands there with its sign. */
const normText = (value: Value | null, letter: string): string => (value && single(value) === null ? `‖${letter}‖ ${num(normOf(value), 3)}` : "");

/** What a letter of the formulas is at a node, by name and shape. */
function letter(course: Course, frame: StepFrame, node: StepNode, what: string): [string, string] {
  if (what === "g") return ["came in", shapeText(course.value(frame.incoming[0])?.shape ?? [])];
  if (what === "y") return ["output, what forward gave", shapeText(node.shape ?? [])];
  const out = frame.outgoing.find((one) => one.input === what);
  const to = out?.to ?? null;
  const kept = node.saved?.find((one) => one.name === what);
  const shape = course.value(out?.gradient)?.shape;
  return [`${what}${to === null ? "" : `, ${course.called(to)}`}`, shape ? shapeText(shape) : (kept?.text ?? "")];
}

/** A step; `asks` is the box with its question, and what leaves the node is hidden while `course.hidden` says so. */
export function inspectStep(pane: Pane, step: number, notYet: boolean, checked: HTMLElement | null, asks: HTMLElement | null = null): HTMLElement[] {
  const { course } = pane;
  const frames = course.step(step);
  const main = frames[0] as StepFrame;
  const node = course.state.nodes[main.node] as StepNode;
  const parts: (HTMLElement | null)[] = [
    headOf(course.layer(main.node) || node.name, [
      course.layer(main.node) ? node.name : course.where(main.node),
      course.partial ? `step ${course.frames(step) + 1} of ${course.state.total}` : `step ${step + 1} of ${course.count}`,
      notYet && "not yet run",
    ]),
    sourceOf(lineText(node)),
    asks,
  ];
  const hidden = asks !== null && course.hidden;
  const flows = new Map(main.outgoing.map((out) => [out.input, out]));
  const rules = (node.formulas ?? [])
    .filter((f) => f.latex && flows.has(f.input))
    .map((f) => ({
      input: f.input,
      latex: f.latex as string,
      shape: course.value(flows.get(f.input)?.gradient)?.shape ?? null,
    }));
  const formulas = (node.formulas ?? []).map((f) => ({ input: f.input, latex: f.latex ?? "", shape: null }));
  const numbers = main.outgoing.filter((out) => out.numbers);
  const examples = numbers.map((out) =>
    example(main.outgoing.length > 1 ? out.input : "", out.numbers?.text ?? "", out.numbers?.note ?? ""),
  );
  if (!node.leaf && !hidden) parts.push(section("What this node does", null, doesOf(course.does(main.node)), formulasOf(rules), lettersOf(rules, (what) => letter(course, main, node, what), formulas), ...examples, checked));
  main.incoming.forEach((ref, i) => {
    const value = course.value(ref);
    if (!value) return;
    const name = main.incoming.length > 1 ? `Incoming g, output ${i}` : "Incoming g";
    parts.push(section(`${name}  ${shapeText(value.shape)}`, normText(value, "g"), ...shown(value, "gradient", 64, pane)));
  });
  main.hooked?.forEach((ref) => {
    const value = course.value(ref);
    if (value) parts.push(section("After its hooks", normText(value, "g"), ...shown(value, "gradient", 40, pane)));
  });
  const out = hidden ? null : outgoing(pane, frames);
  if (out) parts.push(out);
  if (hidden) parts.push(section("Outgoing", "after your answer", el("div.vt-unseen", { text: "?" })));
  const forward = course.value(node.forward);
  if (forward && !node.leaf) {
    const text = `Forward gave  ${shapeText(forward.shape)}`;
    parts.push(section(text, normText(forward, "y"), ...shown(forward, "value", 48, pane)));
  }
  if (!node.leaf) parts.push(savedOf(node.saved ?? [], node.bytes ?? 0));
  return parts.filter((part): part is HTMLElement => part !== null);
}

/** What flows on, and what is added to leaves; a view on the way to a parameter is passed over. */
function outgoing(pane: Pane, frames: StepFrame[]): HTMLElement | null {
  const { course } = pane;
  const rides = new Set(frames.slice(1).map((f) => f.node));
  const rows: HTMLElement[] = [];
  const add = (value: Value | null, name: string, under: string, sum: string, what: string): void => {
    if (!value) return;
    const thumb = heat(value, "gradient", pane.theme, 60, 28, pane.signal);
    pane.again.push(thumb.repaint);
    rows.push(
      thumb.root,
      el("span.vt-toname", { title: `${name}: ${describe(value)}` }, name, el("small", { text: under })),
      el("span.vt-sum", {}, el("b.vt-gradc", { text: sum.replace(/-/g, "−") }), el("small", { text: what })),
    );
  };
  const received = new Map(frames.flatMap((f) => f.grads.map((g) => [g.node, g] as const)));
  const flow = (out: Outgoing): void => {
    const value = course.value(out.gradient);
    if (!value || (out.to !== null && rides.has(out.to))) return;
    const grad = out.to === null ? undefined : received.get(out.to);
    const shape = shapeText(value.shape);
    if (out.to === null) add(value, out.input, shape, sizeText(value, 3), "ends here");
    else if (grad) {
      add(value, course.called(out.to), shape, grad.sum, "into .grad");
      received.delete(out.to);
    } else {
      const waits = out.before !== null;
      const sum = waits ? out.sum : sizeText(value, 3);
      add(value, `→ ${course.called(out.to)}`, shape, sum, waits ? "added to what waits" : "flows on");
    }
  };
  for (const frame of frames) for (const out of frame.outgoing) flow(out);
  for (const grad of received.values()) add(course.value(grad.after), course.called(grad.node), "", grad.sum, "into .grad");
  return rows.length ? section("Outgoing", "norms; one number has its sign", el("div.vt-outs", {}, ...rows)) : null;
}

/** A leaf, or a node that no step runs. */
export function inspectOther(pane: Pane, id: number, never: boolean): HTMLElement[] {
  const { course } = pane;
  const node = course.state.nodes[id] as StepNode;
  const parts = [headOf(node.label || node.name, [node.leaf ? "leaf" : node.module || false, shapeText(node.shape ?? []), node.dtype || false])];
  if (never) parts.push(el("div.vt-note", { text: "No gradient reaches it in this pass." }));
  const value = course.value(node.forward);
  if (value) parts.push(section("Value", normText(value, node.label || "x"), ...shown(value, "value", 64, pane)));
  if (!node.leaf) return parts;
  const grad = course.grad(id);
  if (grad.value) parts.push(section("Its .grad now", grad.sum || normText(grad.value, ".grad"), ...shown(grad.value, "gradient", 64, pane)));
  else parts.push(section("Its .grad now", "None"));
  return parts;
}
