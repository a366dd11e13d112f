// The loss over the steps: a smoothed line in its band of least and largest, validations, what a rewind has undone, and
// the learning rate under it.

import { el, on, onWidth, painter, prepare, ratio } from "../shared/dom";
import { count } from "../shared/format";
import { drawAlarm, drawMarks, epochs } from "./course";
import { band, middle, type Range, range, smooth } from "./curve";
import { lossTable } from "./losstable";
import { finite, loss as lossText, rate, short, tick, ticks } from "./numbers";
import { drawPins, pins, reach } from "./plot";
import { at, drawRate, HIGH as LR } from "./rate";
import { tabs } from "./tabs";
import type { Columns } from "./types";
import { type Part, put, set, unchanged, type View } from "./view";

const HIGH = 250;
const [RIGHT, TOP, FOOT] = [12, 44, 18];

export function loss(view: View): Part {
  const { signal, theme } = view;
  const canvas = el("canvas.vt-w-plot", { tabindex: 0, role: "img" });
  const space = el("div.vt-w-space", {}, canvas);
  const big = el("b.vt-w-big");
  const readout = el("span.vt-w-read");
  const keys = el(
    "span.vt-w-legend",
    { "aria-hidden": "true" },
    ...[
      ["line", "mean"],
      ["band", "min to max"],
      ["ring", "validation"],
      ["dash", "undone"],
    ].map(([kind, text]) => el("span", { "data-kind": kind as string }, el("i"), el("span", { text: text as string }))),
  );
  const mean = keys.firstChild as HTMLElement;
  const over = el("select.vt-w-small", { "aria-label": "smoothing" });
  for (const n of [1, 5, 20, 50, 200])
    over.append(el("option", { value: n, text: n === 1 ? "no smoothing" : `mean of ${n}` }));
  over.value = "20";
  let [log, table] = [false, false];
  const scale = tabs<"linear" | "log">(
    "scale of the loss",
    "vt-w-seg",
    [
      { key: "linear", text: "linear" },
      { key: "log", text: "log" },
    ],
    (key) => {
      log = key === "log";
      frame = null;
      scale.mark(key);
      again();
    },
    signal,
    "radio",
  );
  const look = tabs<"curve" | "table">(
    "loss as",
    "vt-w-seg",
    [
      { key: "curve", text: "curve" },
      { key: "table", text: "table" },
    ],
    (key) => {
      table = key === "table";
      cursor = null;
      readout.textContent = "";
      root.classList.remove("vt-w-reading");
      look.mark(key);
      space.hidden = table;
      sheet.hidden = !table;
      again();
    },
    signal,
    "radio",
  );
  scale.mark("linear");
  look.mark("curve");
  const sheet = el("div.vt-w-sheet", { tabindex: 0, hidden: true });
  const root = el(
    "section.vt-w-part.vt-w-loss",
    { "aria-label": "loss" },
    el("div.vt-w-h", {}, el("span.vt-w-h3", { text: "Loss" }), big, el("span.vt-space"), over, scale.root, look.root),
    el("div.vt-w-legends", {}, keys, readout),
    space,
    sheet,
  );
  let wide = 0;
  let left = 36; // wider where the numbers of the axis are
  let cursor: number | null = null; // a step
  let frame: Range | null = null;
  let last = 0;
  const again = painter(draw, signal);
  onWidth(
    space,
    (width) => {
      wide = width;
      draw();
    },
    signal,
  );
  on(over, "change", again, signal);
  const x = (step: number): number => left + (step / Math.max(1, last)) * (wide - left - RIGHT);
  on(
    canvas,
    "pointermove",
    (e) => {
      cursor = Math.round(((e.offsetX - left) / (wide - left - RIGHT)) * last);
      again();
    },
    signal,
  );
  const leave = (): void => {
    cursor = null;
    again();
  };
  on(canvas, "pointerleave", leave, signal);
  on(canvas, "blur", leave, signal);
  on(
    canvas,
    "keydown",
    (e) => {
      const now = cursor ?? view.state.head.step;
      const leap = Math.max(1, Math.round(last / 100)) * (e.shiftKey ? 10 : 1);
      const to = { ArrowLeft: now - leap, ArrowRight: now + leap, Home: 1, End: view.state.head.step }[e.key];
      if (to === undefined) return;
      cursor = Math.max(1, Math.min(view.state.head.step, to));
      again();
      e.preventDefault();
      e.stopPropagation();
    },
    signal,
  );

  const marksOf = ({ lo, hi }: Range): number[] =>
    log ? Array.from({ length: Math.round(Math.log10(hi / lo)) + 1 }, (_, i) => lo * 10 ** i) : ticks(lo, hi, 6);

  function draw(): void {
    const { state } = view;
    if (table) return drawTable();
    const g = wide > left + RIGHT + 20 ? prepare(canvas, wide, HIGH, ratio()) : null;
    if (!g) return;
    const { curve, lr, undone } = state.loss;
    g.font = `11px ${theme.token("font") || "sans-serif"}`;
    last = reach(state, last);
    left = Math.max(left, ...(frame ? marksOf(frame).map((v) => g.measureText(tick(v)).width + 10) : []));
    const perPixel = last / (wide - left - RIGHT);
    const line = smooth(curve, Number(over.value));
    const all = band(curve, Math.max(3 * perPixel, 2));
    const old = undone.map((one) => smooth(one, Number(over.value)));
    frame = range(line, all, log, frame);
    const { lo, hi } = frame;
    const [top, bottom] = [TOP, HIGH - FOOT - LR];
    const y = (v: number): number => {
      const t = log ? Math.log(Math.max(v, lo) / lo) / Math.log(hi / lo) : (v - lo) / (hi - lo || 1);
      return bottom - Math.max(0, Math.min(1.02, t)) * (bottom - top);
    };
    const [ink, ink2, ink3, hair, value, bg] = ["ink", "ink-2", "ink-3", "line", "value", "bg"].map((n) =>
      theme.token(n),
    ) as [string, string, string, string, string, string];
    g.textBaseline = "middle";
    g.lineJoin = "round";
    g.lineWidth = 1; // a canvas that keeps its size keeps what was set before
    // axes
    g.strokeStyle = hair;
    g.fillStyle = ink2;
    g.textAlign = "right";
    const marks = marksOf(frame);
    for (const v of marks) {
      const h = Math.round(y(v)) + 0.5;
      g.beginPath();
      g.strokeStyle = v === 0 ? ink3 : hair;
      g.moveTo(left, h);
      g.lineTo(wide - RIGHT, h);
      g.stroke();
      g.fillText(tick(v), left - 6, h);
    }
    steps(g, ink2, hair, top, HIGH - FOOT);
    const box = { left, right: wide - RIGHT, top, bottom, foot: HIGH - FOOT };
    const [bad, soft, accent] = ["bad", "bad-soft", "accent"].map((n) => theme.token(n)) as [string, string, string];
    drawAlarm(g, state, x, box, { bad, soft, accent, faint: ink3, bg });
    // band, then what was undone, then the line
    g.fillStyle = value;
    g.globalAlpha = 0.22;
    g.beginPath();
    all.at.forEach((step, i) => g.lineTo(x(step), y(all.high[i] as number)));
    for (let i = all.at.length - 1; i >= 0; i--) g.lineTo(x(all.at[i] as number), y(all.low[i] as number));
    g.fill();
    g.globalAlpha = 1;
    const trace = (values: Float64Array, columns: Columns): void => {
      g.beginPath();
      let pen = false;
      for (let c = 0; c < values.length; c++) {
        const v = values[c] as number;
        if (v !== v) pen = false;
        else {
          const px = x(middle(columns, c));
          if (pen) g.lineTo(px, y(v));
          else g.moveTo(px, y(v));
          pen = true;
        }
      }
      g.stroke();
    };
    g.strokeStyle = ink3;
    g.lineWidth = 1.2;
    g.setLineDash([3, 2]);
    old.forEach((values, i) => trace(values, undone[i] as Columns));
    g.setLineDash([]);
    g.strokeStyle = value;
    g.lineWidth = 1.8;
    trace(line, curve);
    // not finite, and beyond the axis
    g.textAlign = "center";
    g.fillStyle = theme.token("bad");
    const wideC = curve.bad.shape[1] ?? 0;
    let crossed = -Infinity;
    for (let c = 0; c < wideC; c++) {
      if (!curve.bad.data[c]) continue;
      const px = x(middle(curve, c));
      if (px - crossed < 9) continue;
      crossed = px;
      g.fillText("✕", px, top + 4);
    }
    if (frame.above) {
      g.fillStyle = ink2;
      const i = all.high.indexOf(frame.above);
      const px = x(all.at[i] ?? 0);
      g.textAlign = px > wide / 2 ? "right" : "left";
      g.fillText(px > wide / 2 ? `up to ${short(frame.above)} ▲` : `▲ up to ${short(frame.above)}`, px, top - 7);
    }
    // validation
    const checks = state.validation.filter((one) => finite(one.loss) !== null);
    g.strokeStyle = ink;
    g.lineWidth = 1;
    g.globalAlpha = 0.5;
    g.beginPath();
    for (const one of checks) g.lineTo(x(one.step), y(finite(one.loss) as number));
    g.stroke();
    g.globalAlpha = 1;
    g.lineWidth = 1.4;
    g.fillStyle = bg;
    for (const one of checks.length > 40 ? checks.slice(-1) : checks) {
      g.beginPath();
      g.arc(x(one.step), y(finite(one.loss) as number), 3, 0, 7);
      g.fill();
      g.stroke();
    }
    drawRate(g, lr, x, { left, right: wide - RIGHT, top: bottom, step: state.head.step, ink, faint: ink2 });
    drawMarks(g, state, x, box, { bad, soft, accent, faint: ink3, bg });
    drawPins(
      g,
      pins(state.log.items),
      x,
      { right: wide - RIGHT, top: 1, bottom: HIGH - FOOT, rows: 2 },
      { ink: ink2, faint: ink3, bg, text: ink2 },
    );
    drawCursor(g, line, y, bottom);
    put(big, lossText(state.head.loss));
    big.classList.toggle("vt-w-nan", state.head.loss !== null && finite(state.head.loss) === null);
    put(mean.lastChild as Element, over.value === "1" ? "each step" : `mean of ${over.value}`);
    (keys.children[3] as HTMLElement).hidden = !undone.length;
    (keys.children[2] as HTMLElement).hidden = !checks.length;
    set(
      canvas,
      "aria-label",
      `loss, ${lossText(state.head.loss)} after step ${count(state.head.step)}; ` +
        "arrows move the cursor, the table beside it holds the numbers",
    );
  }

  /** Steps and epochs under the picture. */
  function steps(g: CanvasRenderingContext2D, ink: string, hair: string, top: number, bottom: number): void {
    const y = bottom + 10;
    const spans = epochs(view.state.head, last);
    const few = spans.length > 0 && spans.length <= 8;
    const marks = few ? [0, ...spans.map((one) => one.to).filter((to) => to > 0)] : ticks(0, last, 5);
    g.fillStyle = ink;
    g.strokeStyle = hair;
    let end = -Infinity;
    for (const step of marks) {
      if (step > last) continue;
      const px = Math.round(x(step)) + 0.5;
      g.beginPath();
      g.moveTo(px, top);
      g.lineTo(px, bottom);
      g.stroke();
      const text = step ? count(step) : "step 0";
      const size = g.measureText(text).width;
      const start = step === 0 ? left : Math.min(px - size / 2, wide - 2 - size);
      if (start < end + 8) continue;
      g.textAlign = "left";
      g.fillText(text, start, y);
      end = start + size;
    }
    if (!few) return;
    g.textAlign = "center";
    spans.forEach((one, k) => {
      const text = `epoch ${one.epoch}`;
      const [from, to] = [x(one.from), x(Math.min(last, one.to))];
      if (to - from > g.measureText(text).width + (k ? 44 : 76)) g.fillText(text, (from + to) / 2 + (k ? 0 : 8), y);
    });
  }

  function drawCursor(g: CanvasRenderingContext2D, line: Float64Array, y: (v: number) => number, bottom: number): void {
    const { curve, lr } = view.state.loss;
    const step = cursor === null ? null : Math.max(1, Math.min(view.state.head.step, cursor));
    root.classList.toggle("vt-w-reading", step !== null && view.state.head.step > 0);
    if (step === null || !view.state.head.step) {
      put(readout, "");
      return;
    }
    const c = Math.floor(step / curve.width);
    const [v, low, high] = [line[c] ?? NaN, curve.low.data[c] as number, curve.high.data[c] as number];
    g.strokeStyle = theme.token("accent");
    g.lineWidth = 1;
    const px = Math.round(x(step)) + 0.5;
    g.beginPath();
    g.moveTo(px, TOP);
    g.lineTo(px, bottom + LR);
    g.stroke();
    if (v === v) {
      g.fillStyle = theme.token("accent");
      g.beginPath();
      g.arc(px, y(v), 3, 0, 7);
      g.fill();
    }
    const own = low === low ? (low === high ? lossText(low) : `${lossText(low)} to ${lossText(high)}`) : "–";
    const check = view.state.validation.find((one) => Math.abs(x(one.step) - px) < 4 && one.loss !== null);
    const parts = [
      curve.width === 1
        ? `step ${count(step)}: ${own}`
        : `steps ${count(c * curve.width)} to ${count((c + 1) * curve.width - 1)}: ${own}`,
      over.value === "1" || v !== v ? "" : `mean ${lossText(v)}`,
      check ? `validation ${lossText(check.loss)}` : "",
      lr && at(lr, step) === at(lr, step) ? `lr ${rate(at(lr, step))}` : "",
    ];
    put(readout, parts.filter(Boolean).join(" · "));
  }

  const sameTable = unchanged();
  function drawTable(): void {
    const { head, log: events, validation } = view.state;
    put(big, lossText(head.loss));
    if (!sameTable(Math.floor(head.step / 20), events.items.length, validation.length))
      sheet.replaceChildren(lossTable(view.state));
  }
  return { root, paint: draw };
}
