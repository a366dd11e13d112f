// Small chains as cards side by side: every number of the pass on one page, and below the step's formula with them.

import { el } from "../shared/dom";
import { num } from "../shared/format";
import { real } from "../shared/payload";
import { svg } from "../graph/svg";
import type { Value } from "../graph/heat";
import type { Course } from "./course";
import type { Part, StepNode } from "./types";

const MOST = 7; // cards

/** The nodes of a pass in a row, if it is one and all that is in it can be read as numbers. */
export function chain(course: Course): StepNode[] | null {
  const { nodes, frames, values } = course.state;
  if (course.partial || nodes.length > MOST || !frames.length || frames.length !== course.count) return null;
  if (values.some((v) => !v.exact || !v.data || v.shape.length > 2 || v.shape.some((n) => n > 3))) return null;
  const found: StepNode[] = [];
  let at: number | null = frames[0]?.node ?? null;
  while (at !== null) {
    const node = nodes[at];
    if (!node || found.includes(node)) return null;
    found.push(node);
    const next: [string, number | null, number][] = (node.to ?? []).filter(([, id]) => id !== null);
    if (next.length > 1) return null;
    at = next[0]?.[1] ?? null;
  }
  return found.length === nodes.length && found.at(-1)?.leaf ? found : null;
}

export function matrix(rows: string[][] | null, kind: string): HTMLElement {
  if (!rows) return el("span.vt-mx.vt-none", { text: kind === "wait" ? "·" : "None" });
  const made = el(`span.vt-mx.vt-${kind}` as "span");
  made.style.gridTemplateColumns = `repeat(${rows[0]?.length ?? 1}, auto)`;
  made.append(...rows.flat().map((text) => el("span", { text: text.replace(/-/g, "−") })));
  return made;
}

function rowsOf(value: Value | null): string[][] | null {
  if (!value?.data) return null;
  const wide = value.shape.at(-1) ?? 1;
  const all = Array.from(value.data.data as ArrayLike<number>, short);
  return Array.from({ length: Math.max(1, all.length / wide) }, (_, i) => all.slice(i * wide, (i + 1) * wide));
}

/** A number without the zeros at its end. */
const short = (v: number): string => num(v).replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "");

/** What forward did, where it can be said in a few signs. */
function forwardSays(course: Course, node: StepNode, name: string, from: StepNode | undefined, fromName: string): string {
  if (node.leaf) return "leaf";
  const constant = (names: string[]): string =>
    node.saved?.find((s) => names.includes(s.name) && s.value === null)?.text ?? "";
  const [y, x] = [course.value(node.forward), course.value(from?.forward)];
  const [a, b] = [y?.data?.data, x?.data?.data];
  const same = (f: (i: number) => number): number | null => {
    if (!a || !b || a.length !== b.length) return null;
    const first = f(0);
    return Array.from(a, (_, i) => f(i)).every((v) => v === first) && Number.isFinite(first) ? first : null;
  };
  const power = constant(["exponent", "other"]);
  const said: Record<string, () => string | null> = {
    Add: () => plus(same((i) => (a?.[i] as number) - (b?.[i] as number)), fromName),
    Sub: () => plus(same((i) => (a?.[i] as number) - (b?.[i] as number)), fromName),
    Mul: () => {
      const k = same((i) => (a?.[i] as number) / (b?.[i] as number));
      return k === null ? null : `${short(k)} · ${fromName}`;
    },
    Div: () => {
      const k = same((i) => (b?.[i] as number) / (a?.[i] as number));
      return k === null ? null : `${fromName} / ${short(k)}`;
    },
    Pow: () => (power ? `${fromName}${power === "2" ? "²" : power === "3" ? "³" : ` ^ ${power}`}` : null),
    Neg: () => `−${fromName}`,
  };
  const op = node.op ?? "";
  return `${name} = ${said[op]?.() ?? `${op.toLowerCase()}(${fromName})`}`;
}

const plus = (k: number | null, x: string): string | null =>
  k === null ? null : k < 0 ? `${x} − ${short(-k)}` : `${x} + ${short(k)}`;

/** A name for each value: those that have one, letters for the others. */
function names(course: Course, nodes: StepNode[]): string[] {
  const known = nodes.map((node) => {
    const place = course.state.places[node.id] ?? -1;
    return node.label || (course.graph && place >= 0 ? course.graph.word(place, "label") : "");
  });
  const letters = [..."zuyvhpqrs"].filter((letter) => !known.includes(letter));
  return known.map((label, i) => label || (i === 0 && !known.includes("out") ? "out" : (letters.shift() ?? `h${i}`)));
}

