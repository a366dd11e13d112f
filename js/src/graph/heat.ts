// A value that travels with a record as a small picture: its last two axes as rows and columns, the axes before them
// as tiles. Where a pixel stands for several values it shows the largest, and what is not finite before all others.

import { NAN, NEGINF, POSINF } from "../shared/colour";
import { el, painter, prepare, ratio } from "../shared/dom";
import { num } from "../shared/format";
import { type Nd, real } from "../shared/payload";
import type { Theme } from "../shared/theme";

export interface Value {
  shape: number[];
  dtype: string;
  norm: unknown;
  min: unknown;
  max: unknown;
  mean: unknown;
  nan: number;
  posinf: number;
  neginf: number;
  zeros: number;
  block: number[];
  grid: number[];
  exact: boolean;
  data?: Nd;
  codes?: Nd;
  levels?: Nd;
}

export const normOf = (value: Value | null | undefined): number => (value ? real(value.norm) : NaN);

/** A value that is one real number, with its sign; null for any other. */
export function single(value: Value | null | undefined): number | null {
  if (!value?.data || value.dtype.startsWith("complex") || value.shape.some((n) => n !== 1)) return null;
  return Number(value.data.data[0]);
}

/** How large a value is: one number with its sign, of several the norm. */
export const sizeText = (value: Value, digits: number): string => num(single(value) ?? normOf(value), digits);

/** Every number of a value; none where only its statistics came. */
export function numbers(value: Value): ArrayLike<number> {
  if (value.data) return value.data.data;
  if (!value.codes || !value.levels) return [];
  const { codes, levels } = value;
  const top = codes.data instanceof Uint16Array ? 65535 : 255;
  return Float64Array.from(codes.data as ArrayLike<number>, (code) =>
    code === top ? NaN : code === top - 1 ? Infinity : code === top - 2 ? -Infinity : (levels.data[code] as number),
  );
}

const most = (value: Value): number => Math.max(Math.abs(real(value.min)) || 0, Math.abs(real(value.max)) || 0) || 1;

const TILES = 48;

/** Whether an axis of tiles, rows, columns fills the box best: how many tiles stand in a row. */
function across(n: number, rows: number, cols: number, w: number, h: number): number {
  let [best, size] = [1, 0];
  for (let k = 1; k <= n; k++) {
    const side = Math.min((w - (k - 1) * 2) / (k * cols), (h - (Math.ceil(n / k) - 1) * 2) / (Math.ceil(n / k) * rows));
    if (side > size) [best, size] = [k, side];
  }
  return best;
}

export interface Heat {
  root: HTMLCanvasElement;
  repaint(): void;
}

/** A picture of a value in so many pixels. */
export function heat(
  value: Value,
  role: "gradient" | "value",
  theme: Theme,
  width: number,
  height: number,
  signal: AbortSignal,
): Heat {
  const root = el("canvas.vt-heat", { role: "img", "aria-label": describe(value) });
  root.title = describe(value);
  root.style.width = `${width}px`;
  root.style.height = `${height}px`;
  const repaint = painter(() => paint(root, value, role, theme, width, height), signal);
  repaint();
  return { root, repaint };
}

export function describe(value: Value): string {
  const bad = [
    value.nan ? `${value.nan} NaN` : "",
    value.posinf ? `${value.posinf} +inf` : "",
    value.neginf ? `${value.neginf} −inf` : "",
  ].filter(Boolean);
  const range = value.min === null ? [] : [`from ${num(real(value.min), 3)} to ${num(real(value.max), 3)}`];
  return [...range, ...bad, value.exact ? "" : "an overview"].filter(Boolean).join(", ");
}

