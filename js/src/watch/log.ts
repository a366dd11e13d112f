// What was done to the run, the newest first: step, what, and what came of it.

import { el } from "../shared/dom";
import { count } from "../shared/format";
import type { Entry } from "./types";
import { type Part, unchanged, type View } from "./view";

const MOST = 300;
const ONCE = "one step";

/** The entries, with steps that were made one by one, after one another, as one. */
export function folded(items: Entry[]): Entry[] {
  const out: Entry[] = [];
  let times = 0;
  let first = 0;
  for (const one of items) {
    const before = out[out.length - 1];
    const goes = one.what === ONCE && before?.what.startsWith(ONCE) && before.undone === one.undone;
    if (!goes) {
      out.push(one);
      [times, first] = [1, one.step];
      continue;
    }
    times++;
    out[out.length - 1] = { ...one, what: `${ONCE} × ${times}`, effect: `from step ${count(first)} on` };
  }
  return out;
}

export function log(view: View): Part {
  const root = el("div.vt-log.vt-w-table", { role: "table", "aria-label": "log of the run" });
  root.style.setProperty("--columns", "28px 56px minmax(120px, 1fr) minmax(0, 1.3fr)");
  const same = unchanged();
  const line = (cells: string[], role: string, kind: string): HTMLElement =>
    el("div", { class: `vt-w-tr ${kind}`, role: "row" }, ...cells.map((text) => el("span", { role, text })));
  return {
    root,
    paint() {
      const { items } = view.state.log;
      if (same(items.length, items[items.length - 1]?.number, items.filter((one) => one.undone).length)) return;
      const shown = folded(items).slice(-MOST).reverse();
      root.replaceChildren(
        line(["no.", "step", "what", "effect"], "columnheader", ""),
        ...shown.map((one) =>
          line(
            [String(one.number), count(one.step), one.what, one.effect],
            "cell",
            `vt-entry${one.undone ? " vt-w-undone" : ""}${/refused$/.test(one.what) ? " vt-w-refusal" : ""}`,
          ),
        ),
      );
      if (!shown.length) root.append(el("div.vt-w-none", { text: "Nothing has been done to this run." }));
      if (items.length > MOST) root.append(el("div.vt-w-none", { text: `and ${count(items.length - MOST)} before` }));
    },
  };
}
