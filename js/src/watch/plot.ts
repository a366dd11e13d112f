// What the two pictures over steps share: how far the axis goes, where a step stands, and the events beside it.

import { rate, roundUp } from "./numbers";
import type { Entry, State } from "./types";

const SHORT = 1000; // steps of a run whose axis is whole from the start

/** The last step of the axis: as many as there will be, in a long run once a third is done; before that, and where
 * nobody knows, a round number that is reached seldom and only grows. */
export function reach(state: State, before: number): number {
  const { steps, step: now } = state.head;
  // What was undone is still drawn.
  const ends = state.loss.undone.map((one) => (one.from + (one.mean.shape[1] ?? 0)) * one.width - 1);
  const step = Math.max(now, ...ends);
  if (steps && steps >= step && steps <= Math.max(SHORT, 3 * step)) return steps;
  if (state.head.status !== "running" && state.head.status !== "paused" && step) return Math.max(step, 1);
  if (step <= before * 0.98 && before <= 30 * Math.max(step, 20)) return before;
  return roundUp(Math.max(step, 20) * 1.5);
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
  box: { right: number; top: number; bottom: number; rows: number },
  colours: { ink: string; faint: string; bg: string; text: string },
): void {
  const shown = all.slice(-24);
  const taken: [number, number][][] = Array.from({ length: box.rows }, () => []);
  const free = (row: number, from: number, to: number): boolean =>
    (taken[row] ?? []).every(([a, b]) => to < a || from > b);
  g.save();
  g.textBaseline = "middle";
  g.lineWidth = 1;
  const flags = shown.map((pin) => {
    const at = Math.round(x(pin.at)) + 0.5;
    const half = Math.max(7, g.measureText(String(pin.number)).width / 2 + 3.5);
    let row = taken.findIndex((_, k) => free(k, at - half, at + half));
    if (row < 0) row = box.rows - 1;
    taken[row]?.push([at - half - 2, at + half + 2]);
    const y = box.top + row * 17;
    g.strokeStyle = pin.undone ? colours.faint : colours.ink;
    g.setLineDash([2, 2]);
    g.beginPath();
    g.moveTo(at, y + 14);
    g.lineTo(at, box.bottom);
    g.stroke();
    return { pin, at, half, row, y };
  });
  g.setLineDash([]);
  for (const { pin, at, half, row, y } of flags) {
    g.fillStyle = pin.undone ? colours.faint : colours.ink;
    g.beginPath();
    g.roundRect(at - half, y, 2 * half, 14, 3);
    g.fill();
    g.fillStyle = colours.bg;
    g.textAlign = "center";
    g.fillText(String(pin.number), at, y + 7.5);
    const [from, wide] = [at + half + 4, g.measureText(pin.text).width];
    if (box.rows < 2 || from + wide > box.right || !free(row, from, from + wide)) continue;
    taken[row]?.push([from, from + wide + 4]);
    // A label may cross the line of a flag above it.
    g.fillRect(from - 1, y, wide + 2, 14);
    g.fillStyle = pin.undone ? colours.faint : colours.text;
    g.textAlign = "left";
    g.fillText(pin.text, from, y + 7.5);
  }
  g.restore();
}
