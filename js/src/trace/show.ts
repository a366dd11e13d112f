// A trace: the sentence, the lines with the origin marked, every op with its marks, and the bad values from close by.

import { Linked } from "../graph/linked";
import { button, el, on } from "../shared/dom";
import { count } from "../shared/format";
import type { Frame } from "../shared/frame";
import { called, card, foot, type Listing, listing, only, sentence, sign, typeset } from "../shared/report";
import { close, code } from "./close";
import { lineOf } from "./places";
import { lines } from "./source";
import type { Mark, Row, State } from "./types";

const many = (n: number, what: string): string => `${n} ${what}${n === 1 ? "" : "s"}`;

function mark(found: Mark | null): (Node | string)[] {
  if (!found) return [el("span.vt-rp-none", { text: "–", "aria-label": "did not run" })];
  const word = el(found.state === "origin" ? "b" : "span", { class: `vt-tr-${found.state}`, text: found.state });
  return [sign(found.state), word, ...(found.text ? [el("em", { text: typeset(found.text) })] : [])];
}

const good = (row: Row): boolean =>
  [row.forward, row.backward].every((one) => one === null || one.state === "clean");

export function show(state: State, { root, model, signal }: Frame): () => void {
  const origins = state.first ? [state.first, ...state.origins] : [];
  const wrong = state.rows.some((row) => !good(row));
  const facts = [`${many(state.forward, "op")} forward`, `${state.backward} back`];
  if (state.bound !== null) facts.push(`bad: not finite, or beyond ${state.bound}`);
  const made = card("trace", state.title, facts, state.report, signal, [state.library]);

  const kind = origins.length ? "vt-rp-bad" : wrong ? "" : "vt-rp-good";
  const verdict = el(
    "div.vt-rp-verdict",
    { role: "status", class: `vt-rp-verdict ${kind}` },
    wrong || origins.length ? null : sign("fine"),
    wrong || origins.length ? null : " ",
    ...sentence(typeset(state.sentence), state.first ? [state.first.where, state.first.op] : []),
  );
  made.root.append(verdict);
  for (const text of [state.course ?? "", state.more, ...state.says].filter(Boolean))
    made.root.append(el("div.vt-rp-more", {}, ...code(typeset(text))));
  if (state.error)
    made.root.append(
      el("div.vt-rp-more.vt-tr-error", {}, sign("failed"), ` The cell ended with ${state.error}`),
    );

  const source = state.source ? lines(state.source) : null;
  const side = el("div.vt-rp-side", { role: "region", "aria-label": "the bad value", "aria-live": "polite" });
  let shown = 0;
  let ops: Listing | null = null;

  function look(origin: number): void {
    const one = origins[origin];
    if (!one) return;
    shown = origin;
    side.replaceChildren(...close(one, origin, origins.length, turn, signal));
  }
  function turn(by: number): void {
    const back = document.activeElement?.getAttribute("aria-label");
    const next = (shown + by + origins.length) % origins.length;
    look(next);
    const index = state.rows.findIndex((row) => row.id === origins[next]?.row);
    ops?.choose(index);
    follow(state.rows[index]);
    // The buttons are new: focus stays on the one that was pressed.
    if (back) [...side.querySelectorAll("button")].find((one) => one.getAttribute("aria-label") === back)?.focus();
  }
  function follow(row: Row | undefined): void {
    source?.here(row && state.source ? lineOf(row, state.source) : null);
    picture?.choose(row?.id ?? -1);
  }

  ops = listing<Row>(
    "ops",
    [
      { name: "line", width: "auto", fill: (row) => [el("em", { text: row.line === null ? "" : String(row.line) })] },
      {
        name: "op",
        width: "minmax(110px, 1.2fr)",
        fill: (row) => called(row, row.op, el("em.vt-tr-written", { text: row.code, title: row.code })),
      },
      { name: "forward ↓", width: "minmax(110px, 1fr)", fill: (row) => mark(row.forward) },
      { name: "backward ↑", width: "minmax(110px, 1fr)", fill: (row) => mark(row.backward) },
    ],
    state.rows,
    (row) => {
      follow(row);
      closer(row);
    },
    signal,
  );
  function closer(row: Row): void {
    const origin = origins.findIndex((one) => one.row === row.id);
    if (origin >= 0) look(origin);
  }
  const picture = state.graph
    ? new Linked(state.graph, "the graph of its backward pass, with what was found at each op", model, signal, (id) => {
        const index = state.rows.findIndex((row) => row.id === id);
        const row = state.rows[index];
        if (!row) return;
        ops?.choose(index);
        source?.here(state.source ? lineOf(row, state.source) : null);
        closer(row);
      })
    : null;

  const evidence = el("div");
  if (source) evidence.append(source.root);
  const main = el("div.vt-rp-main", {}, el("div", {}, ops.root, ...ends(state)));
  if (origins.length) {
    look(0);
    main.append(side);
    const at = state.rows.findIndex((row) => row.id === origins[0]?.row);
    ops.choose(at);
    picture?.choose(origins[0]?.row ?? -1);
  } else main.classList.add("vt-rp-alone");
  evidence.append(main);
  if (picture) evidence.append(picture.root);
  made.root.append(evidence);
  if (state.rows.length > 12 && wrong) made.tools.append(only("Only what is bad", state.rows.map((row) => !good(row)), ops, signal));
  if (!wrong && !state.error) {
    // Quiet until wrong: what all went well is one click away.
    evidence.hidden = true;
    const words = ["Show the ops", "Hide the ops"] as const;
    const open = button("button", words[0], "", () => {
      evidence.hidden = !evidence.hidden;
      open.textContent = words[evidence.hidden ? 0 : 1];
      open.setAttribute("aria-expanded", String(!evidence.hidden));
    }, signal);
    open.setAttribute("aria-expanded", "false");
    if (state.rows.length) made.tools.append(open);
  }
  if (wrong || origins.length)
    made.root.append(
      foot(
        [
          ["origin", "origin: good in, bad out"],
          ["propagated", "propagated"],
          ["healed", "healed"],
          ["clean", "clean"],
        ],
        [["↑ ↓", "ops"], ...(origins.length > 1 ? ([["[ ]", "origins"]] as [string, string][]) : []), ["c", "copy"]],
      ),
    );
  if (origins.length > 1)
    on(
      made.root,
      "keydown",
      (e) => {
        const by = { "[": -1, "]": 1 }[e.key];
        if (!by) return;
        e.preventDefault();
        e.stopPropagation();
        turn(by);
      },
      signal,
    );
  root.append(made.root);
  return () => {};
}

/** The gradients that the bad values end in. */
function ends(state: State): HTMLElement[] {
  if (!state.leaves.length) return [];
  const most = 8;
  const found = state.leaves.slice(0, most).map((leaf) => {
    const kinds = [
      [leaf.nan, "NaN"],
      [leaf.posinf, "+inf"],
      [leaf.neginf, "−inf"],
      [leaf.beyond, "beyond the bound"],
    ] as [number, string][];
    const some = kinds.filter(([n]) => n);
    const [n, kind] = some[0] ?? [0, ""];
    const text =
      some.length === 1
        ? `${count(n)} of ${count(leaf.size)} ${kind}`
        : `${some.map(([k, what]) => `${count(k)} ${what}`).join(" + ")} of ${count(leaf.size)}`;
    return el("div", { role: "listitem" }, el("b", { text: `${leaf.name}.grad` }), ` ${text}`);
  });
  const rest = state.leaves.length - found.length;
  return [
    el("div.vt-rp-line", { text: `ends in ${many(state.leaves.length, "gradient")}` }),
    el("div.vt-rp-ends", { role: "list" }, ...found, rest ? el("div", { text: `and ${rest} more` }) : null),
  ];
}
