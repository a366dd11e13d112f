// The page of a backward graph: head with search, the picture, the inspector beside or below it, the legend.

import { button, el, on } from "../shared/dom";
import { num } from "../shared/format";
import type { Frame } from "../shared/frame";
import { sourceChip } from "../shared/source_chip";
import { Board } from "./board";
import { Closer } from "./closer";
import { Folds } from "./folds";
import { checkOf, inspect, type Witness } from "./inspect";
import { Kernel } from "./kernel";
import type { Look } from "./look";
import { Graph } from "./model";
import type { State } from "./types";
import { Search } from "./search";
import { svg } from "./svg";

export function titleOf(title: string, meta: string[], source: string): HTMLElement[] {
  return [
    el("span.vt-name", { text: title, role: "heading", "aria-level": 2 }),
    sourceChip(source),
    el("span.vt-meta", {}, ...meta.map((text) => el("span", { text }))),
  ];
}

/** A small sample of a box in one of its states, with its name. */
export function sample(stand: string, text: string): HTMLElement {
  const drawn = svg(
    "svg",
    { class: "vt-graph", width: 22, height: 14, "aria-hidden": "true" },
    stand === "break"
      ? svg("path", { class: "vt-diamond", d: "M11 1l6 6-6 6-6-6z" })
      : svg("g", { class: `vt-node vt-${stand}` }, svg("rect", { class: "vt-face", x: 1.5, y: 1.5, width: 19, height: 11, rx: 3 })),
  );
  return el("span", {}, drawn as unknown as HTMLElement, text);
}

export function widths(scale: readonly [number, number] | null): HTMLElement {
  if (!scale) return el("span", { text: "edges: shapes of the gradients that will flow" });
  const drawn = svg("svg", { class: "vt-graph", width: 44, height: 14, "aria-hidden": "true" });
  [1.5, 3.5, 6].forEach((wide, i) =>
    drawn.append(svg("path", { class: "vt-edge vt-on", d: `M${1 + 15 * i} 7h12`, "stroke-width": wide })),
  );
  const [low, high] = scale.map((end) => num(10 ** end, 2));
  return el("span", {}, drawn as unknown as HTMLElement, `width: ‖gradient‖ (norm), log, ${low} … ${high}`, el("span.vt-onarrow", { text: "on an arrow: shape and norm; a single number with its sign" }));
}

export function show(state: State, { root, model, signal }: Frame): () => void {
  const graph = new Graph(state);
  const kernel = new Kernel(model, signal);
  const board = new Board(signal);
  const closer = new Closer(kernel, signal);
  const note = el("div.vt-note.vt-answer", { role: "status" });
  const aside = el("div.vt-inspector", { role: "region", "aria-label": "the chosen node", tabindex: 0 });
  const checked = new Map<number, Witness[]>();
  const flows = (norm: number): number | null => (Number.isNaN(norm) ? null : norm);
  let chosen = -1;
  const say = (text: string): void => void (note.textContent = text);
  const paint = (): void => {
    const look: Look = {
      stand: () => "",
      flow: (e) => flows(graph.edges[e]?.norm ?? NaN),
      value: (e) => flows(graph.edges[e]?.value ?? NaN),
      grad: (node) => flows(graph.number(node, "grad")),
      gradValue: (node) => flows(graph.number(node, "value")),
      scale: state.scale,
      breaks: new Set(),
      chosen,
      hits: new Set(search.found),
    };
    board.picture?.paint(look);
  };
  const choose = (node: number): void => {
    chosen = node;
    say("");
    aside.replaceChildren(...inspect(graph, node, kernel.live && graph.isOp(node) ? checkOf(kernel, node, checked, signal) : null));
    aside.scrollTop = 0;
    paint();
    closer.look(node, graph.called(node));
  };
  kernel.lost = () => choose(chosen); // its check is taken away
  const find = (node: number): void =>
    folds.uncover(node, () => {
      choose(node);
      board.reveal(board.picture?.shows(node) ?? null);
    });
  const stand = (): void => board.focus(chosen);
  const search = new Search(graph, () => paint(), find, signal, stand);
  const folds = new Folds(graph, board, kernel, { choose, toggle: (g) => folds.toggle(g) }, say, () => paint());
  const foldable = state.layouts.length > 1 || state.layouts.some((one) => one.boxes.data.includes(1));
  const head = el(
    "div.vt-head",
    {},
    ...titleOf(state.title, state.meta, state.source),
    el("span.vt-space"),
    search.root,
    ...(foldable
      ? [
          button("button", "Open all", "open every group", () => folds.all(true), signal),
          button("button", "Close all", "close every group", () => folds.all(false), signal),
        ]
      : []),
  );
  const legend = el("div.vt-keyline", {}, widths(state.scale), note);
  const card = el("div.vt-card", { "data-lm-suppress-shortcuts": "true" }, head);
  if (state.failed >= 0) card.append(el("div.vt-verdict", { text: state.says.at(-1) ?? "", role: "status" }));
  card.append(el("div.vt-work", {}, board.root, aside), legend);
  root.append(card, closer.root);
  for (const text of state.failed >= 0 ? state.says.slice(0, -1) : state.says) root.append(el("div.vt-note", { text }));
  on(
    card,
    "keydown",
    (e) => {
      if (e.altKey || e.ctrlKey || e.metaKey || e.target instanceof HTMLInputElement) return;
      if (e.key === "/") search.input.focus();
      else if (e.key === "+" || e.key === "=") board.by(1);
      else if (e.key === "-") board.by(-1);
      else if (e.key === "f") board.fits();
      else if (e.key === "c") aside.querySelector<HTMLButtonElement>(".vt-check")?.click();
      else return;
      e.preventDefault();
      e.stopPropagation();
    },
    signal,
  );
  const first = state.failed >= 0 ? state.failed : (state.roots[0]?.node ?? 0);
  if (graph.count) {
    chosen = first;
    aside.replaceChildren(...inspect(graph, first, kernel.live && graph.isOp(first) ? checkOf(kernel, first, checked, signal) : null));
  }
  paint();
  return paint;
}
