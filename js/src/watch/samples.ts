// The samples behind a cell of the confusion matrix: picture, the best three classes with their scores, where each is.

import { el } from "../shared/dom";
import { count, percent } from "../shared/format";
import type { Nd } from "../shared/payload";
import { brief, finite } from "./numbers";
import type { Mistake } from "./types";
import { nameOf, type Part, put, tally, unchanged, type View } from "./view";

const MOST = 8;

/** A picture as a canvas of its own pixels. */
function picture(image: Nd): HTMLElement {
  const [h, w, c] = [image.shape[0] ?? 1, image.shape[1] ?? 1, image.shape[2] ?? 1];
  const canvas = el("canvas.vt-w-picture", { width: w, height: h, "aria-hidden": "true" });
  const context = canvas.getContext("2d");
  if (!context) return canvas;
  const out = context.createImageData(w, h);
  for (let i = 0; i < w * h; i++) {
    for (let k = 0; k < 3; k++) out.data[4 * i + k] = image.data[i * c + (c < 3 ? 0 : k)] as number;
    out.data[4 * i + 3] = c === 4 ? (image.data[i * c + 3] as number) : 255;
  }
  context.putImageData(out, 0, 0);
  return canvas;
}

export function samples(view: View): Part {
  const [label, read, sum, share] = [el("b"), el("b.vt-w-miss"), el("span"), el("span.vt-note")];
  const of = el("span.vt-w-of", {}, sum, share);
  const title = el(
    "div.vt-w-h.vt-w-samplehead",
    {},
    label,
    el("span", { text: "read as" }),
    read,
    el("span.vt-space"),
    of,
  );
  const note = el("div.vt-w-caption");
  const strip = el("div.vt-w-strip");
  const root = el("div.vt-samples", { role: "region", "aria-label": "samples of the chosen cell" }, title, note, strip);
  const made = new WeakMap<Mistake, HTMLElement>();
  const same = unchanged();
  const sameList = unchanged();

  function sample(m: Mistake): HTMLElement {
    const had = made.get(m);
    if (had) return had;
    const { state } = view;
    const top = m.top.map(([c, p]): [number, number] => [c, finite(p) ?? 0]);
    const scores = top.map(([c, p]) => {
      const bar = el("i");
      bar.style.width = `${(100 * p).toFixed(1)}%`;
      const kind = c === m.label ? "true" : c === m.read ? "read" : "";
      const name = nameOf(state, c);
      return el(
        "div.vt-w-score",
        { "data-kind": kind, title: kind === "true" ? `${name}, the label` : name },
        el("span", { text: brief(name) }),
        el("b", { text: p > 0.995 && p < 1 ? "> .99" : p.toFixed(2) }),
        bar,
      );
    });
    const number = m.index === null ? "" : `#${m.index} · `;
    const one = el(
      "div.vt-sample",
      {
        role: "img",
        "data-index": m.index,
        title: `${m.index === null ? "" : `number ${m.index} of the dataset, `}${m.where}, step ${count(m.step)}`,
        "aria-label": `${number ? `number ${m.index}, ` : ""}step ${count(m.step)}: ${top
          .map(([c, p]) => `${nameOf(state, c)} ${p.toFixed(2)}`)
          .join(", ")}`,
      },
      m.image ? picture(m.image) : el("span.vt-w-picture.vt-w-blank", { text: "no picture" }),
      ...scores,
      el("div.vt-w-where", { text: number ? `${number}${count(m.step)}` : `step ${count(m.step)}` }),
    );
    made.set(m, one);
    return one;
  }

  function paint(): void {
    const { state, cell } = view;
    const t = tally(state, view.of);
    if (same(state.mistakes, cell?.[0], cell?.[1], t?.counts.seen, view.of, state.classes)) return;
    put(label, cell ? nameOf(state, cell[0]) : "");
    put(read, cell ? nameOf(state, cell[1]) : "");
    title.classList.toggle("vt-w-off", !cell);
    if (!cell) {
      put(note, state.several || !t ? "" : "Click a cell to see its samples.");
      if (!t) put(note, "Samples that are read as another class stand here.");
      strip.replaceChildren();
      return;
    }
    const { pairs, counts, seen } = t?.counts ?? {};
    let k = 0;
    if (pairs && counts)
      for (let i = 0; i < counts.data.length; i++)
        if (pairs.data[2 * i] === cell[0] && pairs.data[2 * i + 1] === cell[1]) k = counts.data[i] as number;
    const all = seen ? (seen.data[cell[0]] as number) : 0;
    put(sum, `${count(k)} of ${count(all)}`);
    put(share, all ? percent(k, all) : "");
    const mine = state.mistakes.items.filter((m) => m.label === cell[0] && m.read === cell[1]);
    const want = view.of === "validation" ? "validation" : "training";
    const there = mine.filter((m) => m.where === want);
    const shown = [...(there.length ? there : mine)].reverse().sort((a, b) => b.step - a.step).slice(0, MOST);
    const where = there.length ? want : (shown[0]?.where ?? want);
    put(
      note,
      cell[0] === cell[1]
        ? "Read rightly: only mistakes are kept."
        : shown.length
          ? `newest ${shown.length} kept from ${where}, newest first: # dataset index · step`
          : "No sample of this cell is kept yet: all cells are filled at a pause, a validation and the end.",
    );
    if (!sameList(...shown)) strip.replaceChildren(...shown.map(sample));
  }
  return { root, paint };
}
