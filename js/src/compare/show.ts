// A comparison: the first difference in a sentence, every op with its difference, and the values where it begins.

import { el } from "../shared/dom";
import { count, num } from "../shared/format";
import type { Frame } from "../shared/frame";
import { real } from "../shared/payload";
import { called, card, foot, listing, only, sentence, sign, within } from "../shared/report";
import { maps } from "./maps";
import type { First, Leaf, Row, Side, State } from "./types";

const WORDS = { same: "same", own: "its own", inherited: "inherited", differs: "differs" } as const;

const lone = (row: Row): boolean => row.a === null || row.b === null;
export const apart = (row: Row): boolean =>
  lone(row) || [row.forward, row.backward].some((one) => one !== null && one.state !== "same");

function far(side: Partial<Side>): string {
  if (side.shapes) return side.shapes;
  return `${num(real(side.largest))} in ${count(side.beyond ?? 0)} of ${count(side.size ?? 0)}`;
}

function mark(side: Side | null, row: Row, names: readonly string[]): (Node | string)[] {
  if (lone(row)) {
    const words = `only in ${names[row.b === null ? 0 : 1]}`;
    return [sign("only"), el("span.vt-cm-apart", { text: words })];
  }
  if (!side) return [el("span.vt-rp-none", { text: "–", "aria-label": "did not run" })];
  if (side.state === "same") return [sign("clean"), el("span.vt-cm-same", { text: "same" })];
  const word = el(side.state === "own" ? "strong" : "span", { class: "vt-cm-apart", text: WORDS[side.state] });
  return [sign(side.state), word, el("em", { text: far(side) })];
}

export function show(state: State, { root, theme, signal }: Frame): () => void {
  const differ = state.differing;
  const tolerance =
    state.rtol === null && state.atol === null
      ? "tolerance by type"
      : `rtol ${state.rtol ?? "by type"}, atol ${state.atol ?? "by type"}`;
  const facts = [`${count(state.ops)} op${state.ops === 1 ? "" : "s"}`];
  if (differ) facts.push(`${count(differ)} differ`);
  facts.push(tolerance);
  const made = card("compare", state.title, facts, state.report, signal, state.libraries);
  const wrong = differ > 0 || state.leaves.length > 0;
  const first = state.first;
  const from = state.rows.find((row) => row.id === first?.row);
  const bold = from ? [`${from.op} (number ${from.id + 1})`] : [];
  made.root.append(
    el(
      "div",
      { role: "status", class: `vt-rp-verdict ${wrong ? "vt-rp-apart" : "vt-rp-good"}` },
      sign(wrong ? "differs" : "fine"),
      " ",
      ...sentence(state.sentence, bold),
    ),
  );

  const side = el("div.vt-rp-side", { role: "region", "aria-label": "the difference" });
  const ops = listing<Row>(
    "ops",
    [
      { name: "", width: "auto", end: true, fill: (row) => [el("em", { text: String(row.id + 1) })] },
      {
        name: "op",
        width: "minmax(100px, 1fr)",
        fill: (row) => called(row, row.op),
      },
      { name: "forward ↓", width: "minmax(110px, 1fr)", fill: (row) => mark(row.forward, row, state.names) },
      {
        name: "backward ↑",
        width: "minmax(110px, 1fr)",
        fill: (row) => (lone(row) ? [] : mark(row.backward, row, state.names)),
      },
    ],
    state.rows,
    (row) => about(row),
    signal,
  );
  const picture = first ? maps(first, state.names, theme, signal) : null;

  function about(row: Row): void {
    const line = (name: string, one: Side | null): HTMLElement[] => {
      if (!one) return [];
      const text = one.state === "same" ? "the same" : `largest difference ${far(one)}`;
      const more = one.state === "same" || one.shapes ? "" : `, relative ${num(real(one.relative), 3)}`;
      const fed =
        one.own === null || one.state === "same"
          ? ""
          : `; fed what ${state.names[0]} gave it, it differs by ${num(real(one.own))}`;
      return [el("div.vt-cm-fact", {}, el("span", { text: name }), el("span", { text: `${text}${more}${fed}` }))];
    };
    const here = first !== null && row.id === first.row;
    const wide = here ? where(first) : "";
    side.replaceChildren(
      el(
        "div.vt-rp-line",
        {},
        el("b", { text: row.op }),
        el("span", { text: [`number ${row.id + 1}`, within(row.module), row.layer].filter(Boolean).join(" ") + wide }),
      ),
      ...(row.line ? [el("div.vt-cm-code", { text: row.line })] : []),
      ...line("forward", row.forward),
      ...line("backward", row.backward),
      ...(here && picture ? [picture.root] : []),
    );
    if (here) picture?.repaint();
  }

  const evidence = el("div.vt-rp-main", {}, el("div", {}, ops.root, ...rest(state), ...leaves(state.leaves, state.names)), side);
  made.root.append(evidence);
  const at = Math.max(0, first ? state.rows.findIndex((row) => row.id === first.row) : state.rows.findIndex(apart));
  const start = state.rows[at];
  if (start) about(start);
  else side.hidden = true;
  if (state.rows.length > 12 && !state.rows.every(apart)) made.tools.append(only("Only what differs", state.rows.map(apart), ops, signal));
  ops.choose(at);
  if (!wrong) evidence.hidden = true;
  else
    made.root.append(
      foot(
        [
          ["own", `its own: differs also on the inputs of ${state.names[0]}`],
          ["inherited", "inherited"],
          ["clean", "same"],
        ],
        [
          ["↑ ↓", "ops"],
          ["c", "copy"],
        ],
      ),
    );
  root.append(made.root);
  requestAnimationFrame(() => signal.aborted || picture?.repaint()); // off the page there are no colours yet
  return () => picture?.repaint();
}

const where = (first: First): string =>
  first.pass === "forward" ? "" : `, its gradient ${first.output ? `of input ${first.output + 1}` : ""}`.trimEnd();

function rest(state: State): HTMLElement[] {
  const missing = state.ops - state.rows.length;
  return missing ? [el("div.vt-rp-line", { text: `${count(missing)} more ops are not listed` })] : [];
}

function leaves(all: Leaf[], names: readonly string[]): HTMLElement[] {
  if (!all.length) return [];
  const some = all.slice(0, 12).map((leaf) =>
    el(
      "div",
      { role: "listitem" },
      el("b", { text: `${leaf.name}.grad` }),
      leaf.only ? ` only in ${names[leaf.only === "a" ? 0 : 1]}` : ` ${far(leaf)}`,
    ),
  );
  const rest = all.length - some.length;
  return [
    el("div.vt-rp-line", { text: `${all.length} gradient${all.length === 1 ? "" : "s"} differ` }),
    el("div.vt-rp-ends", { role: "list" }, ...some, rest ? el("div", { text: `and ${rest} more` }) : null),
  ];
}
