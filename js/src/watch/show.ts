// The panel: its parts, what is chosen in it, and when it paints. Deltas are merged as they come and painted in the
// next frame; parts that cannot be seen are not painted.

import { atEnd, el, on, painter } from "../shared/dom";
import { listen } from "../shared/model";
import type { Frame } from "../shared/frame";
import { warning } from "./alarm";
import { classes } from "./classes";
import { confusion, worstCell } from "./confusion";
import { controls } from "./controls";
import { cutOff } from "./cut";
import { filters } from "./filters";
import { findings } from "./findings";
import { flow } from "./flow";
import { head } from "./head";
import { health } from "./health";
import { positions, tokens } from "./language";
import { link } from "./link";
import { log } from "./log";
import { loss } from "./loss";
import { merge } from "./merge";
import { residuals, scatter } from "./regression";
import { result } from "./result";
import { samples } from "./samples";
import { tabs } from "./tabs";
import { kindOf, why } from "./task";
import type { Kind, State } from "./types";
import { type Part, put, tally, type View } from "./view";

type Pane = "findings" | "confusion" | "residuals" | "tokens" | "flow" | "health" | "filters" | "log" | "result";

const PANES: [Pane, string][] = [
  ["findings", "Findings"],
  ["confusion", "Confusion"],
  ["residuals", "Residuals"],
  ["tokens", "Tokens"],
  ["flow", "Gradient |flow"],
  ["health", "Layer |health"],
  ["filters", "Filters"],
  ["log", "Log"],
  ["result", "Result"],
];
const KEYS = [
  ["p", "pause or resume"],
  ["s", "one step, when paused"],
  ["l", "go to the learning rate; Enter sets it"],
  ["r", "go to the snapshots; at an alarm: rewind"],
  ["t", "at an alarm: trace that step"],
  ["i", "at an alarm: step into it"],
  ["g", "at an alarm: go on anyway"],
  ["b", "open the stepper on the next backward pass"],
  ["1 … 7", "open a tab"],
  ["arrows", "walk in a list, a matrix, a curve, a row of tabs"],
  ["Enter", "open the chosen cell"],
  ["Esc", "leave a field, close this list"],
  ["?", "this list"],
];
const FOLLOW = 3000; // between two changes of the cell that is looked at by itself

let panels = 0;

