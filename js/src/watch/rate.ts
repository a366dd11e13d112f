// The learning rate under the curve of the loss.

import { rate } from "./numbers";
import type { Columns } from "./types";

export const HIGH = 34; // of the strip of the learning rate

/** The mean at a step; NaN where it is not known. */
export function at(columns: Columns | null, step: number, row = 0): number {
  if (!columns) return NaN;
  const wide = columns.mean.shape[1] ?? 0;
  const c = Math.floor(step / columns.width);
  return c < wide ? (columns.mean.data[row * wide + c] as number) : NaN;
}

interface Strip {
  left: number;
  right: number;
  /** Where the strip begins. */
  top: number;
  /** The newest step. */
  step: number;
  ink: string;
  faint: string;
}

/** The learning rate of each group, as steps, on a scale from the least to the largest. */
export function drawRate(
  g: CanvasRenderingContext2D,
  lr: Columns | null,
  x: (step: number) => number,
  box: Strip,
): void {
  const above = box.top;
  const [top, bottom] = [above + 14, above + HIGH - 6];
  g.fillStyle = box.faint;
  g.textAlign = "right";
  g.fillText("lr", box.left - 6, (top + bottom) / 2);
  if (!lr) return;
  const n = lr.mean.shape[1] ?? 0;
  const groups = Math.min(4, lr.mean.shape[0] ?? 0);
  let [lo, hi] = [Infinity, 0];
  for (let i = 0; i < groups * n; i++) {
    const v = lr.mean.data[i] as number;
    if (v > 0 && v < lo) lo = v;
    if (v > hi) hi = v;
  }
  if (!(hi > 0)) return;
  const y = (v: number): number => {
    if (lo >= hi) return (top + bottom) / 2;
    const t = Math.log(Math.max(v, lo) / lo) / Math.log(hi / lo);
    return bottom - t * (bottom - top);
  };
  g.strokeStyle = box.faint;
  g.lineWidth = 1.4;
  for (let row = 0; row < groups; row++) {
    g.beginPath();
    let [before, px, pen] = [NaN, 0, false];
    for (let c = 0; c < n; c++) {
      const v = lr.mean.data[row * n + c] as number;
      if (v !== v) continue;
      px = x(c * lr.width);
      if (!pen) g.moveTo(px, y(v));
      else if (v !== before) {
        g.lineTo(px, y(before));
        g.lineTo(px, y(v));
      }
      pen = true;
      before = v;
    }
    if (!pen) continue;
    px = Math.max(px, x(box.step));
    g.lineTo(px, y(before));
    g.stroke();
    if (row) continue;
    const text = rate(before);
    g.save();
    g.font = `600 ${g.font}`;
    g.fillStyle = box.ink;
    const wideT = g.measureText(text).width;
    const right = px + 6 + wideT < box.right;
    g.textAlign = right ? "left" : "right";
    const h = y(before);
    g.fillText(text, right ? px + 6 : box.right, right ? h : h < above + 20 ? h + 9 : h - 8);
    g.restore();
  }
}
