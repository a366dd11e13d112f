// The confusion matrix: what each class was read as, in per cent of its row. A cell opens its samples.

import { el, on } from "../shared/dom";
import { count } from "../shared/format";
import { takenFor } from "./classes";
import { brief } from "./numbers";
import { nameOf, type Part, put, tally, unchanged, type View } from "./view";

const MOST = 20; // classes that are shown: those that are mistaken most often

/** The classes that have a row: all, or those with the most mistakes, in the order of their numbers. */
export function rowsOf(classes: number, pairs: ArrayLike<number>, counts: ArrayLike<number>, most = MOST): number[] {
  const all = Array.from({ length: classes }, (_, c) => c);
  if (classes <= most) return all;
  const wrong = new Float64Array(classes);
  for (let i = 0; i < counts.length; i++) {
    const [label, read, n] = [pairs[2 * i] as number, pairs[2 * i + 1] as number, counts[i] as number];
    if (label === read) continue;
    wrong[label] = (wrong[label] ?? 0) + n;
    wrong[read] = (wrong[read] ?? 0) + n;
  }
  return all
    .sort((a, b) => (wrong[b] as number) - (wrong[a] as number) || a - b)
    .slice(0, most)
    .sort((a, b) => a - b);
}

export function confusion(view: View, chosen: (label: number, read: number) => void): Part {
  const { signal } = view;
  const grid = el("div.vt-confusion", { role: "grid", "aria-label": "confusion matrix, a row for each true class" });
  const scroll = el("div.vt-w-scrollx", {}, grid);
  const note = el("span");
  const caption = el(
    "div.vt-w-caption",
    {},
    note,
    el("span.vt-space"),
    el("span", { text: "0" }),
    el("span.vt-w-missramp", { "aria-hidden": "true" }),
    el("span", { text: "≥ 50 %" }),
  );
  const none = el("div.vt-w-none");
  const root = el("div.vt-w-matrix", {}, scroll, caption, none);
  let cells: HTMLElement[][] = [];
  let ends: HTMLElement[] = [];
  let heads: HTMLElement[] = [];
  let shown: number[] = [];
  let here = "";
  const sameAxes = unchanged();
  const sameCounts = unchanged();

  function build(): void {
    const { state } = view;
    const header = el(
      "div.vt-w-cmrow.vt-w-cmhead",
      { role: "row" },
      el("span.vt-w-cmcorner", { role: "columnheader", "aria-label": "true class" }, "true ↓", el("br"), "read as →"),
      ...shown.map((c) =>
        el(
          "span.vt-w-cmcol",
          { role: "columnheader", title: nameOf(state, c) },
          el("span", { text: brief(nameOf(state, c)) }),
        ),
      ),
      el("span.vt-w-cmseen", { role: "columnheader", text: "seen" }),
    );
    heads = [];
    ends = [];
    cells = [];
    const rows = shown.map((label) => {
      const name = el("span.vt-w-cmname", {
        role: "rowheader",
        title: nameOf(state, label),
        text: brief(nameOf(state, label)),
      });
      const line = shown.map((read) =>
        el("span.vt-w-cell", {
          role: "gridcell",
          tabindex: -1,
          "data-label": label,
          "data-read": read,
          class: label === read ? "vt-w-cell vt-w-right" : "vt-w-cell",
        }),
      );
      const end = el("span.vt-w-cmseen", { role: "gridcell" });
      heads.push(name);
      cells.push(line);
      ends.push(end);
      return el("div.vt-w-cmrow", { role: "row" }, name, ...line, end);
    });
    grid.style.setProperty("--n", String(shown.length));
    grid.replaceChildren(header, ...rows);
  }

  const at = (target: EventTarget | null): [number, number] | null => {
    const cell = (target as HTMLElement | null)?.closest<HTMLElement>("[data-label]");
    return cell ? [Number(cell.dataset["label"]), Number(cell.dataset["read"])] : null;
  };
  on(
    grid,
    "click",
    (e) => {
      const found = at(e.target);
      if (found) chosen(...found);
    },
    signal,
  );
  on(
    grid,
    "keydown",
    (e) => {
      const found = at(e.target);
      if (!found) return;
      const [i, j] = [shown.indexOf(found[0]), shown.indexOf(found[1])];
      const to = { ArrowUp: [i - 1, j], ArrowDown: [i + 1, j], ArrowLeft: [i, j - 1], ArrowRight: [i, j + 1] }[e.key];
      if (e.key === "Enter" || e.key === " ") chosen(...found);
      else if (to) {
        const next = cells[to[0] as number]?.[to[1] as number];
        if (next) {
          (e.target as HTMLElement).tabIndex = -1;
          next.tabIndex = 0;
          next.focus();
        }
      } else return;
      e.preventDefault();
      e.stopPropagation();
    },
    signal,
  );

  function paint(): void {
    const { state } = view;
    const t = tally(state, view.of);
    const c = t?.counts;
    const has = c?.pairs && c.counts;
    none.hidden = !state.several && (t ? Boolean(has) : state.classes.length > 0);
    scroll.hidden = caption.hidden = !none.hidden;
    if (!none.hidden) {
      put(
        none,
        state.several
          ? "Each sample has several decisions: there is no confusion between classes."
          : !t
            ? "No class is known yet."
            : "No matrix was kept for this choice: look at another one above.",
      );
      return;
    }
    const n = t ? t.counts.seen.data.length : state.classes.length;
    if (sameCounts(c?.seen, view.cell?.[0], view.cell?.[1], state.classes, n)) return;
    const [pairs, counts] = [c?.pairs?.data ?? [], c?.counts?.data ?? []];
    const next = rowsOf(n, pairs, counts);
    if (shown.length !== next.length || n <= MOST || !cells.length) shown = next;
    if (!sameAxes(state.classes, String(shown))) build();
    const row = new Map(shown.map((label, i) => [label, i]));
    const values = shown.map(() => new Uint32Array(shown.length));
    for (let k = 0; k < counts.length; k++) {
      const [i, j] = [row.get(pairs[2 * k] as number), row.get(pairs[2 * k + 1] as number)];
      if (i !== undefined && j !== undefined) (values[i] as Uint32Array)[j] = counts[k] as number;
    }
    const chosenCell = view.cell ? `${view.cell[0]} ${view.cell[1]}` : "";
    const focus = chosenCell || `${shown[0]} ${shown[0]}`;
    shown.forEach((label, i) => {
      const seen = c ? (c.seen.data[label] as number) : 0;
      put(ends[i] as HTMLElement, seen ? count(seen) : "–");
      heads[i]?.classList.toggle("vt-w-on", view.cell?.[0] === label);
      shown.forEach((read, j) => {
        const cell = cells[i]?.[j] as HTMLElement;
        const k = values[i]?.[j] ?? 0;
        const name = `${label} ${read}`;
        if (name === chosenCell || name === here) cell.setAttribute("aria-selected", String(name === chosenCell));
        const index = name === focus ? 0 : -1;
        if (cell.tabIndex !== index) cell.tabIndex = index;
        if (cell.dataset["of"] === `${k} ${seen}`) return;
        cell.dataset["of"] = `${k} ${seen}`;
        const share = seen ? k / seen : 0;
        cell.title = k ? `${k} of ${seen}` : "";
        const text = k ? (share < 0.005 ? "<1" : String(Math.round(100 * share))) : "·";
        put(cell, text);
        const tint = String(Math.min(100, Math.round(200 * share)));
        if (cell.dataset["tint"] !== tint) {
          cell.dataset["tint"] = tint;
          cell.style.setProperty("--tint", `${(Number(tint) * 0.62).toFixed(0)}%`);
        }
        cell.classList.toggle("vt-w-zero", !k);
        cell.setAttribute("aria-label", `${nameOf(state, label)} read as ${nameOf(state, read)}: ${k} of ${seen}`);
      });
    });
    here = chosenCell;
    const of = {
      window: "last 1,024 training samples",
      epoch: "training samples of this epoch",
      validation: "newest validation",
    };
    put(
      note,
      `% of each row; ${of[view.of]}` +
        (n > shown.length ? `; ${shown.length} of ${count(n)} classes, those mistaken most often` : ""),
    );
  }
  return { root, paint };
}

/** The cell to look at where nobody chose one: what the worst class is most often taken for. */
export function worstCell(view: View): [number, number] | null {
  const t = tally(view.state, view.of);
  if (!t?.counts.pairs || !t.counts.counts) return null;
  const taken = takenFor(t.counts.seen.data.length, t.counts.pairs.data, t.counts.counts.data);
  for (const c of view.order) {
    const read = taken[c]?.[0] ?? -1;
    if (read >= 0) return [c, read];
  }
  return null;
}
