// The numbers of a layer: eight at sight, and all of them in a table for who cannot see the picture.

import { el } from "../shared/dom";
import { bytes, count, num, percent, shapeText } from "../shared/format";
import { real } from "../shared/payload";
import type { Sheet } from "./sheet";
import type { Item } from "./types";

/** What stands beside the name: shape, dtype, device, bytes, and the notes. */
export const metaOf = (item: Item): string[] =>
  [shapeText(item.shape), item.dtype, item.device, bytes(item.nbytes), ...item.notes].filter((text) => text !== "");

export interface Fact {
  name: string;
  text: string;
  bad: boolean;
}

export function facts(sheet: Sheet, digits = 4): Fact[] {
  const { stats } = sheet.face;
  const number = (value: unknown): string => {
    const n = real(value);
    if (value === null || value === undefined) return "–";
    return /^u?int/.test(sheet.item.dtype) && Number.isInteger(n) ? sheet.write(n) : num(n, digits);
  };
  const infinite = (stats.posinf ?? 0) + (stats.neginf ?? 0);
  const fact = (name: string, text: string, bad = false): Fact => ({ name, text, bad });
  return [
    fact("min", number(stats.min)),
    fact("max", number(stats.max)),
    fact("mean", number(stats.mean)),
    fact("std", number(stats.std)),
    fact("zero", stats.zeros === null ? "–" : percent(stats.zeros, stats.count)),
    fact("median", number(stats.median)),
    fact("NaN", count(stats.nan ?? 0), Boolean(stats.nan)),
    fact("±inf", count(infinite), infinite > 0),
  ];
}

export function factList(sheet: Sheet): HTMLElement {
  // A median that was not computed is left out.
  const known = facts(sheet).filter(({ name, text }) => name !== "median" || text !== "–");
  const rows = known.map(({ name, text, bad }) =>
    el("div", {}, el("span", { text: name }), el("b", { text, class: bad ? "vt-badc" : null })),
  );
  return el("div.vt-stats", {}, ...rows);
}

/** The table behind the picture. */
export function factTable(sheets: readonly Sheet[]): HTMLElement {
  const row = (name: string, texts: string[]): HTMLElement =>
    el("tr", {}, el("th", { scope: "row", text: name }), ...texts.map((text) => el("td", { text })));
  const first = sheets[0] as Sheet;
  const caption = `${first.item.name || "array"}: ${metaOf(first.item).join(", ")}`;
  const body = facts(first).map(({ name }, i) =>
    row(
      name,
      sheets.map((sheet) => facts(sheet)[i]?.text ?? ""),
    ),
  );
  const head =
    sheets.length > 1
      ? [
          row(
            "",
            sheets.map((sheet) => sheet.item.role || sheet.item.name),
          ),
        ]
      : [];
  const scales = row(
    "colour scale",
    sheets.map((sheet) => sheet.scale.say),
  );
  return el("table.vt-hidden", {}, el("caption", { text: caption }), el("tbody", {}, ...head, ...body, scales));
}
