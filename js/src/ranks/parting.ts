// Where ranks part: what differs, in the order of the step, by rank; the line of source; the seeds; the cure.

import { el } from "../shared/dom";
import { num } from "../shared/format";
import { sign } from "../shared/report";
import type { Parting } from "./types";

const TICK = /`([^`]+)`/;

/** Text in which what stands between backticks is code. */
function spoken(text: string): (Node | string)[] {
  return text.split(TICK).map((part, i) => (i % 2 ? el("code", { text: part }) : part));
}

export function parting(found: Parting): HTMLElement {
  const head = el(
    `div.vt-rk-alarm${found.apart ? "" : ".vt-rk-fine"}`,
    { role: found.apart ? "alert" : "status" },
    el("b", {}, sign(found.apart ? "differs" : "fine"), " ", found.title),
    el("p", {}, ...spoken(found.text)),
  );
  const root = el("div", {}, head);
  const left = el("div.vt-rk-part");
  const right = el("div.vt-rk-part");
  const ranks = found.rows[0]?.sums.length ?? found.seeds[0]?.values.length ?? 0;
  const heads = (): HTMLElement[] => Array.from({ length: ranks }, (_, rank) => el("th", { text: rank, scope: "col" }));
  const cells = (sums: string[], odd: boolean[]): HTMLElement[] =>
    sums.map((sum, i) => el("td", { class: odd[i] ? "vt-rk-odd" : "vt-rk-even", text: odd[i] ? `≠ ${sum}` : sum }));
  const table = (first: HTMLElement[], last: HTMLElement[], rows: HTMLElement[]): HTMLElement =>
    el(
      "div.vt-rk-scroll",
      { tabindex: 0, role: "region", "aria-label": "what differs, by rank" },
      el("table.vt-rk-parts", {}, el("thead", {}, el("tr", {}, ...first, ...heads(), ...last)), el("tbody", {}, ...rows)),
    );
  if (found.rows.length) {
    left.append(
      el("div.vt-rk-title", {}, el("h3", { text: "What differs, in the order of the step" })),
      table(
        [el("th", { text: "tensor", scope: "col" }), el("th", { text: "when", scope: "col" })],
        [el("th", { text: "differs by", scope: "col" })],
        found.rows.map((row) =>
          el(
            "tr",
            { class: row.first ? "vt-rk-firstly" : "" },
            el("td.vt-rk-name", { text: row.tensor }),
            el("td.vt-rk-when", { text: row.when }),
            ...cells(row.sums, row.odd),
            el("td", { text: row.differs === null ? "–" : num(row.differs) }),
          ),
        ),
      ),
      el("div.vt-note", { text: "Four digits of a checksum of all bytes, by rank." }),
    );
  }
  if (found.code.length)
    right.append(
      el("div.vt-rk-title", {}, el("h3", { text: "Where" }), el("span.vt-note", { text: found.file })),
      el(
        "div.vt-rk-code",
        {},
        ...found.code.map((line) =>
          el("div", { class: line.hit ? "vt-rk-hit" : "" }, el("i", { text: line.number }), el("span", { text: line.text })),
        ),
      ),
    );
  if (found.seeds.length)
    right.append(
      table(
        [el("th", { text: "", scope: "col" })],
        [],
        found.seeds.map((seed) => el("tr", {}, el("td.vt-rk-name", { text: seed.name }), ...cells(seed.values, seed.odd))),
      ),
    );
  right.append(...found.notes.map((note) => el("div.vt-note", { text: note })));
  if (found.cure) right.append(el("p.vt-rk-cure", {}, el("b", { text: "Cure: " }), ...spoken(found.cure)));
  const parts = [left, right].filter((part) => part.childNodes.length);
  if (parts.length) root.append(el(`div.vt-rk-main.vt-rk-parted${parts.length < 2 ? ".vt-rk-single" : ""}`, {}, ...parts));
  return root;
}
