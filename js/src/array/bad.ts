// The values that are not finite, one after the other: [ and ] walk through them in the order of the array.

import { unravel } from "./axes";
import type { Bad, Item } from "./types";

export const KINDS = [NaN, Infinity, -Infinity] as const;

export const total = (bad: Bad): number => bad.nan + bad.posinf + bad.neginf;

/** The parts of the counter: which sign, how many, what they are called. */
export function tally(bad: Bad): { sign: "nan" | "posinf" | "neginf"; text: string }[] {
  const parts: { sign: "nan" | "posinf" | "neginf"; text: string }[] = [];
  if (bad.nan) parts.push({ sign: "nan", text: `${bad.nan} NaN` });
  if (bad.posinf) parts.push({ sign: "posinf", text: `${bad.posinf} +inf` });
  if (bad.neginf) parts.push({ sign: "neginf", text: `${bad.neginf} −inf` });
  return parts;
}

const flat = (index: readonly number[], shape: readonly number[]): number =>
  index.reduce((at, i, axis) => at * (shape[axis] as number) + i, 0);

/** Which of the known bad values stands at an index, -1 for none. */
export const whichAt = (item: Item, index: readonly number[]): number =>
  item.bad.at.data.indexOf(flat(index, item.shape));

/** The known bad value after (or before) an index, round and round; null where there is none. */
export function nextBad(item: Item, index: readonly number[], step: 1 | -1): { index: number[]; which: number } | null {
  const { data } = item.bad.at;
  if (!data.length) return null;
  const here = flat(index, item.shape);
  let which = -1;
  if (step > 0) {
    which = data.findIndex((at) => at > here);
    if (which < 0) which = 0;
  } else {
    for (let i = 0; i < data.length && (data[i] as number) < here; i++) which = i;
    if (which < 0) which = data.length - 1;
  }
  return { index: unravel(data[which] as number, item.shape), which };
}
