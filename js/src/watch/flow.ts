// The norm of each parameter's gradient over the steps: a row a parameter, on a log scale that only grows.

import { css, pixel } from "../shared/colour";
import { el, on, onWidth, painter, prepare, ratio } from "../shared/dom";
import { count } from "../shared/format";
import { real } from "../shared/payload";
import { power, short, ticks } from "./numbers";
import { cut, drawPins, pins, reach } from "./plot";
import { type Part, put, set, unchanged, type View } from "./view";

const [ROW, TOP, FOOT, RIGHT, CELL] = [20, 18, 20, 58, 5];
const MOST = 200;

/** A piece of a row: its largest finite norm (NaN: none), whether all are exactly zero, whether one is not finite. */
export interface Piece {
  high: number;
  zero: boolean;
  bad: boolean;
  /** Not looked at: what the look before it showed. */
  stale: boolean;
}


export function flow(view: View): Part {
  const { signal, theme } = view;
  const canvas = el("canvas", { role: "img", tabindex: 0 });
  const space = el("div.vt-w-space", {}, canvas);
  const box = el("div.vt-w-flowbox", {}, space);
  const readout = el("span.vt-w-read");
  const rampCanvas = el("canvas.vt-w-ramp", { "aria-hidden": "true" });
  const [loText, hiText] = [el("span"), el("span")];
  const none = el("div.vt-w-none");
  const root = el(
    "div.vt-w-flow",
    {},
    el(
      "div.vt-w-h",
      {},
      el("span.vt-w-h3", { text: "Gradient norm" }),
      el("span.vt-note.vt-w-wide", { text: "largest ‖g‖₂ in each column, log scale" }),
      el("span.vt-space"),
      readout,
    ),
    box,
    none,
    el(
      "div.vt-w-caption.vt-w-wrap",
      {},
      loText,
      rampCanvas,
      hiText,
      el("span", { text: "the scale only grows; ▲ far from the other rows" }),
      el("span.vt-space"),
      el("span", { text: "pale: not looked at" }),
      el("span", {}, el("i.vt-w-hatch", { "aria-hidden": "true" }), "exactly zero"),
      el("span", {}, el("span.vt-badc", { text: "✕", "aria-hidden": "true" }), " not finite"),
    ),
  );
  /** Whether a norm is far below the largest of its pass, or far above the middle one: Python says where that begins. */
  const flagged = (norm = NaN): boolean => {
    const [low, high] = (view.state.flow.bounds ?? []).map(real);
    return (norm > 0 && norm < (low ?? 0)) || norm > (high ?? Infinity);
  };
  const labelOf = (name: string, norm?: number): string => (flagged(norm) ? `▲ ${name}` : name);
  let wide = 0;
  let last = 0;
  let [g0, g1] = [-2, 1];
  let spot: [number, number] | null = null; // row, column
  const small = el("canvas");
  const sameRamp = unchanged();
  let left = 84;
  const again = painter(draw, signal);
  onWidth(
    box,
    (width) => {
      wide = width;
      draw();
    },
    signal,
  );
  const columnsOf = (): number => Math.max(1, Math.floor((wide - left - RIGHT) / CELL));
  on(
    canvas,
    "pointermove",
    (e) => {
      const row = Math.floor((e.offsetY - TOP) / ROW);
      const column = Math.floor((e.offsetX - left) / CELL);
      spot = row >= 0 && column >= 0 && column < columnsOf() ? [row, column] : null;
      again();
    },
    signal,
  );
  const leave = (): void => {
    spot = null;
    again();
  };
  on(canvas, "pointerleave", leave, signal);
  on(canvas, "blur", leave, signal);
  on(
    canvas,
    "keydown",
    (e) => {
      const [r, c] = spot ?? [0, Math.floor((view.state.head.step / Math.max(1, last)) * columnsOf())];
      const to = { ArrowUp: [r - 1, c], ArrowDown: [r + 1, c], ArrowLeft: [r, c - 1], ArrowRight: [r, c + 1] }[e.key];
      if (!to) return;
      const rows = view.state.flow.names.length;
      spot = [
        Math.max(0, Math.min(rows - 1, to[0] as number)),
        Math.max(0, Math.min(columnsOf() - 1, to[1] as number)),
      ];
      again();
      e.preventDefault();
      e.stopPropagation();
    },
    signal,
  );

  function pieces(row: number, cells: number): (Piece | null)[] {
    const columns = view.state.flow.columns;
    const out = new Array<Piece | null>(cells).fill(null);
    if (!columns) return out;
    const n = columns.high.shape[1] ?? 0;
    const per = last / cells;
    for (let c = 0; c < n; c++) {
      const high = columns.high.data[row * n + c] as number;
      const bad = (columns.bad.data[row * n + c] as number) > 0;
      if (high !== high && !bad) continue;
      // A column of several steps may cover several cells.
      const from = Math.min(cells - 1, Math.floor(((columns.from + c) * columns.width) / per));
      const to = Math.min(cells - 1, Math.max(from, Math.ceil(((columns.from + c + 1) * columns.width) / per) - 1));
      for (let k = from; k <= (columns.width > per ? to : from); k++) {
        const had = out[k] ?? { high: NaN, zero: true, bad: false, stale: false };
        out[k] = {
          high: had.high >= high ? had.high : high === high ? high : had.high,
          zero: had.zero && high === 0,
          bad: had.bad || bad,
          stale: false,
        };
      }
    }
    // Gradients are not looked at in every step: what was not looked at is pale, and shows what was before it.
    const now = Math.min(cells - 1, Math.floor(view.state.head.step / per));
    for (let k = 1; k <= now; k++) {
      const before = out[k - 1];
      if (!out[k] && before && !before.bad) out[k] = { ...before, stale: true };
    }
    return out;
  }

  function draw(): void {
    const { state } = view;
    const { names, now } = state.flow;
    const rows = Math.min(MOST, names.length);
    put(
      none,
      rows
        ? names.length > rows
          ? `and ${count(names.length - rows)} more parameters`
          : ""
        : "No gradient has been seen yet.",
    );
    none.hidden = rows > 0 && names.length <= rows;
    const high = TOP + Math.max(1, rows) * ROW + FOOT;
    const g = wide > 200 ? prepare(canvas, wide, high, ratio()) : null;
    if (!g) return;
    const font = theme.token("font") || "sans-serif";
    g.font = `11px ${font}`;
    left = Math.min(
      wide * 0.32,
      12 + Math.max(40, ...names.slice(0, rows).map((name, r) => g.measureText(labelOf(name, now.data[r])).width)),
    );
    last = reach(state, last);
    const cells = columnsOf();
    const right = left + cells * CELL;
    const all = names.slice(0, rows).map((_, row) => pieces(row, cells));
    for (const row of all)
      for (const piece of row) {
        if (!piece || !(piece.high > 0)) continue;
        const ten = Math.log10(piece.high);
        g0 = Math.min(g0, Math.max(-12, Math.floor(ten + 0.35)));
        g1 = Math.max(g1, Math.min(8, Math.ceil(ten - 0.35)));
      }
    const ramp = theme.ramp("ember", false, 64).map((one) => pixel(one));
    const pixels = new Uint32Array(cells * Math.max(1, rows));
    const [ink, ink2, ink3, panel, bg] = ["ink", "ink-2", "ink-3", "panel", "bg"].map((n) => theme.token(n)) as [
      string,
      string,
      string,
      string,
      string,
    ];
    g.fillStyle = panel;
    g.fillRect(left, TOP, right - left, rows * ROW - 1);
    g.textBaseline = "middle";
    g.lineWidth = 1;
    all.forEach((row, r) => {
      const y = TOP + r * ROW;
      const value = now.data[r] ?? NaN;
      const flag = flagged(value);
      g.textAlign = "right";
      g.fillStyle = flag ? theme.token("warn") : ink;
      g.fillText(cut(g, labelOf(names[r] as string, value), left - 8), left - 6, y + ROW / 2);
      const bad = Boolean(state.flow.there?.data[r]) && !Number.isFinite(value);
      if (bad) g.fillStyle = theme.token("bad");
      g.fillText(bad ? `✕ ${Number.isNaN(value) ? "NaN" : "inf"}` : short(value), wide - 4, y + ROW / 2);
      row.forEach((piece, c) => {
        if (!piece) return;
        const px = left + c * CELL;
        if (piece.high > 0) {
          const t = (Math.log10(piece.high) - g0) / (g1 - g0);
          const full = ramp[Math.max(0, Math.min(63, Math.round(t * 63)))] as number;
          pixels[r * cells + c] = piece.stale ? ((full & 0x00ffffff) | (0x59 << 24)) >>> 0 : full;
        } else if (piece.zero && !piece.stale) {
          g.strokeStyle = ink3;
          g.beginPath();
          for (let k = 0; k < ROW; k += 4) {
            g.moveTo(px, Math.min(y + k + 4, y + ROW - 1));
            g.lineTo(px + CELL, y + k);
          }
          g.stroke();
        }
      });
    });
    // A pixel a cell, drawn large row by row; then what stands on cells.
    if (rows) {
      small.width = cells;
      small.height = rows;
      small.getContext("2d")?.putImageData(new ImageData(new Uint8ClampedArray(pixels.buffer), cells, rows), 0, 0);
      g.imageSmoothingEnabled = false;
      for (let r = 0; r < rows; r++) g.drawImage(small, 0, r, cells, 1, left, TOP + r * ROW, cells * CELL, ROW - 1);
    }
    g.fillStyle = theme.token("bad");
    g.textAlign = "center";
    all.forEach((row, r) =>
      row.forEach((piece, c) => {
        if (piece?.bad) g.fillText("✕", left + c * CELL + CELL / 2, TOP + r * ROW + ROW / 2);
      }),
    );
    g.fillStyle = ink2;
    g.textAlign = "right";
    g.fillText("newest", wide - 4, 8);
    const x = (step: number): number => left + (step / Math.max(1, last)) * (right - left);
    const bottom = TOP + rows * ROW;
    let end = -Infinity;
    for (const step of ticks(0, last, Math.max(2, Math.floor((right - left) / 110)))) {
      const text = step ? count(step) : "step 0";
      const size = g.measureText(text).width;
      const start = step ? Math.min(x(step) - size / 2, wide - size) : left;
      if (start < end + 8) continue;
      g.textAlign = "left";
      g.fillText(text, start, bottom + 10);
      end = start + size;
    }
    drawPins(
      g,
      pins(state.log.items).filter((pin) => !pin.undone),
      x,
      { right, top: 1, bottom, rows: 1 },
      { ink: ink2, faint: ink3, bg, text: ink2 },
    );
    drawSpot(g, all, cells);
    put(loText, power(10 ** g0, 1));
    put(hiText, power(10 ** g1, 1));
    if (!sameRamp(theme.token("ember"))) drawRamp();
    set(
      canvas,
      "aria-label",
      `gradient norms now: ${names
        .slice(0, rows)
        .map((name, r) => `${name} ${short(now.data[r] ?? NaN)}`)
        .join(", ")}`,
    );
  }

  function drawRamp(): void {
    const g = prepare(rampCanvas, 120, 9, ratio());
    theme.ramp("ember", false, 64).forEach((colour, i) => {
      if (!g) return;
      g.fillStyle = css(colour);
      g.fillRect((i * 120) / 64, 0, 3, 9);
    });
  }

  function drawSpot(g: CanvasRenderingContext2D, all: (Piece | null)[][], cells: number): void {
    const { names, columns } = view.state.flow;
    const piece = spot ? all[spot[0]]?.[spot[1]] : null;
    if (!spot || spot[0] >= all.length || !columns) {
      put(readout, "");
      return;
    }
    g.strokeStyle = theme.token("accent");
    g.lineWidth = 2;
    g.strokeRect(left + spot[1] * CELL, TOP + spot[0] * ROW, CELL, ROW - 1);
    const per = last / cells;
    const [a, b] = [Math.floor(spot[1] * per), Math.max(Math.floor(spot[1] * per), Math.ceil((spot[1] + 1) * per) - 1)];
    const value = !piece || piece.stale ? "not looked at" : piece.bad ? "not finite" : piece.zero ? "exactly zero" : short(piece.high);
    put(readout, `${names[spot[0]]}, step ${a === b ? count(a) : `${count(a)} to ${count(b)}`}: ${value}`);
  }
  return { root, paint: draw };
}
