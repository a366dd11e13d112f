// A kata: the symptom, the broken cell, three rows to earn, hints; or all twelve in four belts. The kernel judges.

import { svg } from "../graph/svg";
import { button, copy, el, on } from "../shared/dom";
import { type Frame, page } from "../shared/frame";
import { answers, listen } from "../shared/model";
import { type Raw, unpack } from "../shared/payload";
import css from "./kata.css";
import { parts } from "./draw";
import * as pictures from "./pictures";
import { type Card, check, type State } from "./types";

const OK = "M2 7.5l3.5 4L12 3";
const NO = "M3 3l8 8M11 3l-8 8";
const LOST = "To name a place or open a hint, run the cell: a kernel answers.";

const drawn = (node: SVGElement): HTMLElement => node as unknown as HTMLElement;
const sign = (d: string): HTMLElement =>
  drawn(svg("svg", { width: 13, height: 13, viewBox: "0 0 14 14", "aria-hidden": "true" }, svg("path", { d, fill: "none", stroke: "currentColor", "stroke-width": 2 })));

/** Text whose parts between backquotes are code. */
const said = (text: string): HTMLElement[] => parts(text).map((part) => el(part.code ? "code" : "span", { text: part.text }));

function belt(name: string, named = true): HTMLElement {
  const tied = svg(
    "svg",
    { width: 46, height: 18, viewBox: "0 0 46 18", role: "img", "aria-label": `${name} belt`, class: `vt-kt-${name}` },
    svg("path", { d: "M.5 3.5h45v6h-45z" }),
    svg("path", { d: "M20 8.5l-5.5 8 4.5.8 4-7.3z" }),
    svg("path", { d: "M26 8.5l5.5 8-4.5.8-4-7.3z" }),
    svg("rect", { x: 18.5, y: 1.5, width: 9, height: 10, rx: 2 }),
  );
  return el("span.vt-kt-belt", {}, drawn(tied), named ? `${name} belt` : "");
}

interface Asks {
  live: () => boolean;
  send: (message: Record<string, unknown>) => void;
  signal: AbortSignal;
}

function row(card: Card, i: number, asks: Asks): HTMLElement {
  const one = card.rows[i] as Card["rows"][number];
  const open = i === 0 && one.state !== "right";
  const mark = one.state === "right" ? sign(OK) : one.state ? sign(NO) : el("span", { text: String(i + 1) });
  const made = el(
    "div.vt-kt-row",
    { "data-state": one.state || (open ? "now" : "open") },
    el("i", {}, mark),
    el("div", {}, el("b", { text: one.title }), el("div.vt-kt-says", {}, ...said(one.says))),
    el("span.vt-kt-word", { text: one.state }),
  );
  if (!open) return made;
  const input = el("input", { "aria-label": "the place", placeholder: "line or node", maxlength: 200, autocomplete: "off", spellcheck: "false" });
  const go = (): void => {
    if (input.value.trim()) asks.send({ type: "name", place: input.value.trim() });
  };
  const does = button("button.vt-kt-first", "Name it", "Name it  Enter", go, asks.signal);
  input.disabled = does.disabled = !asks.live();
  on(
    input,
    "keydown",
    (e) => {
      e.stopPropagation();
      if (e.key === "Enter") go();
    },
    asks.signal,
  );
  made.append(el("div.vt-kt-answer", {}, input, does));
  return made;
}

function code(card: Card, signal: AbortSignal): HTMLElement {
  const lines = card.code.map((text, i) =>
    el("div", { role: "listitem", "data-guilty": card.guilty === i + 1 }, el("i", { text: String(i + 1) }), el("span", { text })),
  );
  const box = el("div.vt-kt-code", { role: "list", "aria-label": "the broken cell" }, ...lines);
  const take = button("button", "Copy to a cell", "Copy to a cell  with %%vt kata above it", () => void put(), signal);
  const put = async (): Promise<void> => {
    const done = await copy(`%%vt kata ${card.number}\n${card.code.join("\n")}\n`, box);
    take.textContent = done ? "Copied" : "press Ctrl+C";
  };
  return el("div", {}, el("div.vt-kt-heading", {}, el("h4", { text: "The broken cell" }), el("span.vt-space"), take), box);
}

function hints(card: Card, asks: Asks): HTMLElement {
  const all = card.hints.length + card.more;
  const made = el("div.vt-kt-hints");
  for (let i = 0; i < all; i++) {
    const one = button("button", `Hint ${i + 1} of ${all}`, `Hint ${i + 1} of ${all}  h`, () => asks.send({ type: "hint" }), asks.signal);
    one.disabled = i !== card.hints.length || !asks.live();
    made.append(one);
  }
  const open = button("button", "Solution", "Solution  after both hints, or when solved", () => asks.send({ type: "solution" }), asks.signal);
  open.disabled = !card.solvable || card.solution.length > 0 || !asks.live();
  made.append(el("span.vt-space"), button("button", "All twelve", "All twelve  a", () => asks.send({ type: "table" }), asks.signal), open);
  made.append(...card.hints.map((hint, i) => el("p.vt-kt-hint", {}, el("i", { text: String(i + 1) }), el("span", {}, ...said(hint)))));
  return made;
}

function solution(card: Card): HTMLElement | null {
  if (!card.solution.length) return null;
  const lines = card.solution.map(([number, mark, text]) =>
    el("div", { "data-mark": mark }, el("i", { text: mark === "-" ? String(number) : "" }), el("span", { text: `${mark === "-" ? "−" : mark} ${text}` })),
  );
  return el("div.vt-kt-solution", {}, el("h4", { text: "Solution" }), el("p", {}, ...said(card.why)), el("div.vt-kt-code", {}, ...lines));
}

