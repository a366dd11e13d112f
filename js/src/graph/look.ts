// What a picture of a graph is given: how things stand now, and what a click does.

import type { Stand } from "./dress";

/** What a picture shows beside the graph itself. */
export interface Look {
  /** The state of a node in a pass. */
  stand(node: number): Stand;
  /** The norm of what flowed along an edge: null where nothing has yet, or where it is not known. */
  flow(edge: number): number | null;
  /** What flowed along an edge, where it is one number: it is shown with its sign. */
  value?(edge: number): number | null;
  /** What flows along an edge is asked for, and hidden until then. */
  asked?(edge: number): boolean;
  /** The norm of a leaf's gradient. */
  grad(node: number): number | null;
  /** Whether that gradient came in this pass; everywhere, where nothing is said. */
  received?(node: number): boolean;
  /** That gradient, where it is one number. */
  gradValue?(node: number): number | null;
  scale: readonly [number, number] | null;
  breaks: ReadonlySet<number>;
  chosen: number;
  hits: ReadonlySet<number>;
}

export interface Deeds {
  choose(node: number): void;
  toggle(group: number): void;
}
