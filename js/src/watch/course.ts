// What stands on the axis of steps beside the curve: where epochs began, snapshots, and the steps that are not finite.

import { count } from "../shared/format";
import type { Head, State } from "./types";

export interface Span {
  epoch: number;
  from: number;
  to: number;
}

/** The epochs on the axis of the weights' steps: as the loader began them, and those that are still to come. */
export function epochs(head: Head, last: number): Span[] {
  const { begins, epoch_steps: each, tries } = head;
  const known = begins?.length ? begins : each && tries <= 1 ? [[1, 0, 1]] : [];
  const out = known.map(([epoch, from], i): Span => ({ epoch: epoch ?? 0, from: from ?? 0, to: known[i + 1]?.[1] ?? -1 }));
  const open = out[out.length - 1];
  if (!open) return [];
  // Where one ends that went on after a rewind is not known.
  const whole = known[known.length - 1]?.[2];
  if (!each || !whole) {
    open.to = Math.max(head.step, open.from);
    return out.filter((one) => one.to > one.from);
  }
  open.to = open.from + each;
  for (let { epoch, to } = open; to < last && out.length < 400; to += each)
    out.push({ epoch: ++epoch, from: to, to: to + each });
  return out.filter((one) => one.from < last && one.to > one.from);
}

interface Box {
  left: number;
  right: number;
  top: number;
  bottom: number;
  foot: number;
}

interface Inks {
  bad: string;
  soft: string;
  accent: string;
  faint: string;
  bg: string;
}

/** The stretch a rewind undoes (pale) and the one that is not finite (hatched): behind the curve. */
export function drawAlarm(g: CanvasRenderingContext2D, state: State, x: (s: number) => number, box: Box, ink: Inks): void {
  const { alarm, step } = state.head;
  if (!alarm) return;
  const at = (s: number): number => Math.max(box.left, Math.min(box.right, x(s)));
  const [from, begin] = [at(alarm.snapshot ?? alarm.step), at(alarm.step)];
  const end = Math.max(begin + 4, at(alarm.over || step));
  const high = box.bottom - box.top;
  g.save();
  g.fillStyle = ink.soft;
  g.fillRect(from, box.top, end - from, high);
  g.beginPath();
  g.rect(begin, box.top, end - begin, high);
  g.clip();
  g.strokeStyle = ink.bad;
  g.globalAlpha = 0.55;
  g.lineWidth = 1.2;
  g.beginPath();
  for (let px = begin - high; px < end; px += 7) {
    g.moveTo(px, box.bottom);
    g.lineTo(px + high, box.top);
  }
  g.stroke();
  g.restore();
  g.save();
  g.strokeStyle = ink.bad;
  g.lineWidth = 1.6;
  g.beginPath();
  g.moveTo(begin, box.top);
  g.lineTo(begin, box.foot);
  g.stroke();
  g.restore();
}

/** Bookmarks of the snapshots over the curve, the last good one filled and named, and the name of what is not finite. */
export function drawMarks(g: CanvasRenderingContext2D, state: State, x: (s: number) => number, box: Box, ink: Inks): void {
  const { alarm } = state.head;
  const { steps } = state.snapshots;
  const good = alarm?.snapshot ?? null;
  g.save();
  g.lineJoin = "round";
  g.lineWidth = 1.3;
  let before = -Infinity;
  for (const step of steps) {
    const px = x(step);
    if (px > box.right || (px - before < 8 && step !== good)) continue;
    before = px;
    const mine = step === good;
    g.fillStyle = mine ? ink.accent : ink.bg;
    g.strokeStyle = mine ? ink.accent : ink.faint;
    g.beginPath();
    g.moveTo(px - 3.5, box.top - 12);
    g.lineTo(px + 3.5, box.top - 12);
    g.lineTo(px + 3.5, box.top - 3);
    g.lineTo(px, box.top - 6);
    g.lineTo(px - 3.5, box.top - 3);
    g.closePath();
    g.fill();
    g.stroke();
  }
  if (alarm) {
    const labels: [string, number, string][] = [[alarmText(state), x(alarm.step) + 4, ink.bad]];
    if (good !== null) labels.push([`last good snapshot ${count(good)}`, x(good), ink.accent]);
    g.textBaseline = "middle";
    g.font = `600 ${g.font}`;
    labels.forEach(([text, px, colour], i) => {
      const wide = g.measureText(text).width;
      const space = i ? Math.min(px - 6 - wide, x(alarm.step) - 6 - wide) : px;
      const start = Math.max(box.left, Math.min(space, box.right - wide));
      g.fillStyle = ink.bg;
      g.fillRect(start - 2, i ? 17 : 1, wide + 4, 14);
      g.fillStyle = colour;
      g.textAlign = "left";
      g.fillText(text, start, i ? 24.5 : 8.5);
    });
  }
  g.restore();
}

function alarmText(state: State): string {
  const { alarm } = state.head;
  if (!alarm) return "";
  return alarm.over ? `${alarm.kind} at ${count(alarm.step)}` : `${alarm.kind} since ${count(alarm.step)}`;
}
