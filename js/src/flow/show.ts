// Gradient flow: one sentence, a bar a parameter on one logarithmic scale, and the numbers of the row that is chosen.

import { button, el } from "../shared/dom";
import { count, num, percent, shapeText } from "../shared/format";
import type { Frame } from "../shared/frame";
import { type Real, real } from "../shared/payload";
import { card, foot, listing, sign } from "../shared/report";
import { decades, type Order, ordered, place, wrong } from "./order";
import type { Row, State } from "./types";

const ORDERS: [Order, string][] = [
  ["model", "as in the model"],
  ["small", "smallest first"],
  ["large", "largest first"],
];

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
const known = (value: Real | null): string => (value === null ? "–" : num(real(value)));

export function show(state: State, { root, signal }: Frame): () => void {
  const made = card("flow", state.title, [`${count(state.rows.length)} parameters`], state.report, signal);
  const bad = state.rows.some(wrong);
  made.root.append(
    el(
      `div.vt-rp-verdict${bad ? ".vt-rp-apart" : ".vt-fl-fine"}`,
      { role: "status" },
      ...(bad ? [sign("own"), " "] : []),
      state.verdict,
    ),
  );
  const cures = new Set(state.rows.filter((row) => row.cure).map((row) => capital(`${row.state}: ${row.cure}`)));
  for (const said of [...cures, ...state.says]) made.root.append(el("div.vt-rp-more", { text: said }));
  root.append(made.root);
  if (!state.rows.length) return () => {};

  const at = (share: number): string => `${(100 * share).toFixed(2)}%`;
  const lines = [
    ...decades(state.scale).map((decade) => [place(10 ** decade, state.scale), "i.vt-fl-decade"] as const),
    ...state.bounds.map(real).filter((bound) => bound > 0 && Math.log10(bound) > state.scale[0] && Math.log10(bound) < state.scale[1]).map(
      (bound) => [place(bound, state.scale), "i.vt-fl-bound"] as const,
    ),
  ];
  const bar = (row: Row): HTMLElement => {
    const space = el("span.vt-fl-space", { "aria-hidden": "true" });
    for (const [share, what] of lines) {
      const line = el(what);
      line.style.left = at(share ?? 0);
      space.append(line);
    }
    const [norm, most] = [place(row.norm, state.scale), place(row.max, state.scale)];
    if (norm === null) {
      const text = row.bad ? `${count(row.bad)} not finite` : row.state;
      space.append(el(`span.vt-fl-none${row.bad ? ".vt-fl-bad" : ""}`, { text }));
      return space;
    }
    const fill = el(wrong(row) ? "i.vt-fl-bar.vt-fl-odd" : "i.vt-fl-bar");
    fill.style.width = `max(1px, ${at(norm)})`;
    space.append(fill);
    if (most !== null) {
      const tick = el("i.vt-fl-tick");
      tick.style.left = at(most);
      space.append(tick);
    }
    return space;
  };
  const detail = el("div.vt-fl-detail", { role: "status" });
  const chosen = (row: Row): void => {
    const parts = [el("b", { text: row.name }), ` ${shapeText(row.shape)}`];
    if (row.norm !== null) {
      const share = row.zeros === null ? "" : `, ${percent(row.zeros * row.count, row.count)} exact zeros`;
      parts.push(
        ` · gradient: norm ${known(row.norm)}, mean ${known(row.mean)}, ` +
          `largest ${known(row.max)}${share} · weight: norm ${known(row.weight)}`,
      );
    }
    if (row.state !== "in range") parts.push(` · ${row.state}${row.cure ? `: ${row.cure}` : ""}`);
    detail.replaceChildren(...parts);
  };
  const axis = el("span.vt-fl-axis", { "aria-hidden": "true" });
  for (const decade of decades(state.scale)) {
    const mark = el("span", { text: `1e${decade}`.replace("-", "−") });
    mark.style.left = at(place(10 ** decade, state.scale) ?? 0);
    axis.append(mark);
  }
  const table = listing<Row>(
    "gradients by parameter",
    [
      {
        name: "parameter",
        width: "minmax(120px, max-content)",
        fill: (row) => [
          ...(wrong(row) ? [sign(row.bad ? "nan" : "own", 11)] : []),
          el("b", { text: row.name }),
          el("em", { text: shapeText(row.shape) }),
        ],
      },
      { name: "norm, logarithmic", width: "minmax(140px, 1fr)", fill: (row) => [bar(row)] },
      {
        name: "norm",
        width: "max-content",
        end: true,
        fill: (row) => [known(row.norm)],
      },
      { name: "largest", width: "max-content", end: true, fill: (row) => [known(row.max)] },
      {
        name: "zeros",
        width: "max-content",
        end: true,
        fill: (row) => [row.zeros === null ? "–" : percent(row.zeros * row.count, row.count)],
      },
      { name: "grad / weight", width: "max-content", end: true, fill: (row) => [known(row.relative)] },
    ],
    state.rows,
    chosen,
    signal,
  );
  table.root.querySelector(".vt-rp-heads .vt-rp-cell:nth-child(2)")?.replaceChildren(axis, "norm");
  const turns = ORDERS.map(([by, words]) => button("button", words, "", () => arrange(by), signal));
  function arrange(order: Order): void {
    table.show(ordered(state.rows, order));
    turns.forEach((one, i) => one.setAttribute("aria-pressed", String(ORDERS[i]?.[0] === order)));
  }
  arrange("model");
  const first = Math.max(0, state.rows.findIndex(wrong));
  table.choose(first);
  chosen(state.rows[first] as Row);
  made.root.append(
    el(
      "div.vt-fl-orders",
      { role: "group", "aria-label": "order of the parameters" },
      ...turns,
      el("span.vt-space"),
      el("span.vt-note", { text: "bar: norm of the gradient · tick: its largest entry" }),
    ),
    el("div.vt-rp-main.vt-rp-alone", {}, table.root, detail),
    foot(
      [],
      [
        ["↑ ↓", "parameters"],
        ["c", "copy"],
      ],
    ),
  );
  return () => {};
}