export function show(first: State, { root, model, theme, signal, failed }: Frame): () => void {
  const name = `vt-w-${++panels}`;
  let pane: Pane = "confusion";
  let opened = false; // the table of results opens by itself once
  let followed = -FOLLOW;
  let announced = ""; // the alarm that has opened its tab
  const kernel = link(
    model,
    () => view.state,
    (delta) => {
      view.state = merge(view.state, delta);
      again();
    },
    failed,
    signal,
  );
  const view: View = {
    state: first,
    theme,
    signal,
    get live() {
      return kernel.live;
    },
    get cut() {
      return cutOff(view.state.head, kernel.live, (model as { lost?: string }).lost ?? "");
    },
    of: "window",
    cell: null,
    picked: false,
    output: 0,
    order: [],
    again: () => again(),
    ask(word, fields = {}) {
      if (!kernel.live) return;
      hands.asked(word);
      kernel.send(word, fields, (say, refused) => hands.answered(word, say, refused));
    },
  };
  const keys = el(
    "div.vt-w-keys",
    { role: "dialog", "aria-label": "keys", hidden: true, tabindex: -1 },
    ...KEYS.flatMap(([key, text]) => [
      el("span", {}, el("kbd", { text: key as string })),
      el("span", { text: text as string }),
    ]),
  );
  const top = head(view);
  const hands = controls(view, () => toggleKeys());
  const alarm = warning(view);
  const curve = loss(view);
  const byClass = classes(view, (label) => {
    const t = tally(view.state, view.of);
    const { pairs, counts } = t?.counts ?? {};
    let [read, most] = [label, 0];
    if (pairs && counts)
      for (let i = 0; i < counts.data.length; i++) {
        const [a, b, n] = [pairs.data[2 * i] as number, pairs.data[2 * i + 1] as number, counts.data[i] as number];
        if (a === label && b !== label && n > most) [read, most] = [b, n];
      }
    choose(label, read);
    open("confusion");
  });
  const beside: Record<Exclude<Kind, "loss">, Part> = {
    classification: byClass,
    regression: scatter(view),
    language: positions(view),
  };
  const alone = el("div.vt-w-caption.vt-w-wrap");
  const mainrow = el("div.vt-w-mainrow", {}, curve.root, byClass.root);
  const matrix = confusion(view, choose);
  const behind = samples(view);
  const both = el("div.vt-w-two", {}, matrix.root, behind.root);
  const well = health(view);
  const wrong = findings(view);
  const panes: Record<Pane, Part> = {
    findings: wrong,
    confusion: {
      root: both,
      paint() {
        matrix.paint();
        behind.paint();
      },
    },
    residuals: residuals(view),
    tokens: tokens(view),
    flow: flow(view),
    health: well,
    filters: filters(view),
    log: log(view),
    result: result(view),
  };
  const row = tabs<Pane>(
    "details",
    "vt-w-tabs",
    PANES.map(([key, text]) => ({ key, text })),
    open,
    signal,
  );
  const pauses = el("input", { type: "checkbox" });
  const held = el("label.vt-w-autopause", {}, pauses, "pause at an alarm");
  let wished: boolean | null = null; // what a person set, until the loop has done so
  on(
    pauses,
    "change",
    () => {
      wished = pauses.checked;
      view.ask("autopause", { on: wished });
    },
    signal,
  );
  const [flags, entries, found] = [el("span.vt-w-count"), el("span.vt-w-count"), el("span.vt-w-count")];
  row.button("findings").append(found);
  row.button("health").append(flags);
  row.button("log").append(entries);
  const bodies = PANES.map(([key]) => {
    row.button(key).id = `${name}-${key}-tab`;
    row.button(key).setAttribute("aria-controls", `${name}-${key}`);
    return el(
      "div.vt-w-pane",
      { role: "tabpanel", id: `${name}-${key}`, "aria-labelledby": `${name}-${key}-tab`, hidden: true },
      panes[key].root,
    );
  });
  const card = el(
    "div.vt-card.vt-watch",
    { tabindex: 0, role: "group", "aria-label": "training", "data-lm-suppress-shortcuts": "true" },
    top.root,
    hands.root,
    alarm.root,
    mainrow,
    el("div.vt-w-tabrow", {}, row.root, held),
    el("div.vt-w-panes", {}, ...bodies),
    keys,
  );

  function choose(label: number, read: number): void {
    view.cell = [label, read];
    view.picked = true;
    again();
  }

  /** How often a cell of the matrix was seen. */
  function times([label, read]: [number, number]): number {
    const { pairs, counts } = tally(view.state, view.of)?.counts ?? {};
    if (!pairs || !counts) return 0;
    for (let i = 0; i < counts.data.length; i++)
      if (pairs.data[2 * i] === label && pairs.data[2 * i + 1] === read) return counts.data[i] as number;
    return 0;
  }

  function open(key: Pane): void {
    pane = key;
    PANES.forEach(([one], i) => ((bodies[i] as HTMLElement).hidden = one !== key));
    row.mark(key);
    again();
  }

  function toggleKeys(): void {
    keys.hidden = !keys.hidden;
    if (keys.hidden) card.focus({ preventScroll: true });
    else keys.focus({ preventScroll: true });
  }

  on(
    card,
    "keydown",
    (e) => {
      if (e.ctrlKey || e.metaKey || e.altKey) return;
      if ((e.target as HTMLElement).closest("input, select, textarea")) return;
      if (e.key === "Escape") {
        if (!keys.hidden) toggleKeys();
        else if (view.picked) {
          view.picked = false;
          again();
        } else return;
      } else if (/^[1-7]$/.test(e.key)) {
        const to = PANES.filter(([key]) => !row.button(key).hidden)[Number(e.key) - 1];
        if (!to) return;
        open(to[0]);
      } else if (alarm.key(e.key)) {
        e.preventDefault();
        e.stopPropagation();
        return;
      } else if (!view.live && e.key !== "?") return;
      else if (!hands.key(e.key)) return;
      e.preventDefault();
      e.stopPropagation();
    },
    signal,
  );

  /** What stands beside the curve, and the tabs that have something to show. */
  function arrange(over: boolean): void {
    const { state } = view;
    const kind = kindOf(state);
    if (kind !== mainrow.dataset["task"]) {
      mainrow.dataset["task"] = kind;
      mainrow.replaceChildren(curve.root, kind === "loss" ? alone : beside[kind].root);
    }
    if (kind === "loss") put(alone, why(state));
    const classified = kind === "classification";
    const has: Record<Pane, boolean> = {
      findings: state.findings !== undefined,
      confusion: classified && !state.several,
      residuals: kind === "regression",
      tokens: kind === "language",
      flow: state.flow.names.length > 0 || !state.head.step,
      health: state.health.layers.length > 0 || !state.head.step,
      filters: state.filters === null ? !state.head.step : state.filters.choices.length > 0,
      log: true,
      result: over && classified,
    };
    for (const [key] of PANES) row.button(key).hidden = !has[key];
    if (!has[pane]) open((PANES.find(([key]) => has[key] && key !== "findings") as [Pane, string])[0]);
  }

  function paint(): void {
    const { state } = view;
    const over = ["finished", "ended", "stopped", "interrupted", "error"].includes(state.head.status);
    if (over && !opened) {
      opened = true;
      const others = state.task?.values ?? state.task?.tokens;
      if (tally(state, "validation") || others?.validation) view.of = "validation";
      if (kindOf(state) === "classification" && pane === "confusion" && !view.picked && view.live) return open("result");
    } else if (!over) opened = false;
    if (pane === "result" && !over) return open("confusion");
    arrange(over);
    const alarmed = state.head.alarm?.now && state.findings ? state.head.alarm.say : "";
    if (alarmed && alarmed !== announced) {
      announced = alarmed;
      return open("findings");
    }
    // Canvases first: text on a canvas makes the browser work out every style that was changed before it.
    const drawn = pane === "flow" || pane === "filters";
    curve.paint();
    if (drawn) panes[pane].paint();
    card.dataset["status"] = view.cut ? "interrupted" : state.head.status;
    top.paint();
    hands.paint();
    alarm.paint();
    hands.root.hidden = alarm.shown();
    card.toggleAttribute("data-alarm", Boolean(state.head.alarm?.now) && state.head.status === "paused");
    held.hidden = state.head.autopause === null || state.head.autopause === undefined || over || !view.live;
    if (wished === state.head.autopause || over) wished = null;
    pauses.checked = wished ?? Boolean(state.head.autopause);
    const kind = kindOf(state);
    if (kind !== "loss") beside[kind].paint();
    const now = performance.now();
    const gone = now - followed > FOLLOW / 3 && view.cell !== null && !times(view.cell);
    if (!view.picked && (now - followed > FOLLOW || gone || state.head.status !== "running")) {
      followed = now;
      view.cell = worstCell(view);
    }
    if (!drawn) panes[pane].paint();
    const bad = well.flagged();
    put(flags, bad === null ? "" : bad ? String(bad) : "ok");
    const [count, worst] = wrong.badge();
    put(found, String(count));
    found.hidden = !count;
    found.dataset["kind"] = worst ? "bad" : "warn";
    flags.dataset["kind"] = bad ? "warn" : "good";
    flags.hidden = bad === null;
    const lines = state.log.items.length;
    put(entries, String(lines));
    entries.hidden = !lines;
  }

  const again = painter(paint, signal);
  listen(model, "change:live", again, signal);
  root.append(card);
  open(pane);
  paint();
  atEnd(signal, () => card.remove());
  return () => {
    // other colours: everything that remembers what it drew asks the theme's ink, and so draws again
    again();
  };
}
