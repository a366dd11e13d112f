// What is drawn over the pixels: signs for what is not finite, numbers in cells, the frames of cursor and pointer.

import { inkOn, unpixel } from "../shared/colour";
import { fit } from "../shared/format";
import type { Theme } from "../shared/theme";

export type Pen = CanvasRenderingContext2D;

export interface Rect {
  x: number;
  y: number;
  w: number;
  h: number;
}

/** A cell that is not finite: red, with a halo, and a sign whose shape says which it is. */
export function badCell(pen: Pen, theme: Theme, value: number, r: Rect, halo = true): void {
  const [x, y] = [Math.round(r.x), Math.round(r.y)];
  const [w, h] = [Math.max(1, Math.round(r.x + r.w) - x), Math.max(1, Math.round(r.y + r.h) - y)];
  pen.fillStyle = theme.token("bad");
  pen.fillRect(x, y, w, h);
  if (halo) {
    pen.strokeStyle = theme.token("bg");
    pen.lineWidth = 1;
    pen.strokeRect(x - 0.5, y - 0.5, w + 1, h + 1);
  }
  const size = Math.min(w, h, 18);
  if (size < 5) return;
  const [cx, cy, d] = [x + w / 2, y + h / 2, Math.max(2, size * 0.27)];
  pen.strokeStyle = pen.fillStyle = theme.token("on-bad");
  pen.lineWidth = Math.max(1.4, size * 0.11);
  pen.beginPath();
  if (Number.isNaN(value)) {
    pen.moveTo(cx - d, cy - d);
    pen.lineTo(cx + d, cy + d);
    pen.moveTo(cx + d, cy - d);
    pen.lineTo(cx - d, cy + d);
    pen.stroke();
  } else {
    const up = value > 0 ? 1 : -1;
    pen.moveTo(cx, cy - d * up);
    pen.lineTo(cx + d, cy + d * 0.8 * up);
    pen.lineTo(cx - d, cy + d * 0.8 * up);
    pen.fill();
  }
}

/** A frame that is seen on every colour: an accent line inside a line of the ground. */
export function frame(pen: Pen, theme: Theme, r: Rect, least = 0, thin = false): void {
  const grow = Math.max(0, least - Math.min(r.w, r.h)) / 2;
  const [x, y] = [Math.round(r.x - grow), Math.round(r.y - grow)];
  const [w, h] = [Math.round(r.x + r.w + grow) - x, Math.round(r.y + r.h + grow) - y];
  pen.lineWidth = thin ? 3 : 4;
  pen.strokeStyle = theme.token("bg");
  pen.strokeRect(x, y, w, h);
  pen.lineWidth = thin ? 1 : 2;
  pen.strokeStyle = theme.token(thin ? "ink" : "accent");
  pen.strokeRect(x, y, w, h);
}

/** The number of a cell: so many decimals where they fit, else what is honest in its width. */
export function number(pen: Pen, value: number, colour: number, r: Rect, space: number, decimals: number): void {
  const text = fit(value, space, decimals);
  if (!text) return;
  pen.fillStyle = inkOn(unpixel(colour));
  pen.fillText(text, r.x + r.w / 2, r.y + r.h / 2 + 0.5);
}

/** Ticks for so many items: every 1, 2, 5, 10, ... such that labels keep apart. */
export function tickStep(scale: number, space: number): number {
  let step = 1;
  for (let power = 1; ; power *= 10) {
    for (const k of [1, 2, 5]) {
      step = k * power;
      if (step * scale >= space) return step;
    }
  }
}