function paint(root: HTMLCanvasElement, value: Value, role: string, theme: Theme, width: number, height: number): void {
  const k = ratio();
  const pen = prepare(root, width, height, k);
  const data = numbers(value);
  if (!pen) return;
  if (!data.length) {
    pen.fillStyle = theme.token("panel");
    pen.fillRect(0, 0, width, height);
    return;
  }
  const [rows, cols] = [value.grid.at(-2) ?? 1, value.grid.at(-1) ?? 1];
  const all = Math.max(1, Math.round(data.length / (rows * cols)));
  const count = Math.min(all, TILES);
  const colours = theme.palette(role === "gradient" ? "ember" : "tide", true);
  const high = most(value);
  const code = (v: number): number =>
    Number.isNaN(v) ? NAN : v === Infinity ? POSINF : v === -Infinity ? NEGINF : Math.round((Math.max(-1, Math.min(1, v / high)) + 1) * 126);
  const [W, H] = [root.width, root.height];
  const image = pen.createImageData(W, H);
  const pixels = new Uint32Array(image.data.buffer);
  const beside = across(count, rows, cols, width, height);
  const down = Math.ceil(count / beside);
  const gap = count > 1 ? 2 * k : 0;
  const one = Math.min((W - (beside - 1) * gap) / (beside * cols), (H - (down - 1) * gap) / (down * rows));
  const tileW = count > 1 ? one * cols : W;
  const tileH = count > 1 ? one * rows : rows === 1 ? Math.min(H, 14 * k) : H;
  for (let t = 0; t < count; t++) {
    const left = (t % beside) * (tileW + gap);
    const top = count > 1 ? Math.floor(t / beside) * (tileH + gap) : (H - tileH) / 2;
    fill(pixels, W, H, { left, top, tileW, tileH, rows, cols, at: t * rows * cols, data, code, colours });
  }
  pen.putImageData(image, 0, 0);
}

interface Tile {
  left: number;
  top: number;
  tileW: number;
  tileH: number;
  rows: number;
  cols: number;
  at: number;
  data: ArrayLike<number>;
  code(v: number): number;
  colours: Uint32Array;
}

function fill(pixels: Uint32Array, W: number, H: number, tile: Tile): void {
  const { left, top, tileW, tileH, rows, cols, at, data, code, colours } = tile;
  const [x0, y0] = [Math.round(left), Math.round(top)];
  const [w, h] = [Math.max(1, Math.round(tileW)), Math.max(1, Math.round(tileH))];
  for (let y = 0; y < h && y0 + y < H; y++) {
    const [r0, r1] = [Math.floor((y * rows) / h), Math.max(Math.floor((y * rows) / h) + 1, Math.floor(((y + 1) * rows) / h))];
    for (let x = 0; x < w && x0 + x < W; x++) {
      const [c0, c1] = [Math.floor((x * cols) / w), Math.max(Math.floor((x * cols) / w) + 1, Math.floor(((x + 1) * cols) / w))];
      let found = 126;
      for (let r = r0; r < r1; r++) {
        for (let c = c0; c < c1; c++) {
          const next = code(data[at + r * cols + c] as number);
          if (next > 252 || (found <= 252 && Math.abs(next - 126) > Math.abs(found - 126))) found = next;
        }
      }
      pixels[(y0 + y) * W + x0 + x] = colours[found] as number;
    }
  }
}

/** The scale below a picture: its ends and how it runs. */
export function scaleLine(value: Value, role: "gradient" | "value", theme: Theme, signal: AbortSignal): [HTMLElement, () => void] {
  const canvas = el("canvas", { "aria-hidden": "true" });
  const ends = most(value);
  const repaint = painter(() => {
    const pen = prepare(canvas, 84, 8, ratio());
    const ramp = theme.ramp(role === "gradient" ? "ember" : "tide", true, 84);
    ramp.forEach(([r, g, b], i) => {
      if (!pen) return;
      pen.fillStyle = `rgb(${r},${g},${b})`;
      pen.fillRect(i, 0, 1.5, 8);
    });
  }, signal);
  repaint();
  const words = [value.block.some((b) => b > 1) ? "each block by its extreme" : "linear, ±max"];
  if (value.nan || value.posinf || value.neginf) words.push(describe({ ...value, min: null, exact: true }));
  return [
    el(
      "div.vt-scaleline",
      {},
      el("span", { text: num(-ends, 2) }),
      canvas,
      el("span", { text: `+${num(ends, 2)}` }),
      el("span.vt-space"),
      el("span", { text: words.join(" · ") }),
    ),
    repaint,
  ];
}
