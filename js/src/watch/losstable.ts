// The curve of the loss as a table, for who cannot see it or wants the numbers.

import { el } from "../shared/dom";
import { count } from "../shared/format";
import { loss as lossText, NONE, rate } from "./numbers";
import { at } from "./rate";
import type { State } from "./types";

/** The loss in at most sixty pieces, the newest first. */
export function lossTable(state: State): HTMLElement {
  const { curve, lr } = state.loss;
  const n = curve.mean.shape[1] ?? 0;
  const each = Math.max(1, Math.ceil(n / 60));
  const heads = ["steps", "mean", "least", "largest", "lr", "validation"];
  const rows: string[][] = [];
  for (let start = 0; start < n; start += each) {
    let [sum, known, low, high, bad] = [0, 0, Infinity, -Infinity, 0];
    for (let c = start; c < Math.min(n, start + each); c++) {
      const v = curve.mean.data[c] as number;
      bad += curve.bad.data[c] as number;
      if (v !== v) continue;
      sum += v;
      known++;
      low = Math.min(low, curve.low.data[c] as number);
      high = Math.max(high, curve.high.data[c] as number);
    }
    if (!known && !bad) continue;
    const [a, b] = [start * curve.width, Math.min(state.head.step, (start + each) * curve.width - 1)];
    const check = state.validation.find((one) => one.step >= a && one.step <= b && one.loss !== null);
    rows.push([
      a >= b ? count(b) : `${count(Math.max(1, a))} to ${count(b)}`,
      bad ? (known ? `${lossText(sum / known)}, ${count(bad)} not finite` : "not finite") : lossText(sum / known),
      known ? lossText(low) : NONE,
      known ? lossText(high) : NONE,
      rate(at(lr, b)),
      check ? lossText(check.loss) : "",
    ]);
  }
  const line = (cells: string[], role: string): HTMLElement =>
    el("div.vt-w-tr", { role: "row" }, ...cells.map((text) => el("span", { role, text })));
  const body = el("div.vt-w-table", { role: "table", "aria-label": "loss by step" });
  body.append(line(heads, "columnheader"), ...rows.reverse().map((cells) => line(cells, "cell")));
  body.style.setProperty("--columns", "1.5fr repeat(3, 1fr) 0.8fr 1.3fr");
  return body;
}
