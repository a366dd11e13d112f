// Small chains as cards side by side: every number of the pass on one page, and below the step's formula with them.

import { el } from "../shared/dom";
import { num } from "../shared/format";
import { real } from "../shared/payload";
import { math, partial } from "../graph/math";
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
const short = (v: number): string => num(v, 5).replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "");

/** A piece of a formula: its text, and how loosely it holds together: 0 a name, 1 a product, 2 a sum. */
type Said = { text: string; loose: number };

const within = (said: Said, loose: number): string => (said.loose > loose ? `(${said.text})` : said.text);

/** What forward did, in the names of the code. */
function forwardSays(course: Course, node: StepNode, from: Said | undefined, source: StepNode | undefined): Said {
  if (node.leaf || !from) return { text: "leaf", loose: 0 };
  const constant = (names: string[]): string =>
    node.saved?.find((s) => names.includes(s.name) && s.value === null)?.text ?? "";
  const [y, x] = [course.value(node.forward), course.value(source?.forward)];
  const [a, b] = [y?.data?.data, x?.data?.data];
  const same = (f: (i: number) => number): number | null => {
    if (!a || !b || a.length !== b.length) return null;
    const first = f(0);
    return Array.from(a, (_, i) => f(i)).every((v) => v === first) && Number.isFinite(first) ? first : null;
  };
  const frame = course.state.frames.find((one) => one.node === node.id);
  const other = frame?.outgoing[0]?.numbers?.parts.find((one) => one.role === "forward" && one.input)?.input ?? "";
  const power = constant(["exponent", "other"]);
  const sum = (k: number | null): Said | null =>
    k === null ? null : { text: `${within(from, 2)} ${k < 0 ? "−" : "+"} ${short(Math.abs(k))}`, loose: 2 };
  const said: Record<string, () => Said | null> = {
    Add: () => sum(same((i) => (a?.[i] as number) - (b?.[i] as number))),
    Sub: () => sum(same((i) => (a?.[i] as number) - (b?.[i] as number))),
    Mul: () => {
      const k = same((i) => (a?.[i] as number) / (b?.[i] as number));
      if (k !== null && !other) return { text: `${short(k)} · ${within(from, 1)}`, loose: 1 };
      return other ? { text: `${within(from, 1)} · ${other}`, loose: 1 } : null;
    },
    Div: () => {
      const k = same((i) => (b?.[i] as number) / (a?.[i] as number));
      return k === null ? null : { text: `${within(from, 1)} / ${short(k)}`, loose: 1 };
    },
    Pow: () => (power ? { text: `${within(from, 0)}${power === "2" ? "²" : power === "3" ? "³" : ` ^ ${power}`}`, loose: 1 } : null),
    Sum: () => ({ text: `Σ ${within(from, 1)}`, loose: 1 }),
    Neg: () => ({ text: `−${within(from, 0)}`, loose: 1 }),
  };
  return said[node.op ?? ""]?.() ?? { text: `${(node.op ?? "").toLowerCase()}(${from.text})`, loose: 0 };
}

interface Named {
  /** The variable that holds it, or what it is made of where it has none. */
  name: string;
  /** Whether it is a variable of the code. */
  own: boolean;
  says: string;
}

const LONG = 18; // letters of a formula that can stand for a name

