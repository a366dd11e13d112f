// A regression: predictions against their targets, what is left over, how good each output is, the worst samples.

import { el, on, prepare, ratio } from "../shared/dom";
import { count, shapeText } from "../shared/format";
import { NONE, number, short, tick, ticks } from "./numbers";
import { lines, pick, wider, widthOf } from "./task";
import type { Values } from "./types";
import { type Part, put, set, unchanged, type View } from "./view";

const HIGH = 250;
const LOW = 190;
const [LEFT, RIGHT, TOP, FOOT] = [46, 14, 10, 34];

/** The row of an array of outputs by points. */
export function row(array: Values["predicted"], k: number): Float32Array {
  const n = array.shape[1] ?? 0;
  return (array.data as Float32Array).subarray(k * n, (k + 1) * n);
}

/** How good the chosen output is, in few words. */
export function verdict(w: Values, k: number): string {
  const score = w.scores[k];
  if (!score) return "";
  const text = `mean error ${number(score.mae)}, best constant ${number(score.constant_mae)}`;
  return w.scores.length > 1 ? `${text} · R² of all ${w.scores.length} ${number(w.r2)}` : text;
}

/** What a reader should know before the numbers: sentences, none where all is well. */
export function notes(w: Values): string[] {
  return [
    w.broadcast
      ? `Prediction and target had different shapes and were broadcast to ${shapeText(w.shape)}: each prediction is compared with every target.`
      : "",
    w.bad ? `${count(w.bad)} ${w.bad === 1 ? "is" : "are"} not finite and left out.` : "",
    w.pooled ? `${count(w.pooled)} outputs are taken for one.` : "",
    w.echo ? "The target is the input: a reconstruction." : "",
  ].filter(Boolean);
}

function select(view: View, w: Values, at: HTMLSelectElement): number {
  const names = w.outputs;
  if (at.options.length !== names.length || names.some((name, i) => at.options[i]?.text !== name))
    at.replaceChildren(...names.map((name, i) => el("option", { value: i, text: name })));
  at.hidden = names.length < 2;
  if (view.output >= names.length) view.output = 0;
  at.value = String(view.output);
  return view.output;
}

