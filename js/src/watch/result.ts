// The table of results: each class with recall, precision, its epochs, and what it is most often read as.

import { el } from "../shared/dom";
import { count } from "../shared/format";
import { takenFor, worstFirst } from "./classes";
import { finite, loss, NONE, one, whole } from "./numbers";
import { nameOf, type Of, type Part, tally, unchanged, type View } from "./view";

const EPOCHS = 4;
const MOST = 200;

export function result(view: View): Part {
  const body = el("div.vt-w-table.vt-w-result", { role: "table", "aria-label": "results by class" });
  const caption = el("div.vt-w-caption.vt-w-wrap");
  const root = el("div", {}, body, caption);
  const same = unchanged();
  return {
    root,
    paint() {
      const { state } = view;
      const of: Of = tally(state, "validation") ? "validation" : "window";
      const t = tally(state, of);
      if (same(t?.counts.seen, state.classes, state.accuracy.epochs.length, state.validation.length)) return;
      if (!t) {
        caption.textContent = "No class has been seen.";
        body.replaceChildren();
        return;
      }
      const [right, seen] = [t.counts.right.data, t.counts.seen.data];
      const [pairs, counts] = [t.counts.pairs?.data ?? [], t.counts.counts?.data ?? []];
      const taken = takenFor(seen.length, pairs, counts);
      const read = new Float64Array(seen.length);
      for (let i = 0; i < counts.length; i++) {
        const c = pairs[2 * i + 1] as number;
        read[c] = (read[c] ?? 0) + (counts[i] as number);
      }
      const epochs = state.accuracy.epochs.slice(-EPOCHS);
      const short = of === "validation" ? "validation" : "newest training";
      const heads = [
        "class",
        `${short}: right / seen`,
        "recall",
        "precision",
        ...epochs.map((e) => `training, epoch ${e.epoch}`),
        "most often read as",
      ];
      const rows = worstFirst(right, seen)
        .filter((c) => seen[c])
        .slice(0, MOST)
        .map((c) => {
          const [wrong, times] = taken[c] as [number, number];
          return [
            nameOf(state, c),
            `${count(right[c] as number)} / ${count(seen[c] as number)}`,
            one((right[c] as number) / (seen[c] as number)),
            pairs.length ? (read[c] ? one((right[c] as number) / (read[c] as number)) : NONE) : NONE,
            ...epochs.map((e) =>
              whole(e.seen.data[c] ? (e.right.data[c] as number) / (e.seen.data[c] as number) : null),
            ),
            !pairs.length ? NONE : wrong < 0 ? "never wrong" : `${nameOf(state, wrong)} (${times})`,
          ];
        });
      const line = (cells: string[], role: string): HTMLElement =>
        el("div.vt-w-tr", { role: "row" }, ...cells.map((text) => el("span", { role, text })));
      body.style.setProperty(
        "--columns",
        `minmax(70px, 1.2fr) repeat(${heads.length - 2}, minmax(56px, 1fr)) minmax(96px, 1.2fr)`,
      );
      body.replaceChildren(line(heads, "columnheader"), ...rows.map((cells) => line(cells, "cell")));
      const best = state.validation
        .filter((v) => finite(v.loss) !== null)
        .sort((a, b) => (finite(a.loss) as number) - (finite(b.loss) as number))[0];
      const what = of === "validation" ? "Validation" : "Last training samples";
      const step =
        of === "validation"
          ? (state.validation[state.validation.length - 1]?.step ?? state.head.step)
          : state.head.step;
      caption.textContent =
        `${what}, ${count(t.samples)} samples, step ${count(step)}. ` +
        (best ? `Lowest validation loss ${loss(best.loss)} at step ${count(best.step)}. ` : "") +
        `Epochs: recall in training, as the weights changed.`;
    },
  };
}
