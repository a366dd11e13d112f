// The graph that goes with a finding: its marks, and a node and its row chosen together, whichever is clicked.

import { el } from "../shared/dom";
import type { Model } from "../shared/model";
import { Board } from "./board";
import { Folds } from "./folds";
import { Kernel } from "./kernel";
import type { Look } from "./look";
import { Graph } from "./model";
import type { State } from "./types";

export class Linked {
  readonly root: HTMLElement;
  #graph: Graph;
  #board: Board;
  #folds: Folds | null = null;
  #chosen = -1;
  #note = el("div.vt-note.vt-answer", { role: "status" });

  /**
   * @param name what the picture shows, for the line above it.
   * @param chose called with the row of a node that was clicked.
   */
  constructor(state: State, name: string, model: Model, signal: AbortSignal, chose: (row: number) => void) {
    this.#graph = new Graph(state);
    this.#board = new Board(signal);
    this.root = el("div.vt-linked", {}, el("div.vt-note", { text: name }), this.#board.root, this.#note);
    const choose = (node: number): void => {
      const row = this.#graph.number(node, "row");
      this.#note.textContent = row < 0 ? `${this.#graph.called(node)}: no row of the table` : "";
      this.#stand(node);
      if (row >= 0) chose(row);
    };
    const paint = (): void => this.#paint();
    const deeds = { choose, toggle: (group: number) => this.#folds?.toggle(group) };
    this.#folds = new Folds(this.#graph, this.#board, new Kernel(model, signal), deeds, (text) => (this.#note.textContent = text), paint);
  }

  /** Show the node of a row; nothing where it has none. */
  choose(row: number): void {
    const rows = this.#graph.state.nodes.row.data as ArrayLike<number>;
    const node = Array.from(rows).indexOf(row);
    this.#stand(row < 0 ? -1 : node);
    if (row >= 0 && node >= 0) this.#board.reveal(this.#board.picture?.shows(node) ?? null);
  }

  #stand(node: number): void {
    this.#chosen = node;
    this.#paint();
  }

  #paint(): void {
    const known = (norm: number): number | null => (Number.isNaN(norm) ? null : norm);
    const look: Look = {
      stand: () => "",
      flow: (e) => known(this.#graph.edges[e]?.norm ?? NaN),
      value: (e) => known(this.#graph.edges[e]?.value ?? NaN),
      grad: (node) => known(this.#graph.number(node, "grad")),
      gradValue: (node) => known(this.#graph.number(node, "value")),
      scale: this.#graph.state.scale,
      breaks: new Set(),
      chosen: this.#chosen,
      hits: new Set(),
    };
    this.#board.picture?.paint(look);
  }
}
