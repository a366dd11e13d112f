// Accuracy class by class, the worst first. The order is made anew at most once a second, and rows glide to their
// places one at a time (glide.ts).

import { atEnd, el, on } from "../shared/dom";
import { count } from "../shared/format";
import { still } from "../shared/theme";
import { nextOrder } from "./glide";
import { brief, one, whole } from "./numbers";
import { tabs } from "./tabs";
import { FEW } from "./types";
import { nameOf, type Of, type Part, put, set, tally, unchanged, type View } from "./view";

const PATIENCE = 1000;
const MOST = 100; // rows
const HIGH = 25;
const LONGEST = 600; // ms: a glide whose end was not reported, as in a page that is not shown, is over
const NOTHING = "No class is known yet: labels are seen in cross_entropy, nll_loss and BCE, or passed to run.observe.";

interface Row {
  root: HTMLElement;
  name: HTMLElement;
  bar: HTMLElement;
  fill: HTMLElement;
  as: HTMLElement;
  tick: HTMLElement;
  share: HTMLElement;
  seen: HTMLElement;
  change: HTMLElement;
  place: number;
}

/** Classes by accuracy, the worst first; those that were not seen come last. */
export function worstFirst(right: ArrayLike<number>, seen: ArrayLike<number>): number[] {
  const share = (c: number): number => (seen[c] ? (right[c] as number) / (seen[c] as number) : 2);
  return Array.from({ length: seen.length }, (_, c) => c).sort((a, b) => share(a) - share(b) || a - b);
}

/** The same, but a class keeps its place as long as the others are no more than two points away: noise moves no row. */
export function steady(before: number[], right: ArrayLike<number>, seen: ArrayLike<number>): number[] {
  if (before.length !== seen.length) return worstFirst(right, seen);
  const share = (c: number): number => (seen[c] ? (right[c] as number) / (seen[c] as number) : 2);
  const out = [...before];
  for (let i = 1; i < out.length; i++) {
    const c = out[i] as number;
    let k = i;
    while (k && share(c) < share(out[k - 1] as number) - 0.02) k--;
    out.splice(i, 1);
    out.splice(k, 0, c);
  }
  return out;
}

/** What each class is most often taken for: the class and the count, -1 where it never was. */
export function takenFor(
  classes: number,
  pairs: ArrayLike<number>,
  counts: ArrayLike<number>,
): [read: number, n: number][] {
  const out = Array.from({ length: classes }, (): [number, number] => [-1, 0]);
  for (let i = 0; i < counts.length; i++) {
    const [label, read, n] = [pairs[2 * i] as number, pairs[2 * i + 1] as number, counts[i] as number];
    const found = out[label];
    if (found && label !== read && n > found[1]) out[label] = [read, n];
  }
  return out;
}