/** Both sides of the axes: the same for targets and predictions. */
export function scatter(view: View): Part {
  const { signal, theme } = view;
  const big = el("b.vt-w-big");
  const said = el("span.vt-w-read");
  const output = el("select.vt-w-small", { "aria-label": "output" });
  const canvas = el("canvas.vt-w-plot", { role: "img" });
  const note = el("div.vt-w-said", { hidden: true });
  const space = el("div.vt-w-space.vt-w-scatter", {}, canvas, note);
  const of = pick(view);
  const root = el(
    "section.vt-w-part",
    { "aria-label": "prediction against target" },
    el(
      "div.vt-w-h",
      {},
      el("span.vt-w-h3", { text: "Prediction against target" }),
      big,
      el("span.vt-space"),
      output,
      of.root,
    ),
    el("div.vt-w-legends", {}, said),
    space,
  );
  on(
    output,
    "change",
    () => {
      view.output = Number(output.value);
      view.again();
    },
    signal,
  );
  let wide = 0;
  let frame: [number, number] | null = null;
  const same = unchanged();
  const width = widthOf(space, () => draw(true), signal);

  function draw(whole: boolean): void {
    wide = width();
    const w = of.shown(view.state.task?.values ?? null);
    if (!w) {
      put(big, "");
      put(said, "No prediction is known yet.");
      return;
    }
    const k = select(view, w, output);
    const score = w.scores[k];
    const r2 = score?.r2 ?? null;
    put(big, `R² ${number(r2)}`);
    big.title = r2 === null ? "All targets are the same, or none is finite." : "1 is exact, 0 as good as the best constant";
    put(said, verdict(w, k));
    put(note, notes(w).join(" "));
    note.hidden = !note.textContent;
    set(note, "data-kind", w.broadcast || w.bad ? "warn" : "");
    if (same(w, k, wide, theme.token("ink")) && !whole) return;
    const g = wide > LEFT + RIGHT + 20 ? prepare(canvas, wide, HIGH, ratio()) : null;
    const [x, y] = [row(w.target, k), row(w.predicted, k)];
    set(
      canvas,
      "aria-label",
      `${count(w.n)} predictions of ${w.outputs[k]} against their targets, R² ${number(r2)}, ` +
        `mean error ${number(score?.mae ?? null)}; the tab Residuals holds the numbers`,
    );
    if (!g) return;
    g.font = `11px ${theme.token("font") || "sans-serif"}`;
    const [ink2, ink3, hair, value] = ["ink-2", "ink-3", "line", "value"].map((n) => theme.token(n)) as [
      string,
      string,
      string,
      string,
    ];
    g.textBaseline = "middle";
    g.lineWidth = 1;
    g.fillStyle = ink2;
    if (!x.length) {
      g.textAlign = "left";
      g.fillText("Nothing finite to show.", LEFT, HIGH / 2);
      return;
    }
    frame = wider(frame, x, y);
    const [lo, hi] = frame;
    const px = (v: number): number => LEFT + ((v - lo) / (hi - lo)) * (wide - LEFT - RIGHT);
    const py = (v: number): number => HIGH - FOOT - ((v - lo) / (hi - lo)) * (HIGH - FOOT - TOP);
    g.strokeStyle = hair;
    for (const v of ticks(lo, hi, 5)) {
      g.beginPath();
      g.moveTo(LEFT, Math.round(py(v)) + 0.5);
      g.lineTo(wide - RIGHT, Math.round(py(v)) + 0.5);
      g.stroke();
      g.textAlign = "right";
      g.fillText(tick(v), LEFT - 6, py(v));
      g.textAlign = "center";
      g.fillText(tick(v), px(v), HIGH - FOOT + 10);
    }
    g.fillText("target →", (LEFT + wide - RIGHT) / 2, HIGH - 8);
    g.save();
    g.translate(8, (TOP + HIGH - FOOT) / 2);
    g.rotate(-Math.PI / 2);
    g.fillText("prediction →", 0, 0);
    g.restore();
    g.fillStyle = value;
    g.globalAlpha = x.length > 300 ? 0.4 : 0.65;
    for (let i = 0; i < x.length; i++) {
      g.beginPath();
      g.arc(px(x[i] as number), py(y[i] as number), 2.4, 0, 7);
      g.fill();
    }
    g.globalAlpha = 1;
    g.strokeStyle = ink3;
    g.setLineDash([5, 3]);
    g.beginPath();
    g.moveTo(px(lo), py(lo));
    g.lineTo(px(hi), py(hi));
    g.stroke();
    g.setLineDash([]);
  }
  return { root, paint: () => draw(false) };
}

