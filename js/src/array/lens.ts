// The lens: the neighbourhood of the cursor with its numbers printed. It is the same picture under a second camera.
// Over tiles it shows the chosen one; over a pooled array single values when the kernel has sent them, else blocks.

import { el, on } from "../shared/dom";
import type { CardContext } from "./context";
import { placeIn } from "./mosaic";
import type { Pose } from "./pose";
import type { Sheet } from "./sheet";
import { margins, surface } from "./surface";
import type { Region } from "./tiles";

const WIDE = 33;
const HIGH = 24;

export interface Lens {
  box: HTMLElement;
  /** Set its width; 0 puts it away. */
  resize(width: number): void;
  /** The corners of what it shows, for the frame on the overview. */
  window(): [number[], number[]] | null;
  /** What it would like to know exactly. */
  wish(): Region | null;
  draw(): void;
}

export function lens(context: CardContext, sheet: Sheet): Lens {
  const { pose, signal } = context;
  // Everything of the pose but camera, box and fit, which are its own.
  const near = Object.create(pose) as Pose;
  const canvas = el("canvas", { role: "img" });
  const say = el("div.vt-note");
  const picture = surface(canvas, sheet, near, context.theme, { part: "lens", labels: true, lens: null });
  let width = 0;
  let span = { r0: 0, c0: 0, n: 1, m: 1 };

  const along = (which: "rows" | "cols"): { axis: number; size: number; step: number; block: number } => {
    const axis = pose.frame[which];
    const block = axis < 0 ? 1 : (pose.block[axis] as number);
    return { axis, size: axis < 0 ? 1 : (pose.shape[axis] as number), step: pose.fine ? 1 : block, block };
  };

  /** Put the second camera around the cursor. */
  function aim(): void {
    const [rows, cols] = [along("rows"), along("cols")];
    picture.look.labels = !pose.tiled;
    const space = width - margins(pose, !pose.tiled).left - 2;
    const all = { n: Math.ceil(rows.size / rows.step), m: Math.ceil(cols.size / cols.step) };
    const m = Math.max(1, Math.min(all.m, Math.floor(space / WIDE)));
    const wide = Math.min(space / m, 64);
    const small = pose.tiled && all.n < 8;
    const n = Math.min(all.n, small ? 7 : 11);
    const high = small ? Math.min(wide, 34) : HIGH;
    const from = (axis: number, step: number, count: number, total: number): number => {
      const at = axis < 0 ? 0 : Math.floor((pose.cursor[axis] as number) / step);
      return Math.max(0, Math.min(at - Math.floor(count / 2), total - count)) * step;
    };
    span = { r0: from(rows.axis, rows.step, n, all.n), c0: from(cols.axis, cols.step, m, all.m), n, m };
    const { mosaic } = pose.fit;
    const [sx, sy] = [(wide / cols.step) * cols.block, (high / rows.step) * rows.block];
    const { tx, ty } = pose.tileOf(pose.cursor);
    near.fit = { mosaic, sx, sy, maxX: sx, maxY: sy };
    near.box = { width: m * wide, height: n * high };
    near.camera = {
      zoom: 1,
      x: placeIn(mosaic.x, tx, span.c0 / cols.block),
      y: placeIn(mosaic.y, ty, span.r0 / rows.block),
    };
  }

  const corner = (i: number, j: number): number[] => {
    const [rows, cols] = [along("rows"), along("cols")];
    return pose.cursor.map((at, axis) =>
      axis === rows.axis ? span.r0 + i * rows.step : axis === cols.axis ? span.c0 + j * cols.step : at,
    );
  };

  function words(): string {
    const { n, m, r0, c0 } = span;
    const [rows, cols] = [along("rows"), along("cols")];
    if (pose.tiled) {
      const { across, down } = pose.frame;
      return [across, down]
        .filter((axis) => axis >= 0)
        .map((axis) => `${sheet.item.dims[axis]} ${pose.cursor[axis]}`)
        .join(", ");
    }
    const reach = (from: number, count: number, size: number, step: number): string =>
      `${from}–${Math.min(size, from + count * step) - 1}`;
    const where = `rows ${reach(r0, n, rows.size, rows.step)}, columns ${reach(c0, m, cols.size, cols.step)}`;
    const found = [corner(0, 0), corner(n - 1, m - 1)].map((index) => sheet.best(index, pose)?.source);
    if (found.every((source) => source?.exact)) return `exact values, ${where}`;
    if (found.every((source) => source?.single)) return `rounded values, ${where}`;
    return context.live ? `${where} · asking for the values` : `${where} · one value for each block, two where it is hatched`;
  }

  const point = (e: PointerEvent): number[] | null => near.at(e.offsetX - picture.left, e.offsetY - picture.top);
  const hover = (index: number[] | null): void => {
    if (String(index) === String(pose.hover)) return;
    pose.hover = index;
    context.changed();
  };
  on(canvas, "pointermove", (e) => hover(point(e)), signal);
  on(canvas, "pointerleave", () => hover(null), signal);
  on(
    canvas,
    "pointerup",
    (e) => {
      const index = point(e);
      if (!index) return;
      context.chose(index);
      context.copied(index);
    },
    signal,
  );

  const box = el("div.vt-lens", {}, say, canvas);
  return {
    box,
    resize(to) {
      width = Math.floor(to);
      box.hidden = width < 1;
      if (width > 0) aim();
    },
    window: () => (width < 1 || pose.tiled ? null : [corner(0, 0), corner(span.n - 1, span.m - 1)]),
    wish() {
      if (width < 1 || !pose.fine) return null;
      const { channels } = pose.frame;
      const all = (axis: number): boolean => axis === channels;
      const [a, b] = [corner(0, 0), corner(span.n - 1, span.m - 1)];
      return {
        start: a.map((i, axis) => (all(axis) ? 0 : i)),
        stop: b.map((i, axis) => (all(axis) ? (pose.shape[axis] as number) : i + 1)),
        block: a.map(() => 1),
      };
    },
    draw() {
      if (width < 1) return;
      aim();
      // The pointer may be over another tile: the second picture has no place for it.
      const shown =
        pose.hover &&
        String(Object.values(pose.tileOf(pose.hover))) === String(Object.values(pose.tileOf(pose.cursor)));
      near.hover = shown ? pose.hover : null;
      picture.draw();
      const text = words();
      if (say.textContent !== text) say.textContent = text;
      canvas.setAttribute("aria-label", `the numbers around the cursor: ${text}`);
    },
  };
}
