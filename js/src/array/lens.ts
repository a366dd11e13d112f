// The lens: the neighbourhood of the cursor with its numbers printed. Over a tile it shows that tile; over a pooled
// array single values when the kernel has sent them, else blocks, and it says which.

import { el, prepare, ratio } from "../shared/dom";
import { KINDS } from "./bad";
import type { Desk } from "./desk";
import { badCell, frame, number } from "./ink";
import type { Region } from "./tiles";
import type { Sheet } from "./sheet";

const HEAD = 16;
const HIGH = 24;

export class Lens {
  readonly box = el("div", { class: "vt-lens" });
  private canvas = el("canvas", { role: "img" });
  private say = el("div", { class: "vt-note" });
  private desk: Desk;
  private sheet: Sheet;
  private width = 172;
  private plan = "plain";
  private gutter = 0;
  private high = HIGH;
  private wide = 34;

  constructor(desk: Desk, sheet: Sheet) {
    this.desk = desk;
    this.sheet = sheet;
    this.box.append(this.canvas, this.say);
    this.canvas.addEventListener(
      "click",
      (e) => {
        const index = this.at(e.offsetX, e.offsetY);
        if (!index) return;
        desk.chose(index);
        desk.copied(index);
      },
      { signal: desk.signal },
    );
    this.canvas.addEventListener(
      "pointermove",
      (e) => {
        const hover = this.at(e.offsetX, e.offsetY);
        if (String(hover) === String(desk.pose.hover)) return;
        desk.pose.hover = hover;
        desk.changed();
      },
      { signal: desk.signal },
    );
    this.canvas.addEventListener(
      "pointerleave",
      () => {
        desk.pose.hover = null;
        desk.changed();
      },
      { signal: desk.signal },
    );
  }

  get on(): boolean {
    return this.plan !== "plain";
  }

  resize(plan: string, width: number): void {
    this.plan = plan;
    this.width = Math.max(120, Math.floor(width));
    this.box.hidden = !this.on;
  }

  private axis(which: "rows" | "cols"): { axis: number; size: number; step: number } {
    const { pose } = this.desk;
    const axis = pose.frame[which];
    if (axis < 0) return { axis, size: 1, step: 1 };
    return { axis, size: pose.shape[axis] as number, step: pose.fine ? 1 : (pose.block[axis] as number) };
  }

  /** First element and number of cells in each direction. */
  private reach(): { r0: number; c0: number; n: number; m: number } {
    const { pose } = this.desk;
    const [rows, cols] = [this.axis("rows"), this.axis("cols")];
    const most = Math.max(rows.size, cols.size) - 1;
    this.gutter = pose.tiled ? 0 : 8 + 6.7 * String(most).length;
    const room = this.width - this.gutter;
    const all = { n: Math.ceil(rows.size / rows.step), m: Math.ceil(cols.size / cols.step) };
    const m = Math.max(1, Math.min(all.m, Math.floor(room / 33)));
    this.wide = Math.min(room / m, 64);
    const square = pose.tiled && all.n <= 7 && all.m <= 7;
    this.high = square ? Math.min(this.wide, 34) : HIGH;
    const n = Math.max(1, Math.min(all.n, square ? 7 : 11));
    const from = (axis: number, step: number, count: number, total: number): number => {
      const at = axis < 0 ? 0 : Math.floor((pose.cursor[axis] as number) / step);
      return Math.max(0, Math.min(at - Math.floor(count / 2), total - count)) * step;
    };
    return { r0: from(rows.axis, rows.step, n, all.n), c0: from(cols.axis, cols.step, m, all.m), n, m };
  }

  private index(i: number, j: number): number[] {
    const { r0, c0 } = this.reach();
    const [rows, cols] = [this.axis("rows"), this.axis("cols")];
    return this.desk.pose.cursor.map((at, axis) => (axis === rows.axis ? r0 + i * rows.step : axis === cols.axis ? c0 + j * cols.step : at));
  }

  private at(x: number, y: number): number[] | null {
    const { n, m } = this.reach();
    const [i, j] = [Math.floor((y - HEAD) / this.high), Math.floor((x - this.gutter) / this.wide)];
    return i >= 0 && j >= 0 && i < n && j < m ? this.index(i, j) : null;
  }

  /** The corners of what it shows, for the frame on the overview. */
  window(): [number[], number[]] | null {
    if (!this.on || this.desk.pose.tiled) return null;
    const { n, m } = this.reach();
    return [this.index(0, 0), this.index(n - 1, m - 1)];
  }

  /** What it would like to know exactly. */
  wish(): Region | null {
    if (!this.on || !this.desk.live) return null;
    const { n, m } = this.reach();
    const [a, b] = [this.index(0, 0), this.index(n - 1, m - 1)];
    const { channels } = this.desk.pose.frame;
    const { shape } = this.desk.pose;
    return {
      start: a.map((i, axis) => (axis === channels ? 0 : i)),
      stop: b.map((i, axis) => (axis === channels ? (shape[axis] as number) : i + 1)),
      block: a.map(() => 1),
    };
  }

