// What the two pictures over steps share: how far the axis goes, where a step stands, and the events beside it.

import { rate } from "./numbers";
import { roundUp } from "./numbers";
import type { Entry, State } from "./types";

/** The last step of the axis: as many as there will be, else a round number that is reached seldom and only grows. */
export function reach(state: State, before: number): number {
  const { steps, step } = state.head;
  if (steps && steps >= step) return steps;
  if (state.head.status !== "running" && state.head.status !== "paused" && step) return Math.max(step, 1);
  return Math.max(step <= before * 0.98 ? before : 0, roundUp(Math.max(step, 20) * 1.15));
}

export interface Pin {
  number: number;
  at: number;
  text: string;
  undone: boolean;
}

/** The events that changed the course: where they stand on the axis, and in few words. */
export function pins(items: Entry[]): Pin[] {
  const out: Pin[] = [];
  for (const { number, step, what, from, to, undone } of items) {
    if (/refused$/.test(what)) continue;
    if (what.startsWith("learning rate"))
      out.push({ number, at: step, text: `lr ${rate(from)} → ${rate(to)}`, undone });
    else if (what.startsWith("rewound") && typeof to === "number")
      out.push({ number, at: to, text: `rewind ${from} → ${to}`, undone: false });
    else if (what.startsWith("stopped")) out.push({ number, at: step, text: "stopped", undone });
  }
  return out;
}

/** Text that is cut where there is no room. */
export function cut(context: CanvasRenderingContext2D, text: string, wide: number): string {
  if (context.measureText(text).width <= wide) return text;
  let n = text.length;
  while (n > 1 && context.measureText(`${text.slice(0, n)}…`).width > wide) n--;
  return `${text.slice(0, n)}…`;
}

/** Draw the pins over a plot: a flag with the event's number and a dashed line down; `rows` lines of flags. */
export function drawPins(
  g: CanvasRenderingContext2D,
  all: Pin[],
  x: (step: number) => number,
  box: { left: number; right: number; top: number; bottom: number; rows: number },
  colours: { ink: string; faint: string; bg: string; text: string },
): void {
  const ends = new Array<number>(box.rows).fill(-Infinity);
  const shown = all.slice(-24);
  g.save();
  g.textBaseline = "middle";
  for (const pin of shown) {
    const at = Math.round(x(pin.at)) + 0.5;
    const lane = ends.findIndex((end) => at - 9 > end);
    const row = lane < 0 ? box.rows - 1 : lane;
    const y = box.top + row * 17;
    g.strokeStyle = pin.undone ? colours.faint : colours.ink;
    g.setLineDash([2, 2]);
    g.lineWidth = 1;
    g.beginPath();
    g.moveTo(at, y + 14);
    g.lineTo(at, box.bottom);
    g.stroke();
    g.setLineDash([]);
    const label = String(pin.number);
    const wide = Math.max(14, g.measureText(label).width + 7);
    g.fillStyle = pin.undone ? colours.faint : colours.ink;
    g.beginPath();
    g.roundRect(at - wide / 2, y, wide, 14, 3);
    g.fill();
    g.fillStyle = colours.bg;
    g.textAlign = "center";
    g.fillText(label, at, y + 7.5);
    ends[row] = at + wide / 2;
    const next = shown.find((other) => other.number > pin.number && x(other.at) > at);
    const room = Math.min(box.right, next && box.rows < 2 ? x(next.at) - 9 : box.right) - (at + wide / 2 + 4);
    const words = g.measureText(pin.text).width;
    if (box.rows > 1 && words <= room) {
      const clear = shown.every((o) => o === pin || x(o.at) < at || x(o.at) - 9 > at + wide / 2 + 4 + words || o.at === pin.at);
      if (clear) {
        g.fillStyle = pin.undone ? colours.faint : colours.text;
        g.textAlign = "left";
        g.fillText(pin.text, at + wide / 2 + 4, y + 7.5);
        ends[row] = at + wide / 2 + 6 + words;
      }
    }
  }
  g.restore();
}
