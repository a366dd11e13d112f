// Training on several ranks: how it goes, losses by rank, one step as a time line, who holds the others up, and a table.
// A row, a digit or an arrow chooses a rank in every view.

import { button, el, on, onWidth } from "../shared/dom";
import { bytes, count, num } from "../shared/format";
import type { Frame } from "../shared/frame";
import { real } from "../shared/payload";
import { card, sign } from "../shared/report";
import { type Controls, controls } from "./bar";
import { losses } from "./losses";
import { parting } from "./parting";
import { timeline } from "./timeline";
import type { Row, State } from "./types";

const GOING = new Set(["Running", "Waiting", "No answer", "Paused"]);
const share = (value: number | null): string => (value === null ? "–" : `${Math.round(100 * value)} %`);
const ms = (value: number | null): string => (value === null ? "–" : `${value.toFixed(1)} ms`);

/** What a person chose stays while the record is drawn again. */
interface Chosen {
  rank: number;
  log: boolean;
  newest: boolean;
  bar: Controls | null;
  focus: HTMLElement | null; // what the keyboard was in as the last drawing ended
  from: number | null; // where in its text
}

export function show(state: State, frame: Frame): () => void {
  const { root, signal } = frame;
  const kept = root as HTMLElement & { chosenRank?: Chosen };
  const slow = state.rows.find((row) => row.warn);
  const now: Chosen = (kept.chosenRank ??= { rank: -1, log: false, newest: false, bar: null, focus: null, from: null });
  const rank = (): number => (now.rank >= 0 ? now.rank : (slow?.rank ?? 0));
  const { focus, from } = now;
  now.focus = null;
  signal.addEventListener(
    "abort",
    () => {
      const active = document.activeElement;
      now.focus = active instanceof HTMLElement && root.contains(active) ? active : null;
      now.from = active instanceof HTMLInputElement ? active.selectionStart : null;
    },
    { once: true },
  );
  const live = frame.model.get("live") === true;
  const name = GOING.has(state.state) && !live ? "As saved" : state.state;

  const made = card("ranks", state.title, [`${count(state.ranks)} ranks`, state.backend].filter(Boolean), state.report, signal);
  made.root.classList.add("vt-watch", "vt-rk");
  const fact = (what: string, value: string, more = ""): HTMLElement =>
    el("dl", {}, el("dt", { text: what }), el("dd", {}, el("b", { text: value }), more ? ` ${more}` : null));
  const tone = state.alarm?.bad ? "bad" : state.state === "No answer" || state.state === "Paused" ? "warn" : GOING.has(state.state) ? "good" : "calm";
  made.root.append(
    el(
      "div.vt-rk-head",
      {},
      el("span", { class: `vt-rk-state vt-rk-${tone}`, role: "status", text: name }),
      ...(state.parting
        ? []
        : [
            fact("step", count(state.done)),
            fact("speed", state.speed === null ? "–" : state.speed.toFixed(1), "steps/s"),
          ]),
      fact("ranks", count(state.ranks), state.hosts > 1 ? `on ${state.hosts} hosts` : "on this machine"),
      state.parting ? null : fact("waiting", share(state.waiting)),
    ),
  );
  const bar = (now.bar ??= controls());
  bar.meet(frame.model, signal);
  bar.update(state, live);
  made.root.append(bar.root);
  if (state.alarm) {
    made.root.append(
      el(
        `div.vt-rk-alarm${state.alarm.bad ? ".vt-rk-fatal" : ""}`,
        { role: "alert" },
        el("b", {}, sign(state.alarm.bad ? "nan" : "own"), " ", state.alarm.title),
        el("p", { text: state.alarm.text }),
      ),
    );
  }
  if (state.parting) {
    made.root.append(parting(state.parting));
    root.append(made.root);
    const fit = (): void => void made.root.classList.toggle("vt-rk-narrow", (made.root.clientWidth || 900) < 734);
    onWidth(made.root, fit, signal);
    fit();
    return () => {};
  }
  const left = el("div.vt-rk-part");
  const right = el("div.vt-rk-part");
  made.root.append(el("div.vt-rk-main", {}, left, right));
  made.root.append(
    el(
      "div",
      { class: state.verdict ? "vt-rk-say" : "vt-rk-say vt-rk-quiet" },
      state.verdict ? el("b", { text: state.verdict.split(". ")[0] + "." }) : null,
      state.verdict ? ` ${state.verdict.split(". ").slice(1).join(". ")}` : null,
      state.more ? el("div.vt-note", { text: state.more }) : null,
    ),
  );
  const table = el("div.vt-rk-table", { role: "grid", "aria-label": "the ranks" });
  made.root.append(table);
  root.append(made.root);

  const pair = (names: [string, string], second: boolean, label: string, turn: (second: boolean) => void): HTMLElement =>
    el(
      "span.vt-rk-pair",
      { role: "group", "aria-label": label },
      ...names.map((text, i) => {
        const one = button("button", text, "", () => turn(i === 1), signal);
        one.setAttribute("aria-pressed", String((i === 1) === second));
        return one;
      }),
    );
  const legend = (items: [string, string][]): HTMLElement =>
    el("div.vt-rk-legend", {}, ...items.map(([look, text]) => el("span", {}, el("i", { class: look }), text)));

  function draw(): void {
    const wide = made.root.clientWidth || 900;
    const narrow = wide < 734;
    made.root.classList.toggle("vt-rk-narrow", narrow);
    const space = wide - 26;
    const [first, second] = narrow ? [space, space] : [Math.floor(((space - 28) * 4) / 11), Math.floor(((space - 28) * 7) / 11)];
    const mean = Array.from(state.mean.data, Number);
    left.replaceChildren(
      el(
        "div.vt-rk-title",
        {},
        el("h3", { text: "Loss by rank" }),
        el("b", { text: mean.length ? num(mean[mean.length - 1] ?? NaN) : "–" }),
        el("span.vt-space"),
        pair(["linear", "log"], now.log, "scale of the loss", (log) => {
          now.log = log;
          draw();
        }),
      ),
      legend([
        ["vt-rk-key-mean", "mean"],
        ["vt-rk-key-band", "lowest to highest rank"],
        ["vt-rk-key-each", "each"],
      ]),
      losses(state, first, 232, rank(), now.log),
    );
    const step = now.newest ? state.newest : state.middle;
    right.replaceChildren(
      el(
        "div.vt-rk-title",
        {},
        el("h3", { text: "One step" }),
        el("b", { text: step ? ms(step.total) : "–" }),
        el("span.vt-space"),
        pair([`step ${state.newest ? count(state.newest.number) : "–"}`, `median of ${state.of}`], !now.newest, "which step", (middle) => {
          now.newest = !middle;
          draw();
        }),
      ),
      legend([
        ["vt-rk-load", "load"],
        ["vt-rk-forward", "forward"],
        ["vt-rk-backward", "backward"],
        ["vt-rk-exchange", "all-reduce by bucket"],
        ["vt-rk-key-wait", "waits: ms, for which rank"],
        ["vt-rk-optimizer", "optimizer"],
      ]),
      step ? timeline(step, second, rank()) : el("div.vt-note", { text: "no step yet" }),
    );
    fill();
  }
  const heads = ["rank", "host", "loss", "steps/s alone", "waited", "share of the step", "memory", "last seen", "finding"];
  function cells(row: Row): (Node | string)[] {
    const bar = el("span.vt-rk-bar", { "aria-hidden": "true" }, el("i"));
    (bar.firstChild as HTMLElement).style.width = `${100 * (row.share ?? 0)}%`;
    return [
      el("span.vt-rk-rank", { text: row.rank }),
      row.host,
      row.loss === null ? "–" : num(real(row.loss)),
      el("b", { text: row.alone === null ? "–" : row.alone.toFixed(1) }),
      ms(row.waited),
      el("span", {}, bar, share(row.share)),
      row.memory ? bytes(row.memory) : "–",
      row.seen === null ? "–" : `${row.seen.toFixed(1)} s`,
      row.warn ? el("b.vt-rk-warn", { text: `▲ ${row.finding}` }) : row.finding,
    ];
  }
  function fill(): void {
    const line = (what: string, parts: (Node | string)[], look: string): HTMLElement =>
      el("div", { class: look, role: "row" }, ...parts.map((part) => el("span", { role: what }, part)));
    const rows = state.rows.map((row) => {
      const own = row.rank === rank();
      const made = line("gridcell", cells(row), `vt-rk-row${own ? " vt-rk-sel" : ""}`);
      made.tabIndex = own ? 0 : -1;
      made.dataset["rank"] = String(row.rank);
      made.setAttribute("aria-selected", String(own));
      on(made, "click", () => choose(row.rank), signal);
      return made;
    });
    table.replaceChildren(line("columnheader", heads, "vt-rk-row vt-rk-heads"), ...rows);
  }
  function choose(to: number): void {
    if (to < 0 || to >= state.rows.length) return;
    now.rank = state.rows[to]?.rank ?? 0;
    draw();
    table.querySelector<HTMLElement>(".vt-rk-sel")?.focus();
  }
  on(
    made.root,
    "keydown",
    (e) => {
      if (e.ctrlKey || e.metaKey || e.altKey || (e.target as HTMLElement).closest("input,textarea,select")) return;
      const place = state.rows.findIndex((row) => row.rank === rank());
      const word = { p: "pause", s: "step" }[e.key];
      if (word) {
        e.preventDefault();
        e.stopPropagation();
        bar.ask(word);
        return;
      }
      const to = /^\d$/.test(e.key) ? +e.key : e.key === "ArrowDown" ? place + 1 : e.key === "ArrowUp" ? place - 1 : null;
      if (to === null) return;
      e.preventDefault();
      e.stopPropagation();
      choose(to);
    },
    signal,
  );
  let wide = 0;
  if (typeof ResizeObserver === "function") {
    const seen = new ResizeObserver(() => {
      if (made.root.clientWidth === wide) return;
      wide = made.root.clientWidth;
      draw();
    });
    seen.observe(made.root);
    signal.addEventListener("abort", () => seen.disconnect(), { once: true });
  }
  draw();
  if (!focus) return () => {};
  const again = focus.dataset["rank"] ? table.querySelector<HTMLElement>(`[data-rank="${focus.dataset["rank"]}"]`) : focus;
  again?.focus({ preventScroll: true });
  if (again instanceof HTMLInputElement && from !== null) again.setSelectionRange(from, from);
  return () => {};
}
