// What changed since a version, put into the state that the page has. The state that was given is left as it was, and
// what did not change keeps its identity: parts of the page look at that before they draw.

import { type Check, num, partial } from "../shared/check";
import type { Nd, Numbers } from "../shared/payload";
import { check, type Columns, EACH, type Log, type Mistake, type Mistakes, MOST, type State } from "./types";

/** What changed since a version: the sections that did. */
export interface Delta extends Partial<State> {
  version: number;
  since: number;
}

const sections = partial(check);

/** Throws where what arrived is not a delta: each section is as in a whole state. */
export const checkDelta: Check<Delta> = (value, at) => {
  sections(value, at);
  num((value as Delta).version, `${at}.version`);
  num((value as Delta).since, `${at}.since`);
};


/** The first `from` columns of one array and all of another, row by row. */
function joined(old: Nd, given: Nd, from: number): Nd {
  const [rows, had, more] = [given.shape[0] ?? 0, old.shape[1] ?? 0, given.shape[1] ?? 0];
  const wide = from + more;
  const data = new (given.data.constructor as new (n: number) => Numbers)(rows * wide);
  const keep = Math.min(from, had);
  for (let row = 0; row < rows; row++) {
    data.set(old.data.subarray(row * had, row * had + keep), row * wide);
    if (keep < from && data instanceof Float32Array) data.fill(NaN, row * wide + keep, row * wide + from);
    data.set(given.data.subarray(row * more, (row + 1) * more), row * wide + from);
  }
  return { data, shape: [rows, wide] };
}

export function columns(old: Columns | null, given: Columns | null): Columns | null {
  if (!given || !old || given.from === 0 || given.width !== old.width) return given;
  if (given.low.shape[0] !== old.low.shape[0]) return given;
  const part = (name: "low" | "high" | "mean" | "bad"): Nd => joined(old[name], given[name], given.from);
  return { width: given.width, from: 0, low: part("low"), high: part("high"), mean: part("mean"), bad: part("bad") };
}

const cellOf = (m: Mistake): string => `${m.label} ${m.read} ${m.where}`;
const same = (a: Mistake, b: Mistake): boolean =>
  a.step === b.step && a.index === b.index && cellOf(a) === cellOf(b) && String(a.top) === String(b.top);

/** The newest eight of each cell, oldest first; what came twice is taken once. */
export function mistakes(old: Mistakes, given: Mistakes): Mistakes {
  if (given.whole) return given;
  const fresh = given.items.filter((m) => !old.items.some((had) => same(had, m)));
  if (!fresh.length) return { ...old, after: given.after };
  const held = new Map<string, number>();
  const items = [...old.items, ...fresh]
    .reverse()
    .filter((m) => {
      const n = (held.get(cellOf(m)) ?? 0) + 1;
      held.set(cellOf(m), n);
      return n <= EACH;
    })
    .reverse();
  return { whole: true, after: given.after, items: items.slice(-MOST) };
}

export function log(old: Log, given: Log): Log {
  if (given.whole) return given;
  const last = old.items[old.items.length - 1]?.number ?? 0;
  return { whole: true, items: [...old.items, ...given.items.filter((entry) => entry.number > last)] };
}

/** Whether a delta goes onto a state: it begins at or before what the page has. */
export const fits = (state: State, delta: Delta): boolean => delta.since === 0 || delta.since <= state.version;

/** The state after a delta. */
export function merge(state: State, delta: Delta): State {
  const { since, ...given } = delta;
  if (since === 0) return { ...state, ...given };
  if (given.version < state.version) return state;
  // The same version: only what moves with time, such as the speed, is another.
  if (given.version === state.version) return { ...state, head: given.head ?? state.head };
  const next: State = { ...state, ...given };
  if (given.loss) {
    next.loss = {
      ...given.loss,
      curve: columns(state.loss.curve, given.loss.curve) as Columns,
      lr: columns(state.loss.lr, given.loss.lr),
    };
  }
  if (given.flow) next.flow = { ...given.flow, columns: columns(state.flow.columns, given.flow.columns) };
  if (given.mistakes) next.mistakes = mistakes(state.mistakes, given.mistakes);
  if (given.log) next.log = log(state.log, given.log);
  return next;
}
