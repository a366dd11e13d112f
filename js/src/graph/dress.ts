// How boxes look: the states of nodes as classes, and words cut to the width they have.

import { sign } from "../shared/signs";
import { svg } from "./svg";
import { MARKS } from "./types";

export type Stand = "" | "done" | "here" | "pending" | "never";

export const cut = (text: string, space: number): string =>
  text.length <= space ? text : space < 2 ? "" : `${text.slice(0, space - 1)}…`;

export const SAID: Record<Stand, string> = { "": "", done: "done", here: "here", pending: "pending", never: "never reached" };

export function dress(element: SVGGElement, stand: Stand, chosen: boolean, hit: boolean): void {
  for (const one of ["done", "here", "pending"]) element.classList.toggle(`vt-${one}`, one === stand);
  if (stand === "never") element.classList.add("vt-never");
  element.classList.toggle("vt-chosen", chosen);
  element.classList.toggle("vt-hit", hit);
  element.setAttribute("aria-pressed", String(chosen));
}

/** The mark of what a trace found in a box, of a closed group the worst within, on its left side: edges and what is
 * written on them come in from above, to the right of their line. */
export function found(worst: number, x: number, middle: number): SVGGElement[] {
  const name = MARKS[worst];
  if (!name) return [];
  const mark = sign(name, 16);
  mark.setAttribute("x", String(x - 11));
  mark.setAttribute("y", String(middle - 8));
  const ground = svg("circle", { cx: x - 3, cy: middle, r: 8.5 });
  return [svg("g", { class: `vt-found vt-found-${name}` }, svg("title", { text: name }), ground, mark)];
}
