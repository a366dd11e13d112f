// The page of a stepper: the graph with a cursor, the transport, and what happens at the step it stands at. Every
// frame came with the page, so it steps both ways with no kernel; with one, `.grad` of the leaves follows.

import { button, el, on, onWidth } from "../shared/dom";
import type { Frame } from "../shared/frame";
import { Board } from "../graph/board";
import { Closer } from "../graph/closer";
import { Folds } from "../graph/folds";
import { single, type Value } from "../graph/heat";
import { checkOf, type Witness } from "../graph/inspect";
import { Kernel } from "../graph/kernel";
import { Search } from "../graph/search";
import { sample, titleOf, widths } from "../graph/show";
import { Ask } from "./ask";
import { Asking } from "./asking";
import { Cards, chain } from "./cards";
import { Course } from "./course";
import { Follow } from "./follow";
import { inspectOther, inspectStep, type Pane } from "./inspect";
import { Play } from "./play";
import { Transport } from "./transport";
import { Travel } from "./travel";
import type { State } from "./types";

export function show(state: State, { root, model, theme, signal }: Frame): () => void {
  const course = new Course(state);
  const kernel = new Kernel(model, signal);
  const line = chain(course);
  const checked = new Map<number, Witness[]>();
  const breaks = new Set<number>();
  const status = el("div.vt-stop", { role: "status" });
  const note = el("div.vt-note.vt-answer", { role: "status" });
  const aside = el("div.vt-inspector", { role: "region", "aria-label": "the step", tabindex: 0 });
  const pane: Pane = { course, theme, width: 284, signal, again: [] };
  const say = (text: string): void => void (note.textContent = text);
  let stood = -1; // the step before which a breakpoint stopped: to run again goes past it
  let chosen = -1; // a node of the record that is looked at, -1: the one of the step
  const travel = new Travel(theme, signal);
  const ask = new Ask(course, state.ask);
  const asking = new Asking(
    ask,
    {
      again: () => {
        paint();
        asking.focus();
      },
      next: () => {
        go(course.at + 1);
        if (!asking.focus()) stand();
      },
      toggle: () => toggle(),
    },
    signal,
  );
  function toggle(): void {
    if (!ask.questions.size) return;
    ask.on = !ask.on;
    play.stop();
    paint();
    if (!ask.on || !asking.focus()) stand();
  }
  const closer = new Closer(kernel, signal);
  const follow = new Follow(kernel, (frames, why) => {
    course.at = course.stepOf(frames);
    report(why, true);
    paint();
  });

  function report(text: string, bad = false): void {
    // A graph below must not move when a run stops: the line has its place from the start.
    status.textContent = text || idle();
    status.hidden = Boolean(line) && !text;
    status.classList.toggle("vt-badly", bad);
    status.classList.toggle("vt-quiet", !text);
  }

  /** Where a run has stopped, and for which breakpoint where the name does not say it. */
  function stopped(step: number, name: string): string {
    const why = course.stops.get(step) ?? "";
    const op = state.nodes[course.step(step)[0]?.node ?? -1]?.name ?? "";
    const by = why && why !== op && why !== name ? `, breakpoint ${why}` : "";
    const number = course.partial ? course.frames(step) + 1 : step + 1;
    return `Stopped before step ${number}, ${name}${op && op !== name ? ` (${op})` : ""}${by}: it has not run yet.`;
  }

  function idle(): string {
    const texts = [...new Set(course.stops.values())];
    const waits = state.held && !follow.over ? "the cell waits here · " : "";
    if (texts.length) return `${waits}a run stops at: ${texts.join(" · ")}`;
    return breaks.size ? "a run stops at the breakpoints you set" : "a click runs to a node; b sets a breakpoint there";
  }

  /** The node that the inspector shows: the chosen one, the one a run stopped before, the newest. */
  function subject(): number {
    if (chosen >= 0) return chosen;
    const frame = stood === course.at || course.at === 0 ? course.step(course.at)[0] : course.here;
    return frame?.node ?? -1;
  }

  function go(to: number, stop = ""): void {
    const next = Math.max(0, Math.min(course.count, to));
    const [moved, from] = [next !== course.at, course.at];
    course.at = next;
    chosen = -1;
    stood = stop ? next : -1;
    report(stop);
    if (moved) follow.go(course.frames());
    const held = root.contains(document.activeElement);
    paint();
    if (!course.hidden) send(from, next);
    else if (held && next > from) asking.focus();
    const node = subject();
    if (board && node >= 0) board.reveal(board.picture?.shows(state.places[node] ?? -1) ?? null);
    if (!line && node >= 0) closer.look(node, course.called(node));
  }

  /** Show how the gradients of one step travel, to and fro; of more steps at once none. */
  function send(from: number, to: number): void {
    const sent = Math.abs(to - from) === 1 ? course.sent(Math.min(from, to)) : [];
    const ways = sent.flatMap(([edge, value]): [SVGPathElement, Value][] => {
      const path = board?.picture?.way(edge);
      return path ? [[path, value]] : [];
    });
    travel.go(ways, to < from);
  }

  /** One step of those that follow each other by themselves: before a breakpoint they stop, as a run does. */
  function further(): boolean {
    if (course.at >= course.count) return false;
    const next = course.at + 1;
    const stops = next < course.count && (course.stops.has(next) || breaks.has(next));
    go(next, stops ? stopped(next, course.called(course.step(next)[0]?.node ?? 0)) : "");
    return !stops && !ask.asking && next < course.count;
  }

  /** A control that is left, or disables itself, gives the focus to the node where the pass stands. */
  function stand(): void {
    if (board) board.focus(state.places[subject()] ?? -1);
    else (cards?.current() ?? card).focus({ preventScroll: true });
  }

  /** Do what a button is for; one that disables itself must not take the focus with it. */
  function keeping(does: () => void): void {
    const held = document.activeElement;
    does();
    if (held instanceof HTMLButtonElement && held.disabled) stand();
  }

  function run(): void {
    const to = course.run(breaks, stood);
    const name = course.called(course.step(to)[0]?.node ?? 0);
    if (to < course.count) go(to, stopped(to, name));
    else {
      go(to);
      report(state.failed ?? (course.stops.size || breaks.size ? "ran to the end: no further breakpoint" : "ran to the end: there is no breakpoint"), Boolean(state.failed));
    }
  }

  /** A click on a node: run to it; what no step runs is looked at only. */
  function choose(place: number): void {
    play.stop();
    const node = course.node[place] ?? -1;
    if (node < 0) {
      say(`${course.graph?.called(place) ?? "this"}: no gradient reaches it`);
      return;
    }
    say("");
    const step = course.when(node);
    if (step >= 0) go(step + 1);
    if (state.nodes[node]?.leaf || step < 0) {
      chosen = node;
      paint();
      closer.look(node, course.called(node));
    }
  }

  const board = course.graph && !line ? new Board(signal) : null;
  const graph = course.graph;
  const search =
    graph && board
      ? new Search(
          graph,
          () => paint(),
          (place) =>
            folds?.uncover(place, () => {
              choose(place);
              board.reveal(board.picture?.shows(place) ?? null);
            }),
          signal,
          () => stand(),
        )
      : null;
  const leave = (how: "finish" | "undo", off = false): void => follow.leave(how, off, (why) => over(why ? "" : how, why));
  const goesOn = state.held ? ", and the cell goes on" : " and leave it";
  const exits = kernel.live
    ? [
        button("button", "Finish", `run the rest of the pass${goesOn}`, () => leave("finish"), signal),
        ...(state.held ? [button("button", "Finish, stop no more", "the same, with this breakpoint off", () => leave("finish", true), signal)] : []),
        button("button", "Undo pass", `take all steps back and ${state.held ? "end the cell" : "leave the pass"}`, () => leave("undo"), signal),
      ]
    : [];
  function over(how: string, why = ""): void {
    if (!how) return report(why, true);
    follow.over = how;
    play.stop();
    const held = exits.some((exit) => exit === document.activeElement);
    for (const exit of exits) exit.disabled = true;
    if (how === "finish") course.at = course.count;
    else course.at = 0;
    stood = chosen = -1;
    paint();
    if (held) stand();
    const node = subject();
    if (!line && node >= 0) closer.look(node, course.called(node)); // what stands below follows, too
    report(
      how === "finish"
        ? `The pass was finished: every .grad is as after backward()${state.held ? ", and the cell went on" : ""}. Steps show what was recorded.`
        : `The pass was undone: no .grad has changed${state.held ? ", and the cell ended" : ""}. Steps show what was recorded.`,
    );
  }
  kernel.lost = () => {
    for (const exit of exits) exit.disabled = true;
    paint();
  };
  kernel.onAnswer = (message) => {
    if (message.type === "over" && !follow.over) over(String(message.how));
  };
  const keys = el("span.vt-keys", {}, ...hints(["←", "→"], "step"), ...hints(["p"], "play"), ...hints(["r"], "run"), ...(line ? [] : hints(["b"], "break")), ...(kernel.live && !line ? hints(["c"], "check") : []));
  const play = new Play(further, signal);
  const moves = {
    go(to: number) {
      play.stop();
      keeping(() => go(to));
    },
    run() {
      play.stop();
      keeping(run);
    },
  };
  const transport = new Transport(course.count, () => course.at, moves, play.root, keys, signal);
  if (line && !course.stops.size) transport.run.hidden = true;
  const meta = state.graph?.meta.filter((text) => !/ops?$/.test(text)) ?? [];
  const card = el(
    "div.vt-card.vt-stepper",
    { tabindex: -1, "data-lm-suppress-shortcuts": "true" },
    el(
      "div.vt-head",
      {},
      ...titleOf(state.title, [`${course.partial ? state.total : course.count} step${course.count === 1 ? "" : "s"}`, ...meta], state.source),
      el("span.vt-space"),
      search?.root ?? null,
      exits.length ? el("span.vt-exits", {}, ...exits) : null,
    ),
    transport.root,
    asking.bar,
    status,
  );
  const cards = line ? new Cards(course, line, moves.go) : null;
  if (cards) {
    const legend = el("span.vt-note", {}, el("b.vt-valuec", { text: "values" }), " forward, saved · ", el("b.vt-gradc", { text: "gradients" }), " flowing back");
    transport.root.append(legend);
    card.append(cards.root, asking.box, cards.said);
  } else {
    const work = board ? el("div.vt-work", {}, board.root, aside) : el("div.vt-work.vt-alone", {}, aside);
    card.append(work);
    const legend = el("div.vt-keyline", {}, sample("done", "done"), sample("here", "here"), sample("idle", "pending"), sample("never", "never reached"), sample("break", "breakpoint"), widths(course.scale), note);
    card.append(legend);
  }
  let folds: Folds | null = null;
  if (graph && board) {
    board.box.dataset.steps = "yes";
    folds = new Folds(graph, board, kernel, { choose, toggle: (g) => folds?.toggle(g) }, say, () => paint());
  }
  root.append(card, closer.root);
  for (const text of [...state.says, ...(state.failed ? [state.failed] : [])]) root.append(el("div.vt-note", { text }));

  function paint(): void {
    course.hidden = ask.asking;
    asking.paint(course.at);
    play.enable(course.at < course.count);
    transport.paint(course.at, stood === course.at && course.at < course.count ? `before ${course.before}` : course.place);
    cards?.paint();
    if (cards) return;
    const node = subject();
    if (graph && board) {
      const stands = course.stands(stood === course.at);
      const [flows, asked] = [course.flows(), course.asked()];
      const at = (place: number): number => course.node[place] ?? -1;
      board.picture?.paint({
        stand: (place) => (at(place) < 0 ? (graph.isOp(place) ? "never" : "") : (stands[at(place)] ?? "")),
        flow: (edge) => flows.get(edge)?.norm ?? null,
        value: (edge) => flows.get(edge)?.value ?? null,
        asked: (edge) => asked.has(edge),
        gradValue: (place) => (at(place) < 0 ? null : single(course.grad(at(place)).value)),
        grad: (place) => {
          const value = at(place) < 0 ? null : course.grad(at(place)).value;
          return value ? Number(value.norm) : null;
        },
        received: (place) => at(place) >= 0 && course.received(at(place)),
        scale: course.scale,
        breaks: new Set([...course.stops.keys(), ...breaks].map((step) => state.places[course.step(step)[0]?.node ?? -1] ?? -1)),
        chosen: state.places[node] ?? -1,
        hits: new Set(search?.found ?? []),
      });
    }
    inspector(node);
  }

  function inspector(node: number): void {
    pane.again.length = 0;
    const step = node < 0 ? -1 : state.frames.findIndex((f) => f.node === node);
    const check = kernel.live && node >= 0 && !state.nodes[node]?.leaf ? checkOf(kernel, node, checked, signal) : null;
    const top = aside.scrollTop;
    const at = course.inStep(step);
    const box = ask.here && at === course.at - 1 && stood !== course.at ? asking.box : null;
    const typing = box?.contains(document.activeElement) ? document.activeElement : null;
    if (at >= 0) aside.replaceChildren(...inspectStep(pane, at, at >= course.at, check, box));
    else if (node >= 0) aside.replaceChildren(...inspectOther(pane, node, course.when(node) < 0));
    aside.scrollTop = top;
    if (typing instanceof HTMLElement) typing.focus({ preventScroll: true }); // it was taken out and put back
  }

  onWidth(
    aside,
    (width) => {
      if (Math.abs(width - pane.width) < 2 || width < 100) return;
      pane.width = width;
      inspector(subject());
    },
    signal,
  );
  const KEYS: Record<string, () => void> = {
    Home: () => moves.go(0),
    End: () => moves.go(course.count),
    ArrowLeft: () => moves.go(course.at - 1),
    ArrowRight: () => {
      if (!ask.asking) return moves.go(course.at + 1);
      ask.skip();
      paint();
      asking.focus();
    },
    a: () => toggle(),
    r: () => moves.run(),
    p: () => keeping(() => play.toggle()),
    b: () => {
      const step = course.inStep(state.frames.findIndex((f) => f.node === subject()));
      if (step >= 0 && !breaks.delete(step)) breaks.add(step);
      report("");
      paint();
    },
    c: () => aside.querySelector<HTMLButtonElement>(".vt-check")?.click(),
    "/": () => search?.input.focus(),
    "+": () => board?.by(1),
    "-": () => board?.by(-1),
    f: () => board?.fits(),
  };
  /** What a key does while a question stands there, or its answer. */
  function answers(e: KeyboardEvent): (() => void) | null {
    const question = ask.here;
    if (!question || e.shiftKey !== (e.key === "+" && e.shiftKey)) return null;
    if (e.key === "Enter") {
      if (e.target instanceof HTMLElement && e.target.closest("button, [role=button]")) return null;
      return () => void (ask.asking ? asking.focus() : moves.go(course.at + 1));
    }
    if (!ask.asking) return null;
    const again = (does: () => void) => () => {
      does();
      paint();
      asking.focus();
    };
    if (e.key === "h") return again(() => ask.hint());
    if (question.kind === "sign" && "-0+".includes(e.key)) return again(() => void ask.answer(e.key));
    return null;
  }

  on(
    card,
    "keydown",
    (e) => {
      if (e.altKey || e.ctrlKey || e.metaKey) return;
      if (e.target instanceof HTMLInputElement && e.target.type !== "range") return;
      const does = answers(e) ?? KEYS[e.key];
      if (!does) return;
      does();
      e.preventDefault();
      e.stopPropagation();
    },
    signal,
  );
  report("");
  paint();
  const first = course.stops.get(course.at);
  if (first) {
    stood = course.at;
    report(stopped(course.at, course.called(course.step(course.at)[0]?.node ?? 0)));
    paint();
  }
  return () => {
    for (const again of pane.again) again();
    if (cards) paint();
  };
}

const hints = (keys: string[], text: string): HTMLElement[] => [
  ...keys.map((key) => el("span.vt-key", { text: key })),
  el("span", { text }),
];
