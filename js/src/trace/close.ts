// One origin from close by: what went in, what came out, as small tables with their indices.

import { button, el } from "../shared/dom";
import { num, shapeText } from "../shared/format";
import { type Sign, sign, typeset } from "../shared/report";
import { causes, indices, listed } from "./places";
import type { Origin, Table } from "./types";

function bad(value: number): Sign {
  return Number.isNaN(value) ? "nan" : value === Infinity ? "posinf" : value === -Infinity ? "neginf" : "beyond";
}

function grid(origin: Origin, table: Table, cause: boolean): HTMLElement {
  const [rows, columns] = table.values.shape as [number, number];
  const from = cause ? causes(origin, table) : new Set<string>();
  const flat = table.shape.length < 2;
  const cells: HTMLElement[] = [el("span")];
  for (let j = 0; j < columns; j++) cells.push(el("i", { role: "columnheader", text: String(table.start[1] + j) }));
  for (let i = 0; i < rows; i++) {
    cells.push(el("i", { role: "rowheader", text: flat ? "" : String(table.start[0] + i) }));
    for (let j = 0; j < columns; j++) {
      const value = table.values.data[i * columns + j] as number;
      const wrong = table.bad.data[i * columns + j] === 1;
      const cell = el("span", { role: "cell" }, wrong ? sign(bad(value), 9) : null, num(value, columns > 4 ? 3 : 4));
      if (wrong) cell.className = "vt-tr-bad";
      else if (from.has(`${i},${j}`)) cell.className = "vt-tr-cause";
      cells.push(cell);
    }
  }
  const made = el("div.vt-tr-grid", { role: "table", "aria-label": table.name, tabindex: 0 }, ...cells);
  made.style.gridTemplateColumns = `auto repeat(${columns}, minmax(max-content, 1fr))`;
  return made;
}

/** A sentence in which what stands between backticks is code. */
export const code = (text: string): (Node | string)[] =>
  text.split("`").map((part, i) => (i % 2 ? el("span.vt-tr-code", { text: part }) : part));

function part(origin: Origin, table: Table, role: string): HTMLElement[] {
  const lead = table.lead.length ? `[${[...table.lead, ":", ":"].join(", ")}]` : "";
  const few = table.whole || !table.values.data.length ? "" : " · a part";
  return [
    el(
      "div.vt-rp-line",
      {},
      el("span", { text: role }),
      el("span.vt-tr-code", { text: `${table.name}${lead}` }),
      el("span.vt-space"),
      el("span", { text: `${shapeText(table.shape)} ${table.dtype}${few}` }),
    ),
    grid(origin, table, role === "in"),
  ];
}

/** The panel of one origin among several. */
export function close(
  origin: Origin,
  number: number,
  all: number,
  turn: (by: number) => void,
  signal: AbortSignal,
): HTMLElement[] {
  const at = indices(origin.at);
  const turns = all > 1 ? el("span.vt-tr-turn", {}, el("span", { text: `origin ${number + 1} of ${all}` })) : null;
  turns?.prepend(button("button.vt-ic", "‹", "previous origin  [", () => turn(-1), signal));
  turns?.append(button("button.vt-ic", "›", "next origin  ]", () => turn(1), signal));
  const line = el(
    "div.vt-rp-line",
    {},
    el("b", { text: origin.op }),
    el("span", { text: `${origin.pass}, ${origin.where}` }),
  );
  const inside = [
    ...origin.inputs.flatMap((table) => part(origin, table, "in")),
    ...origin.outputs.flatMap((table) => part(origin, table, "out")),
  ];
  return [
    ...(turns ? [turns] : []),
    line,
    // Of the first one the sentence above says it.
    ...(number ? [el("div.vt-tr-how", { text: typeset(origin.how) })] : []),
    ...inside,
    ...(at[0]?.length ? [el("div.vt-note.vt-tr-at", { text: `at ${listed(at, origin.count)}` })] : []),
    ...(origin.cure ? [el("div.vt-note.vt-tr-at", {}, el("b", { text: "Cure: " }), ...code(`${origin.cure}.`))] : []),
  ];
}
