// The lines that ran, with what happened on each.

import { el } from "../shared/dom";
import { sign } from "../shared/report";
import type { Source } from "./types";

export interface Lines {
  root: HTMLElement;
  /** Mark the line of a row. */
  here(line: number | null): void;
}

export function lines(source: Source): Lines {
  const rows = source.lines.map((line) => {
    const origin = line.marks.find(([words]) => words.startsWith("starts here"));
    const made = el(
      "div.vt-tr-src",
      { role: "listitem" },
      el("i", { text: String(line.number) }),
      el("span", { text: line.text }),
      el(
        "span.vt-tr-marks",
        {},
        ...line.marks.map(([words, state]) => el("em", {}, sign(state, 11), words)),
      ),
    );
    if (origin) made.classList.add("vt-tr-start");
    return made;
  });
  return {
    root: el("div.vt-tr-lines", { role: "list", "aria-label": source.where, tabindex: 0 }, ...rows),
    here(line) {
      source.lines.forEach((one, i) => rows[i]?.classList.toggle("vt-tr-here", one.number === line));
    },
  };
}