export function classes(view: View, chosen: (label: number) => void): Part {
  const { signal } = view;
  const rows = new Map<number, Row>();
  const big = el("b.vt-w-big");
  const pick = tabs<Of>(
    "samples counted",
    "vt-w-seg",
    [
      { key: "window", text: "last 1,024", label: "window: last 1,024", tip: "the newest 1,024 samples of training" },
      { key: "epoch", text: "epoch", tip: "training samples of this epoch so far" },
      { key: "validation", text: "validation", tip: "the newest validation" },
    ],
    (of) => {
      view.of = of;
      sorted = -PATIENCE;
      view.again();
    },
    signal,
  );
  const title = el("span.vt-w-h3");
  const legend = el("span.vt-w-ticklegend");
  const change = el("span.vt-w-c4", { text: "change" });
  const worst = el("button.vt-w-sort", { type: "button" });
  const list = el("div.vt-w-rows", { role: "rowgroup" });
  const more = el("div.vt-note.vt-w-more");
  const without = el("div.vt-w-without", { hidden: true });
  const space = el("div.vt-w-classes", {}, list, more);
  const root = el(
    "section.vt-w-part.vt-w-accuracy",
    { "aria-label": "accuracy by class" },
    el("div.vt-w-h", {}, title, big, el("span.vt-space"), pick.root),
    el(
      "div",
      { role: "table", "aria-label": "accuracy by class" },
      el(
        "div.vt-w-classhead",
        { role: "row" },
        el("span.vt-w-c0", { role: "columnheader" }, worst),
        legend,
        el("span.vt-w-c2", { text: "accuracy", role: "columnheader" }),
        el("span.vt-w-c3", { text: "right / seen", role: "columnheader" }),
        change,
      ),
      space,
    ),
    without,
  );
  change.setAttribute("role", "columnheader");
  legend.setAttribute("role", "columnheader");
  let byName = false;
  let sorted = -PATIENCE;
  let wanted: number[] = [];
  let gliding: HTMLElement | null = null;
  let [late, over]: (ReturnType<typeof setTimeout> | undefined)[] = [];
  let hovered = false;
  on(space, "pointerenter", () => void (hovered = true), signal);
  on(
    space,
    "pointerleave",
    () => {
      hovered = false;
      view.again();
    },
    signal,
  );
  on(
    worst,
    "click",
    () => {
      byName = !byName;
      sorted = -PATIENCE;
      view.again();
    },
    signal,
  );
  on(list, "transitionend", (e) => void (e.target === gliding && e.propertyName === "transform" && arrived()), signal);
  atEnd(signal, () => {
    clearTimeout(late);
    clearTimeout(over);
  });
  const sameCounts = unchanged();

  function row(c: number): Row {
    const had = rows.get(c);
    if (had) return had;
    const [name, fill, as, tick] = [el("span.vt-w-c0", { role: "rowheader" }), el("i"), el("em"), el("u")];
    const bar = el("div.vt-bar", { role: "meter", "aria-valuemin": 0, "aria-valuemax": 100 }, fill, as, tick);
    const [share, seen, moved] = [
      el("span.vt-w-c2", { role: "cell" }),
      el("span.vt-w-c3", { role: "cell" }),
      el("span.vt-w-c4", { role: "cell" }),
    ];
    const line = el(
      "div.vt-class",
      { role: "row", "data-class": c, tabindex: -1 },
      name,
      el("span.vt-w-c1", { role: "cell" }, bar),
      share,
      seen,
      moved,
    );
    on(line, "click", () => chosen(c), signal);
    on(
      line,
      "keydown",
      (e) => {
        if (e.key === "Enter" || e.key === " ") chosen(c);
        else {
          const at = view.order.indexOf(c);
          const last = Math.min(MOST, view.order.length) - 1;
          const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: last }[e.key];
          if (to === undefined) return;
          const next = rows.get(view.order[Math.max(0, Math.min(last, to))] as number)?.root;
          if (next) {
            line.tabIndex = -1;
            next.tabIndex = 0;
            next.focus();
          }
        }
        e.preventDefault();
        e.stopPropagation();
      },
      signal,
    );
    const made = { root: line, name, bar, fill, as, tick, share, seen, change: moved, place: -1 };
    rows.set(c, made);
    return made;
  }

  /** The order to come: it changes when a second has passed since it last did, and not under the pointer. */
  function sort(fresh: number[]): void {
    const now = performance.now();
    const differs = fresh.length !== wanted.length || fresh.some((c, i) => c !== wanted[i]);
    if (!differs) return;
    const wait = sorted + PATIENCE - now;
    const running = view.state.head.status === "running";
    if (wanted.length === fresh.length && running && (wait > 0 || hovered)) {
      clearTimeout(late);
      late = setTimeout(view.again, Math.max(wait, 50) + (hovered ? PATIENCE : 0));
      return;
    }
    const asked = sorted < 0; // by a click: it is answered at once
    sorted = now;
    wanted = fresh;
    if (asked || still() || view.order.length !== fresh.length) settle();
  }

  /** The row on its way, if there is one, is at its place. */
  function landed(): void {
    clearTimeout(over);
    gliding?.classList.remove("vt-w-lifted");
    gliding = null;
  }

  /** All rows at their places, with nothing on the way. */
  function settle(): void {
    landed();
    view.order = wanted;
  }

  /** Take one more row to its place, above those that it crosses, when the one before has arrived. */
  function advance(): void {
    if (gliding || view.order === wanted || (hovered && view.state.head.status === "running")) return;
    const { order, mover } = nextOrder(view.order, wanted);
    if (mover === null || !order.slice(0, MOST).every((c) => rows.get(c)?.root.isConnected)) return settle();
    view.order = order.every((c, i) => c === wanted[i]) ? wanted : order;
    gliding = row(mover).root;
    gliding.classList.add("vt-w-lifted");
    wait(4);
  }

  /** See to it that the glide ends, also where its end is never reported; a page that is slow may be still on its way. */
  function wait(again: number): void {
    over = setTimeout(() => {
      // asking for the animations also begins one that a busy page has not come to
      const moving = !document.hidden && gliding?.getAnimations?.().some((one) => one.playState === "running");
      if (moving && again) wait(again - 1);
      else arrived();
    }, LONGEST);
  }

  /** The next row may go. */
  function arrived(): void {
    landed();
    view.again();
  }

  function paint(): void {
    const { state } = view;
    pick.mark(view.of);
    put(title, state.several ? "Accuracy by label" : "Accuracy by class");
    const t = tally(state, view.of);
    put(big, one(t?.accuracy ?? null));
    const n = t ? t.counts.seen.data.length : state.classes.length;
    const zero = new Uint32Array(n);
    const [right, seen] = t ? [t.counts.right.data, t.counts.seen.data] : [zero, zero];
    const { without: lost, without_from: since, window: newest } = state.accuracy;
    const stale = view.of === "window" && lost > 0 && (newest?.last ?? 0) < state.head.step - 1;
    without.hidden = !lost;
    put(
      without,
      lost
        ? `no output: ${count(lost)} since step ${count(since)} not finite, counted nowhere` +
            (stale ? `; shown: steps ${count(newest?.first ?? 0)} to ${count(newest?.last ?? 0)}` : "")
        : "",
    );
    root.classList.toggle("vt-w-stale", stale);
    root.classList.toggle("vt-w-lost", lost > 0);
    const running = state.head.status === "running";
    sort(byName ? Array.from({ length: n }, (_, c) => c) : running ? steady(wanted, right, seen) : worstFirst(right, seen));
    advance();
    if (sameCounts(t?.counts.seen, t?.before?.seen, view.order, view.cell?.[0], state.classes, byName)) return;
    put(worst, byName ? "by number" : "worst first");
    worst.title = byName
      ? "in the order of the classes: click for the worst first"
      : "click for the order of the classes";
    put(legend, t?.since ?? "");
    legend.classList.toggle("vt-w-on", Boolean(t?.since));
    change.title = t?.since ? `in points against the ${t.since}` : "";
    const taken = t?.counts.pairs && t.counts.counts ? takenFor(n, t.counts.pairs.data, t.counts.counts.data) : [];
    const shown = view.order.slice(0, MOST);
    more.hidden = n > 0 && n <= MOST;
    put(more, n ? `and ${count(n - MOST)} more classes` : NOTHING);
    if (list.childElementCount !== shown.length || shown.some((c) => !rows.get(c)?.root.isConnected)) {
      const focus = [...rows.values()].find((r) => r.root === document.activeElement);
      list.replaceChildren(...[...shown].sort((a, b) => a - b).map((c) => row(c).root));
      focus?.root.focus();
    }
    list.style.height = `${shown.length * HIGH}px`;
    list.classList.toggle("vt-w-still", !gliding);
    shown.forEach((c, place) => {
      const r = row(c);
      const [k, of] = [right[c] as number, seen[c] as number];
      const share = of ? k / of : null;
      put(r.name, brief(nameOf(state, c)));
      set(r.name, "title", nameOf(state, c));
      if (r.place !== place) {
        r.root.style.transform = `translateY(${place * HIGH}px)`;
        r.root.setAttribute("aria-rowindex", String(place + 1));
        r.place = place;
        r.root.tabIndex = place ? -1 : 0;
      }
      r.fill.style.transform = `scaleX(${share ?? 0})`;
      r.bar.classList.toggle("vt-w-few", of > 0 && of < FEW);
      set(r.bar, "aria-label", nameOf(state, c));
      set(r.bar, "aria-valuenow", share === null ? null : String(Math.round(100 * share)));
      set(r.bar, "aria-valuetext", of ? `${whole(share)}, ${k} of ${of}` : "not seen yet");
      put(r.share, whole(share));
      put(r.seen, of ? `${count(k)} / ${count(of)}` : "none seen");
      const [wrong, times] = taken[c] ?? [-1, 0];
      // Space beside the fill for the word: the worst rows have it.
      put(
        r.as,
        wrong >= 0 && place < 3 && share !== null && share < 0.6 && times > 1 ? `→ ${brief(nameOf(state, wrong))}` : "",
      );
      const then = t?.before?.seen.data[c]
        ? (t.before.right.data[c] as number) / (t.before.seen.data[c] as number)
        : null;
      r.tick.hidden = then === null;
      if (then !== null) r.tick.style.left = `${(100 * then).toFixed(2)}%`;
      const points = then === null || share === null ? null : Math.round(100 * share) - Math.round(100 * then);
      put(r.change, points === null ? "" : points > 0 ? `▲ ${points}` : points < 0 ? `▼ ${-points}` : "= 0");
      set(r.change, "data-way", points === null || !points ? "" : points > 0 ? "up" : "down");
      set(r.root, "aria-selected", String(view.cell?.[0] === c));
    });
  }
  return { root, paint };
}
