// How boxes look: the states of nodes as classes, and words cut to the room they have.

export type Stand = "" | "done" | "here" | "pending" | "never";

export const COLUMN = 6.93;
export const SMALL = 6.63;

export const cut = (text: string, room: number): string =>
  text.length <= room ? text : room < 2 ? "" : `${text.slice(0, room - 1)}…`;

export const SAID: Record<Stand, string> = { "": "", done: "done", here: "here", pending: "pending", never: "never reached" };

export function dress(element: SVGGElement, stand: Stand, chosen: boolean, hit: boolean): void {
  for (const one of ["done", "here", "pending"]) element.classList.toggle(`vt-${one}`, one === stand);
  if (stand === "never") element.classList.add("vt-never");
  element.classList.toggle("vt-chosen", chosen);
  element.classList.toggle("vt-hit", hit);
  element.setAttribute("aria-pressed", String(chosen));
}