/** Residuals of the chosen output, all outputs in a table, the worst samples. */
export function residuals(view: View): Part {
  const { signal, theme } = view;
  const canvas = el("canvas.vt-w-plot", { role: "img" });
  const space = el("div.vt-w-space.vt-w-histogram", {}, canvas);
  const title = el("span.vt-w-h3");
  const caption = el("div.vt-w-caption.vt-w-wrap");
  const scores = el("div.vt-w-table.vt-w-scores", { role: "table", "aria-label": "errors by output" });
  const worst = el("div.vt-w-table.vt-w-scores", { role: "table", "aria-label": "worst samples" });
  const head = el("div.vt-w-h", {}, el("span.vt-w-h3", { text: "Worst samples" }));
  const root = el(
    "div.vt-w-two",
    {},
    el("div", {}, el("div.vt-w-h", {}, title), space, caption),
    el("div", {}, scores, head, worst),
  );
  let wide = 0;
  const same = unchanged();
  const width = widthOf(space, () => draw(true), signal);
  on(
    scores,
    "click",
    (e) => {
      const k = (e.target as HTMLElement).closest<HTMLElement>("[data-output]")?.dataset["output"];
      if (k === undefined) return;
      view.output = Number(k);
      view.again();
    },
    signal,
  );

  function draw(whole: boolean): void {
    wide = width();
    const values = view.state.task?.values ?? null;
    const of = view.of === "validation" && values?.validation ? "validation" : "window";
    const w = values?.[of] ?? null;
    if (same(w, view.output, wide, theme.token("ink")) && !whole) return;
    root.hidden = !w;
    if (!w) return;
    const k = Math.min(view.output, w.outputs.length - 1);
    put(title, w.outputs.length > 1 ? `Prediction − target: ${w.outputs[k]}` : "Prediction − target");
    const where = of === "validation" ? "of the last validation" : "of the newest training samples";
    const beyond = w.beyond[k] ?? 0;
    const each = w.pooled || w.shape.length > 2 ? "values " : "";
    put(caption, `${count(w.n)} ${each}${where}${beyond ? `; the outermost bars hold ${count(beyond)} beyond the axis` : ""}`);
    histogram(w, k);
    lines(
      scores,
      ["output", "R²", "mean error", "best constant", "bias"],
      w.scores.map((one, i) => [
        w.outputs[i] ?? "",
        number(one.r2),
        number(one.mae),
        number(one.constant_mae),
        number(one.bias),
      ]),
      "minmax(60px, 1.2fr) minmax(44px, 0.8fr) minmax(66px, 1fr) minmax(82px, 1fr) minmax(60px, 0.8fr)",
      (line, i) => {
        line.dataset["output"] = String(i);
        line.setAttribute("aria-selected", String(i === k && w.outputs.length > 1));
        const [r2] = [w.scores[i]?.r2 ?? null];
        if (r2 !== null && r2 < 0) line.title = "Worse than the best constant.";
      },
    );
    const some = w.worst.some((one) => one.predicted.length);
    const numbered = w.worst.some((one) => one.index !== null);
    const list = (all: (number | null)[]): string =>
      all.map((v) => number(v)).join(", ") + (w.outputs.length > all.length ? ", …" : "");
    lines(
      worst,
      [...(numbered ? ["number"] : []), "step", "error", ...(some ? ["predicted", "target"] : [])],
      w.worst.map((one) => [
        ...(numbered ? [one.index === null ? NONE : `#${one.index}`] : []),
        count(one.step),
        number(one.error),
        ...(some ? [list(one.predicted), list(one.target)] : []),
      ]),
      `${numbered ? "64px " : ""}56px ${some ? "64px minmax(60px, 1fr) minmax(60px, 1fr)" : "1fr"}`,
    );
  }

  function histogram(w: Values, k: number): void {
    const bins = w.bins.shape[1] ?? 0;
    const counts = w.bins.data.subarray(k * bins, (k + 1) * bins);
    const [lo, hi] = [w.span.data[2 * k] as number, w.span.data[2 * k + 1] as number];
    set(
      canvas,
      "aria-label",
      `residuals from ${short(lo)} to ${short(hi)}, mean ${number(w.scores[k]?.bias ?? null)}, ` +
        `${count(w.n)} in ${bins} bars`,
    );
    const g = wide > 60 ? prepare(canvas, wide, LOW, ratio()) : null;
    if (!g || !bins) return;
    const [left, foot, top] = [8, 20, 6];
    const most = Math.max(1, ...counts);
    const step = (wide - left - 8) / bins;
    g.font = `11px ${theme.token("font") || "sans-serif"}`;
    const x = (v: number): number => left + ((v - lo) / (hi - lo)) * (wide - left - 8);
    g.fillStyle = theme.token("value");
    for (let i = 0; i < bins; i++) {
      const high = ((counts[i] as number) / most) * (LOW - foot - top);
      if (counts[i]) g.fillRect(left + i * step + 0.5, LOW - foot - Math.max(1, high), step - 1, Math.max(1, high));
    }
    g.strokeStyle = theme.token("ink-3");
    g.lineWidth = 1;
    g.beginPath();
    g.moveTo(left, LOW - foot + 0.5);
    g.lineTo(wide - 8, LOW - foot + 0.5);
    g.moveTo(Math.round(x(0)) + 0.5, top);
    g.lineTo(Math.round(x(0)) + 0.5, LOW - foot);
    g.stroke();
    g.fillStyle = theme.token("ink-2");
    g.textBaseline = "middle";
    for (const v of ticks(lo, hi, 6)) {
      const size = g.measureText(tick(v)).width;
      g.textAlign = "left";
      g.fillText(tick(v), Math.max(0, Math.min(wide - size, x(v) - size / 2)), LOW - foot + 11);
    }
  }
  return { root, paint: () => draw(false) };
}

