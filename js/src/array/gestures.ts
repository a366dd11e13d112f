// Pointer, wheel and fingers on a picture. A still pointer over a page that scrolls does not zoom: it has to move first.

import { on } from "../shared/dom";
import type { CardContext } from "./context";
import type { Surface } from "./surface";

interface Drag {
  id: number;
  x: number;
  y: number;
  cameraX: number;
  cameraY: number;
  moved: boolean;
}

export interface Gestures {
  /** A cell was clicked. */
  clicked(index: number[]): void;
  /** A label was clicked: its row, column or tile. */
  labelled(index: number[], open: number[]): void;
}

/** The axes that stay whole when a label at the edge is clicked; null off the labels. */
export function labelOf(
  context: CardContext,
  surface: Surface,
  x: number,
  y: number,
): { index: number[]; open: number[] } | null {
  const { pose } = context;
  const { frame } = pose;
  const keep = pose.tiled
    ? y < 0
      ? frame.across
      : x < 0
        ? frame.down
        : -1
    : x < 0
      ? frame.rows
      : y > pose.box.height
        ? frame.cols
        : -1;
  if (keep < 0 || (x < 0 && y < 0)) return null;
  const index = pose.at(
    Math.max(0.5, Math.min(x, pose.box.width - 1)),
    Math.max(0.5, Math.min(y, pose.box.height - 1)),
  );
  if (!index || surface.left + surface.top === 0) return null;
  const open = index.map((_, axis) => axis).filter((axis) => axis !== keep && pose.roles[axis] !== "slider");
  return { index, open };
}

export function gestures(context: CardContext, surface: Surface, calls: Gestures): void {
  const { pose, signal } = context;
  const { canvas } = surface;
  let drag: Drag | null = null;
  let armed = false;
  const point = (e: MouseEvent): [number, number] => {
    const box = canvas.getBoundingClientRect();
    return [e.clientX - box.left - surface.left, e.clientY - box.top - surface.top];
  };

  on(
    canvas,
    "pointerdown",
    (e) => {
      if (e.button !== 0) return;
      armed = true;
      drag = {
        id: e.pointerId,
        x: e.clientX,
        y: e.clientY,
        cameraX: pose.camera.x,
        cameraY: pose.camera.y,
        moved: false,
      };
    },
    signal,
  );
  on(
    canvas,
    "pointermove",
    (e) => {
      armed ||= e.movementX !== 0 || e.movementY !== 0;
      const [x, y] = point(e);
      if (drag && e.buttons & 1) {
        if (!drag.moved && Math.hypot(e.clientX - drag.x, e.clientY - drag.y) > 3) {
          drag.moved = true;
          canvas.setPointerCapture?.(drag.id);
        }
        if (!drag.moved) return;
        pose.hover = null;
        if (pose.roams)
          pose.panTo(drag.cameraX - (e.clientX - drag.x) / pose.sx, drag.cameraY - (e.clientY - drag.y) / pose.sy);
        else {
          const { width, height } = pose.box;
          const index = pose.at(Math.max(0, Math.min(x, width - 0.01)), Math.max(0, Math.min(y, height - 0.01)));
          if (index) return context.chose(index);
        }
        return context.changed();
      }
      const next = pose.at(x, y);
      if (String(next) === String(pose.hover)) return;
      pose.hover = next;
      canvas.style.cursor = next ? "crosshair" : labelOf(context, surface, x, y) ? "copy" : "default";
      context.changed();
    },
    signal,
  );
  on(
    canvas,
    "pointerup",
    (e) => {
      const still = drag && !drag.moved;
      drag = null;
      if (!still) return;
      const [x, y] = point(e);
      const index = pose.at(x, y);
      if (index) return calls.clicked(index);
      const label = labelOf(context, surface, x, y);
      if (label) calls.labelled(label.index, label.open);
    },
    signal,
  );
  on(canvas, "pointercancel", () => (drag = null), signal);
  on(
    canvas,
    "pointerleave",
    () => {
      armed = false;
      if (!pose.hover) return;
      pose.hover = null;
      context.changed();
    },
    signal,
  );
  on(
    canvas,
    "wheel",
    (e) => {
      if (!armed || e.ctrlKey) return;
      const [x, y] = point(e);
      const { zoom, x: left, y: top } = pose.camera;
      const lines = e.deltaMode === 1 ? 16 : 1;
      pose.zoomBy(Math.exp(Math.max(-0.5, Math.min(0.5, -e.deltaY * lines * 0.0022))), x, y);
      if (pose.camera.zoom === zoom && pose.camera.x === left && pose.camera.y === top) return;
      e.preventDefault();
      pose.hover = pose.at(x, y);
      context.changed();
    },
    signal,
  );
}