function part(one: Part): HTMLElement {
  if (one.kind !== "array") return el("span.vt-op", { text: one.text ?? "" });
  const role = { gradient: "g", forward: "v", result: "r" }[one.role ?? ""] ?? "n";
  if (one.rows) return matrix(one.rows, one.rows.flat().length === 1 ? `${role}.vt-one` : role);
  return el("span.vt-op", { text: `${one.symbol} ‖${num(real(one.norm), 3)}‖` });
}

export class Cards {
  readonly root = el("div.vt-chain");
  readonly said = el("div.vt-equation", { "aria-live": "polite" });
  #course: Course;
  #nodes: StepNode[];
  #go: (at: number) => void;

  constructor(course: Course, nodes: StepNode[], go: (at: number) => void) {
    [this.#course, this.#nodes, this.#go] = [course, nodes, go];
  }

  /** The card where the pass stands; the first before it begins. */
  current(): HTMLElement | null {
    return this.root.querySelector<HTMLElement>(".vt-is-here") ?? this.root.querySelector<HTMLElement>(".vt-step");
  }

  paint(): void {
    const course = this.#course;
    const stands = course.stands();
    const called = names(course, this.#nodes);
    const made: HTMLElement[] = [];
    this.#nodes.forEach((node, i) => {
      const stand = stands[node.id] ?? "";
      const name = called[i] as string;
      const incoming = new Map<number, Value | null>();
      for (const [id, , ref] of course.state.waits) incoming.set(id, course.value(ref));
      for (const frame of course.state.frames.slice(0, course.frames()))
        for (const out of frame.outgoing) if (out.to !== null) incoming.set(out.to, course.value(out.after));
      const gradient = node.leaf ? course.grad(node.id).value : (incoming.get(node.id) ?? null);
      const step = course.when(node.id);
      const card = el(
        `div.vt-step.vt-is-${stand || "idle"}` as "div",
        { role: "button", tabindex: 0, "aria-label": `${node.leaf ? name : node.op}, ${stand || "not yet"}` },
        el("b", { text: node.leaf ? name : node.op }),
        el("i", { text: forwardSays(course, node, name, this.#nodes[i + 1], called[i + 1] ?? "") }),
        el("small.vt-role-v", { text: name }),
        matrix(rowsOf(course.value(node.forward)), "v"),
        el("small.vt-role-g", { text: node.leaf ? `${name}.grad` : `∂${called[0]}/∂${name}` }),
        matrix(rowsOf(gradient), gradient ? "g" : node.leaf ? "none" : "wait"),
      );
      if (!gradient) card.lastElementChild?.classList.add("vt-none");
      if (!gradient && !node.leaf) (card.lastElementChild as HTMLElement).textContent = "·";
      const act = (): void => this.#go(step + 1);
      card.addEventListener("click", act);
      card.addEventListener("keydown", (e) => {
        if (e.key !== "Enter") return;
        act();
        e.preventDefault();
      });
      made.push(card);
      if (i + 1 < this.#nodes.length) {
        const on = step >= 0 && step < course.at;
        const arrow = svg(
          "svg",
          { class: "vt-graph", width: 26, height: 14, "aria-hidden": "true" },
          svg("path", { class: `vt-edge${on ? " vt-on" : ""}`, d: "M1 7h17", "stroke-width": on ? 2.5 : 1.25 }),
          svg("path", { class: `vt-tip${on ? " vt-on" : ""}`, d: "M17 2l8 5-8 5z" }),
        );
        made.push(el("span.vt-arrow", {}, arrow as unknown as HTMLElement));
      }
    });
    const held = this.root.contains(document.activeElement) ? [...this.root.children].indexOf(document.activeElement as Element) : -1;
    this.root.replaceChildren(...made);
    if (held >= 0) (this.root.children[held] as HTMLElement | undefined)?.focus({ preventScroll: true });
    this.#says();
  }

  #says(): void {
    const course = this.#course;
    const frame = course.here;
    if (!frame) {
      this.said.replaceChildren(el("span.vt-note", { text: "Nothing has run yet: → takes the first step." }));
      return;
    }
    const out = frame.outgoing[0];
    const grads = frame.grads.map((g) => `${course.called(g.node)}.grad: ${g.sum}`);
    this.said.replaceChildren(
      el("b.vt-opname", { text: course.state.nodes[frame.node]?.name ?? "" }),
      ...(out?.numbers?.parts.map(part) ?? [el("span", { text: frame.says })]),
      el("span.vt-note", { text: [out?.numbers?.note, ...grads].filter(Boolean).join(" · ") }),
    );
  }
}