/** What each card is called and what it computes: from the leaf upwards, a value without a name by its formula. */
function named(course: Course, nodes: StepNode[]): Named[] {
  const known = nodes.map((node) => {
    const place = course.state.places[node.id] ?? -1;
    return node.label || (course.graph && place >= 0 ? course.graph.word(place, "label") : "");
  });
  const letters = [..."zuyvhpqrs"].filter((letter) => !known.includes(letter));
  const found: Named[] = [];
  let from: Said | undefined;
  for (let i = nodes.length - 1; i >= 0; i--) {
    const node = nodes[i] as StepNode;
    const said = forwardSays(course, node, from, nodes[i + 1]);
    const label = known[i] || (node.leaf ? "leaf" : "");
    const name = label || (said.text.length <= LONG ? said.text : (letters.shift() ?? `h${i}`));
    found[i] = { name, own: label !== "", says: said.text };
    from = name === said.text && !label ? said : { text: name, loose: 0 };
  }
  return found;
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
  #named: Named[];
  #go: (at: number) => void;

  constructor(course: Course, nodes: StepNode[], go: (at: number) => void) {
    [this.#course, this.#nodes, this.#go] = [course, nodes, go];
    this.#named = named(course, nodes);
  }

  /** The card where the pass stands; the first before it begins. */
  current(): HTMLElement | null {
    return this.root.querySelector<HTMLElement>(".vt-is-here") ?? this.root.querySelector<HTMLElement>(".vt-step");
  }

  paint(): void {
    const course = this.#course;
    const stands = course.stands();
    const called = this.#named;
    const made: HTMLElement[] = [];
    const incoming = new Map<number, Value | null>();
    for (const [id, , ref] of course.state.waits) incoming.set(id, course.value(ref));
    for (const frame of course.open) for (const out of frame.outgoing) if (out.to !== null) incoming.set(out.to, course.value(out.after));
    const asked = course.hidden ? course.here?.node : undefined;
    this.#nodes.forEach((node, i) => {
      const stand = stands[node.id] ?? "";
      const { name, own, says } = called[i] as Named;
      const flows = incoming.get(node.id) ?? null;
      made.push(this.#arrow(flows, i > 0 && this.#nodes[i - 1]?.id === asked));
      const step = course.when(node.id);
      const card = el(
        `div.vt-step.vt-is-${stand || "idle"}` as "div",
        { role: "button", tabindex: 0, "aria-label": `${node.leaf ? name : node.op}, ${stand || "not yet"}` },
        el("b", { text: node.leaf ? name : node.op }),
        el("i", { text: says }),
        el("small.vt-role-v", { text: own ? name : "gives" }),
        matrix(rowsOf(course.value(node.forward)), "v"),
      );
      if (node.leaf) {
        const grad = course.grad(node.id).value;
        card.append(el("small.vt-role-g", { text: `${name}.grad` }), matrix(rowsOf(grad), grad ? "g" : "none"));
      }
      const act = (): void => this.#go(step + 1);
      card.addEventListener("click", act);
      card.addEventListener("keydown", (e) => {
        if (e.key !== "Enter") return;
        act();
        e.preventDefault();
        e.stopPropagation();
      });
      made.push(card);
    });
    const held = this.root.contains(document.activeElement) ? [...this.root.children].indexOf(document.activeElement as Element) : -1;
    this.root.replaceChildren(...made);
    if (held >= 0) (this.root.children[held] as HTMLElement | undefined)?.focus({ preventScroll: true });
    this.#says();
  }

  /** The arrow into a card with the gradient that came along it: one number with its sign, or all of them. */
  #arrow(flows: Value | null, asked: boolean): HTMLElement {
    const on = flows !== null;
    const kind = asked ? " vt-asked" : on ? " vt-on" : "";
    const drawn = svg(
      "svg",
      { class: "vt-graph", width: 44, height: 14, "aria-hidden": "true" },
      svg("path", { class: `vt-edge${kind}`, d: "M2 7h33", "stroke-width": asked ? 2 : on ? 2.5 : 1.25 }),
      svg("path", { class: `vt-tip${kind}`, d: "M34 2l9 5-9 5z" }),
    );
    return el("span.vt-arrow", {}, drawn as unknown as HTMLElement, asked ? el("b.vt-opname", { text: "?" }) : flows ? flowing(flows) : el("span.vt-faint", { text: "·" }));
  }

  #says(): void {
    const course = this.#course;
    const frame = course.here;
    this.said.hidden = course.hidden;
    if (!frame) {
      this.said.replaceChildren(el("span.vt-note", { text: "Nothing has run yet: → takes the first step." }));
      return;
    }
    const out = frame.outgoing[0];
    const grads = frame.grads.map((g) => `${course.called(g.node)}.grad: ${g.sum}`);
    const at = this.#nodes.findIndex((node) => node.id === frame.node);
    const [first, next] = [this.#named[0], this.#named[at + 1]];
    const parts = out?.numbers?.parts ?? [];
    const start = at === 0 ? "g: what arrived; it starts as 1" : "g: what arrived";
    this.said.replaceChildren(
      el("b.vt-opname", { text: course.state.nodes[frame.node]?.name ?? "" }),
      ...(first?.own && next?.own ? [partial(first.name, next.name), el("span.vt-op", { text: "=" })] : []),
      ...(parts.length ? [el("span.vt-said", {}, ...formula(parts)), el("span.vt-op", { text: "=" }), ...parts.map(part)] : [el("span", { text: frame.says })]),
      el("span.vt-note", { text: [parts.length ? start : "", ...grads].filter(Boolean).join(" · ") }),
    );
  }
}

/** A gradient on an arrow: one number, or the same one for all, with its sign. */
function flowing(value: Value): HTMLElement {
  const all = Array.from((value.data?.data ?? []) as ArrayLike<number>);
  if (all.length > 1 && all.some((v) => v !== all[0])) return matrix(rowsOf(value), "g");
  const first = all[0] ?? 0;
  return el("b.vt-gradc", { text: `${first > 0 ? "+" : ""}${short(first)}`.replace(/-/g, "−") });
}

/** The formula without its numbers: g, and the names of the code. */
function formula(parts: Part[]): HTMLElement[] {
  return parts.slice(0, -2).map((one) => {
    if (one.kind !== "array") return el("span", { text: one.text ?? "" });
    if (one.role === "gradient") return el("i.vt-gradc", { text: "g" });
    return one.input ? el("i.vt-valuec", { text: one.input }) : el("i.vt-valuec", {}, ...math(one.symbol ?? ""));
  });
}
