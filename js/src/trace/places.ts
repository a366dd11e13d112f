// Where things are: which entries of an input led to the bad ones of the output, and which line a row stands on.

import type { Nd } from "../shared/payload";
import type { Origin, Row, Source, Table } from "./types";

/** The rows of an array of indices. */
export function indices(at: Nd): number[][] {
  const wide = at.shape[1] ?? 0;
  return Array.from({ length: at.shape[0] ?? 0 }, (_, i) => Array.from(at.data.subarray(i * wide, (i + 1) * wide)));
}

/** The place in an array of shape `shape` that an entry of an array of shape `to` was computed from, if one was. */
export function matching(at: number[], to: number[], shape: number[]): number[] | null {
  const lead = to.length - shape.length;
  if (lead < 0 || shape.some((n, i) => n !== 1 && n !== to[lead + i])) return null;
  return shape.map((n, i) => (n === 1 ? 0 : (at[lead + i] as number)));
}

/** The cells of a table, as "row,column", that a origin's bad entries came from. */
export function causes(origin: Origin, table: Table): Set<string> {
  const to = origin.outputs[0]?.shape ?? [];
  const found = new Set<string>();
  const none = to.map(() => 0);
  // Where an entry comes from many of some input, as of a matrix product, no entry of another one explains it.
  if (origin.inputs.some((one) => !matching(none, to, one.shape))) return found;
  for (const at of indices(origin.at)) {
    const place = matching(at, to, table.shape);
    if (!place || table.lead.some((n, i) => place[i] !== n)) continue;
    const [row, column] = [place.length < 2 ? 0 : (place.at(-2) as number), place.at(-1) ?? 0];
    found.add(`${row - table.start[0]},${column - table.start[1]}`);
  }
  return found;
}

/** The number of the source's line that a row stands on; null where the row stands in another file. */
export function lineOf(row: Row, source: Source): number | null {
  const file = source.where.replace(/^In \[(\d+)\]$/, "cell [$1]");
  return row.line !== null && row.where === `${file}, line ${row.line}` ? row.line : null;
}

/** Indices as a sentence has them: "[1, 0], [1, 2] and 14 more". */
export function listed(at: number[][], count: number, most = 4): string {
  const some = at.slice(0, most).map((one) => `[${one.join(", ")}]`);
  const rest = count - some.length;
  if (rest > 0) return `${some.join(", ")} and ${rest} more`;
  return some.length > 1 ? `${some.slice(0, -1).join(", ")} and ${some.at(-1)}` : (some[0] ?? "");
}
