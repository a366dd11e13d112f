// Memory over time: the peak in a sentence, the curve, and every node that keeps something, the largest first.

import { Linked } from "../graph/linked";
import { button, el } from "../shared/dom";
import { count, percent, shapeText } from "../shared/format";
import type { Frame } from "../shared/frame";
import { called, card, foot, listing, sentence, sign } from "../shared/report";
import { chart } from "./chart";
import { alive, type Order, ordered, size } from "./ticks";
import type { Row, State } from "./types";

const ORDERS: [Order, string][] = [
  ["bytes", "largest first"],
  ["made", "as they were made"],
  ["freed", "as they were freed"],
];

export function show(state: State, { root, model, signal }: Frame): () => void {
  const facts = [`${count(state.nodes)} ${state.nodes === 1 ? "node keeps" : "nodes keep"} something`];
  if (state.leaves) facts.push(`${size(state.leaves)} of parameters not counted`);
  const made = card("memory", state.title, facts, state.report, signal, [state.source]);
  const text = state.peak.bytes
    ? `At most ${size(state.peak.bytes)} are kept for backward${state.peak.what ? `, after ${state.peak.what}` : ""}${
        state.peak.where ? ` (${state.peak.where})` : ""
      }.`
    : "Nothing is kept for backward.";
  made.root.append(
    el(
      "div.vt-rp-verdict",
      { role: "status" },
      ...(state.peak.bytes ? [sign("peak"), " "] : []),
      ...sentence(text, [size(state.peak.bytes), state.peak.what]),
    ),
  );
  for (const said of state.says) made.root.append(el("div.vt-rp-more", { text: said }));
  root.append(made.root);
  if (!state.rows.length) return () => {};

  const most = Math.max(1, ...state.rows.map((row) => row.bytes));
  const last = state.bytes.data.length - 1;
  const bar = (row: Row): HTMLElement => {
    const made = el("i.vt-me-bar", { "aria-hidden": "true" });
    made.style.width = `${((100 * row.bytes) / most).toFixed(1)}%`;
    return el("span.vt-me-space", {}, made);
  };
  const shared = (row: Row): string =>
    row.shared ? (row.bytes ? `and shares ${size(row.shared)}` : `shares ${size(row.shared)}`) : "";
  const life = (row: Row): HTMLElement => {
    const end = row.freed ?? last + 1;
    const made = el("i", { class: row.at_peak ? "vt-me-span vt-me-atpeak" : "vt-me-span" });
    made.style.left = `${((100 * row.made) / (last + 1)).toFixed(2)}%`;
    made.style.width = `${Math.max(1, (100 * (end - row.made)) / (last + 1)).toFixed(2)}%`;
    return el("span.vt-me-life-space", { "aria-hidden": "true" }, made);
  };
  const nodes = listing<Row>(
    "nodes",
    [
      {
        name: "bytes",
        width: "max-content",
        end: true,
        fill: (row) => [
          ...(row.bytes || !row.shared ? [el("span.vt-me-bytes", { text: size(row.bytes) })] : []),
          ...(row.shared ? [el("em", { text: shared(row) })] : []),
        ],
      },
      { name: "share", width: "96px", fill: (row) => [bar(row)] },
      {
        name: "node",
        width: "minmax(140px, 1fr)",
        fill: (row) =>
          called(row, row.name, ...(row.where ? [el("em.vt-me-where", { text: row.where, title: row.where })] : [])),
      },
      {
        name: "saved",
        width: "minmax(80px, 0.6fr)",
        fill: (row) => [
          el("em", { text: row.shapes.map((one) => shapeText(one)).join(", ") }),
          ...(Object.keys(state.devices).length ? [el("em", { text: row.device })] : []),
        ],
      },
      {
        name: "kept from … until",
        width: "minmax(110px, 0.6fr)",
        fill: (row) => [
          life(row),
          el("em.vt-me-ticks", { text: `${row.made} … ${row.freed ?? "end"}${row.at_peak ? " · at peak" : ""}` }),
        ],
      },
    ],
    state.rows,
    (row) => {
      curve.life(row.made, row.freed ?? last + 1);
      picture?.choose(row.id);
    },
    signal,
  );
  const lines = [...nodes.root.querySelectorAll<HTMLElement>(".vt-rp-body > .vt-rp-row")];
  const curve = chart(
    state,
    (tick) => state.rows.forEach((row, i) => lines[i]?.classList.toggle("vt-me-gone", !alive(row, tick))),
    signal,
  );

  const picture = state.graph
    ? new Linked(state.graph, "the graph that keeps it: a click on an op finds its row", model, signal, (id) => {
        const index = state.rows.findIndex((row) => row.id === id);
        const row = state.rows[index];
        if (!row) return;
        nodes.choose(index);
        curve.life(row.made, row.freed ?? last + 1);
      })
    : null;

  let order: Order = "bytes";
  const turns = ORDERS.map(([by, words]) =>
    button("button", words, "", () => {
      order = by;
      arrange();
    }, signal),
  );
  function arrange(): void {
    nodes.show(ordered(state.rows, order));
    turns.forEach((one, i) => one.setAttribute("aria-pressed", String(ORDERS[i]?.[0] === order)));
  }
  arrange();
  const top = state.rows.filter((row) => row.at_peak).sort((a, b) => b.bytes - a.bytes).slice(0, 3);
  const share = percent(top.reduce((n, row) => n + row.bytes, 0), state.peak.bytes);
  made.root.append(
    curve.root,
    el(
      "div.vt-me-orders",
      { role: "group", "aria-label": "order of the nodes" },
      ...turns,
      el("span.vt-space"),
      ...(top.length === 3 && state.rows.length > 4
        ? [el("span.vt-note", { text: `the three largest at the peak are ${share} of it` })]
        : []),
    ),
    el(
      "div.vt-rp-main.vt-rp-alone",
      {},
      nodes.root,
      ...(state.nodes > state.rows.length
        ? [el("div.vt-note", { text: `${count(state.nodes - state.rows.length)} smaller nodes are not listed` })]
        : []),
    ),
    ...(picture ? [picture.root] : []),
    foot(
      [["peak", "the peak"]],
      [
        ["← →", "time"],
        ["p", "peak"],
        ["↑ ↓", "nodes"],
        ["c", "copy"],
      ],
    ),
  );
  return () => {};
}