  draw(): void {
    if (!this.on) return;
    const { desk, sheet } = this;
    const { pose, theme } = desk;
    const { r0, c0, n, m } = this.reach();
    const [rows, cols] = [this.axis("rows"), this.axis("cols")];
    const height = HEAD + (this.plan === "big" ? 11 : n) * this.high + 2;
    const pen = prepare(this.canvas, this.width, height, ratio());
    if (!pen) return;
    pen.font = theme.font(10.5);
    pen.textBaseline = "middle";
    pen.textAlign = "center";
    let exact = true;
    for (let i = 0; i < n; i++) {
      for (let j = 0; j < m; j++) {
        const found = sheet.best(this.index(i, j), pose);
        if (!found) continue;
        exact &&= found.source.single;
        const [x, y] = [this.gutter + j * this.wide, HEAD + i * this.high];
        const r = { x: Math.round(x), y: Math.round(y), w: Math.round(x + this.wide) - Math.round(x), h: Math.round(y + this.high) - Math.round(y) };
        const shade = found.source.shades[found.place] as number;
        const colour = found.source.tint[found.place] as number;
        if (shade > 252) {
          badCell(pen, theme, KINDS[255 - shade] as number, r);
          continue;
        }
        pen.fillStyle = `#${[0, 8, 16].map((k) => ((colour >> k) & 255).toString(16).padStart(2, "0")).join("")}`;
        pen.fillRect(r.x, r.y, r.w, r.h);
        // A block's value is not each value's: no number where the kernel will still send one.
        if (found.source.single || !desk.live) number(pen, found.source.values.at(found.place), colour, r, undefined);
      }
    }
    this.edges(r0, c0, n, m, pen);
    const mark = (index: readonly number[], thin: boolean): void => {
      const i = rows.axis < 0 ? 0 : ((index[rows.axis] as number) - r0) / rows.step;
      const j = cols.axis < 0 ? 0 : ((index[cols.axis] as number) - c0) / cols.step;
      if (i < 0 || j < 0 || i >= n || j >= m) return;
      const r = { x: this.gutter + j * this.wide, y: HEAD + i * this.high, w: this.wide, h: this.high };
      frame(pen, theme, { x: Math.max(1, r.x), y: r.y, w: Math.min(r.w, this.width - 1 - r.x), h: r.h }, 0, thin);
    };
    mark(pose.cursor, false);
    if (pose.hover && pose.tileOf(pose.hover).tx === pose.tileOf(pose.cursor).tx && pose.tileOf(pose.hover).ty === pose.tileOf(pose.cursor).ty) mark(pose.hover, true);
    const text = this.words(exact, r0, c0, n, m);
    if (this.say.textContent !== text) this.say.textContent = text;
    this.canvas.setAttribute("aria-label", text || "the numbers around the cursor");
  }

  private edges(r0: number, c0: number, n: number, m: number, pen: CanvasRenderingContext2D): void {
    const { pose, theme } = this.desk;
    const [rows, cols] = [this.axis("rows"), this.axis("cols")];
    pen.font = theme.font(11);
    pen.fillStyle = theme.token("ink-2");
    if (pose.tiled) {
      pen.textAlign = "left";
      const { item } = this.sheet;
      const { across, down } = pose.frame;
      const parts = [across, down].filter((axis) => axis >= 0).map((axis) => `${item.dims[axis]} ${pose.cursor[axis]}`);
      pen.fillText(parts.join(", "), 0, 7, this.width);
      return;
    }
    const put = (text: number, x: number, y: number, on: boolean): void => {
      pen.fillStyle = theme.token(on ? "accent" : "ink-2");
      pen.fillText(String(text), x, y);
    };
    const wide = 7 * String((pose.shape[cols.axis] ?? 1) - 1).length + 4;
    const every = Math.max(1, Math.ceil(wide / this.wide));
    for (let j = 0; j < m; j += every) put(c0 + j * cols.step, this.gutter + (j + 0.5) * this.wide, 7, c0 + j * cols.step === pose.index[cols.axis]);
    pen.textAlign = "right";
    for (let i = 0; i < n; i++) put(r0 + i * rows.step, this.gutter - 5, HEAD + (i + 0.5) * this.high, r0 + i * rows.step === pose.index[rows.axis]);
  }

  private words(exact: boolean, r0: number, c0: number, n: number, m: number): string {
    const { pose, live } = this.desk;
    const [rows, cols] = [this.axis("rows"), this.axis("cols")];
    if (pose.tiled && n === rows.size && m === cols.size && exact) return "";
    const upto = (from: number, count: number, a: { size: number; step: number }): string => `${from}–${Math.min(a.size, from + count * a.step) - 1}`;
    const span = `rows ${upto(r0, n, rows)}, columns ${upto(c0, m, cols)}`;
    if (exact) return `${this.sheet.sources()[0]?.values.rough && !live ? "rounded" : "exact"} values, ${span}`;
    if (live) return `${span} · asking for the values`;
    return `${span} · one number a block: single values need the kernel`;
  }
}