function show(card: Card, asks: Asks): HTMLElement {
  const solved = card.status === "solved";
  const chip = el("span.vt-kt-chip", { "data-state": card.status }, solved ? sign(OK) : "", card.status);
  const seen = pictures.answers(card.picture);
  const left = el(
    "div",
    {},
    el("h4", { text: card.rows[1]?.state ? "Symptom, and your run" : "Symptom" }),
    el("p.vt-kt-symptom", {}, ...said(card.symptom)),
    pictures.losses(card.broken.data, card.mine.data),
    seen,
    el("h4", { text: "Rules" }),
    el("p.vt-kt-rules", {}, ...said(card.rules)),
  );
  const right = el("div", {}, code(card, asks.signal), ...card.rows.map((_, i) => row(card, i, asks)));
  const next = button("button.vt-kt-first", `Kata ${card.after}`, `Kata ${card.after}  n`, () => asks.send({ type: "open", number: card.after }), asks.signal);
  next.disabled = !asks.live();
  return el(
    "div.vt-card.vt-kt",
    { tabindex: 0, "data-number": card.number },
    el(
      "div.vt-kt-head",
      {},
      el("span.vt-kt-number", { text: `kata ${card.number}` }),
      el("h3", { text: card.title }),
      belt(card.belt),
      el("span.vt-meta", { text: `about ${card.minutes} minutes` }),
      el("span.vt-space"),
      chip,
    ),
    solved ? el("div.vt-kt-done", {}, el("p", {}, el("b", { text: "Solved." }), ...said(card.lesson)), card.after ? next : "") : null,
    el("div.vt-kt-body", {}, left, right),
    hints(card, asks),
    solution(card),
    asks.live() ? null : el("div.vt-kt-foot", { text: LOST }),
  );
}

function table(state: State, asks: Asks): HTMLElement {
  const all = state.belts.reduce((sum, one) => sum + one.entries.length, 0);
  const bar = el("div.vt-kt-bar", { role: "progressbar", "aria-valuenow": state.solved, "aria-valuemin": 0, "aria-valuemax": all, "aria-label": "solved" }, el("i"));
  (bar.firstChild as HTMLElement).style.width = `${(100 * state.solved) / Math.max(1, all)}%`;
  const earned = state.belts.filter((one) => one.solved === one.entries.length).map((one) => one.name);
  const entry = (one: State["belts"][number]["entries"][number]): HTMLElement => {
    const done = one.state === "solved" || one.state === "helped";
    const made = el("button.vt-kt-entry", { type: "button", "data-state": one.state || "open" }, el("i", {}, done ? sign(OK) : String(one.number)), el("span", { text: one.title }));
    made.disabled = !asks.live();
    on(made, "click", () => asks.send({ type: "open", number: one.number }), asks.signal);
    return made;
  };
  return el(
    "div.vt-card.vt-kt",
    { tabindex: 0 },
    el("div.vt-kt-head", {}, el("h3", { text: `${state.solved} of ${all}` }), bar, el("span.vt-meta", { text: earned.length ? `${earned.join(", ")} belt earned` : "" })),
    el(
      "div.vt-kt-belts",
      {},
      ...state.belts.map((one) =>
        el(
          "div",
          {},
          el("div.vt-kt-heading", {}, belt(one.name, false), el("b", { text: one.name }), el("span.vt-space"), el("span.vt-meta", { text: `${one.solved} of ${one.entries.length}` })),
          ...one.entries.map(entry),
        ),
      ),
    ),
    el("div.vt-kt-foot", { text: "✓ solved, dashed: with hints. In any order; kept between notebooks." }),
  );
}

interface Shown {
  type?: unknown;
}

function draw(first: State, { root, model, signal, failed }: Frame): () => void {
  const place = el("div");
  root.append(place);
  let now: AbortController | null = null;
  const paint = (state: State, asked: boolean): void => {
    now?.abort();
    const one = (now = new AbortController());
    signal.addEventListener("abort", () => one.abort(), { once: true, signal: one.signal });
    const asks: Asks = {
      live: () => answers(model),
      send: (message) => void (answers(model) && model.send?.(message)),
      signal: one.signal,
    };
    const card = state.cards[0];
    const box = card ? show(card, asks) : table(state, asks);
    on(
      box,
      "keydown",
      (e) => {
        if (e.ctrlKey || e.metaKey || e.altKey || (e.target as HTMLElement).closest("input, textarea")) return;
        if (e.key === "h" && card?.more) asks.send({ type: "hint" });
        else if (e.key === "n" && card?.status === "solved" && card.after) asks.send({ type: "open", number: card.after });
        else if (e.key === "a" && card) asks.send({ type: "table" });
        else return;
        e.preventDefault();
        e.stopPropagation();
      },
      one.signal,
    );
    const inside = place.contains(document.activeElement);
    place.replaceChildren(box);
    // What was typed or pressed brought this card: the keys go on from where they were.
    if (asked && inside) (box.querySelector<HTMLElement>("input:not(:disabled)") ?? box).focus({ preventScroll: true });
  };
  paint(first, false);
  listen(
    model,
    "msg:custom",
    ((message: Shown | null, buffers: Raw[]) => {
      const raw = buffers?.[0];
      if (message?.type !== "card" || !raw) return;
      try {
        const packed = unpack(raw);
        check(packed.state, packed.kind);
        paint(packed.state as unknown as State, true);
      } catch (error) {
        failed(error as Error);
      }
    }) as (...given: never[]) => void,
    signal,
  );
  if (answers(model)) model.send?.({ type: "now" });
  return () => {};
}

export default page(check, css, draw);
