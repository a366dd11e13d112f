// Tiles: exact values of a part of a big array, asked from the kernel. One question is on its way at a time; the newest
// wish of each asker is the next; answers that nobody waits for are dropped.

import { atEnd } from "../shared/dom";
import { answers, listen, type Model } from "../shared/model";
import { array, type Raw } from "../shared/payload";
import type { Pose } from "./pose";
import { piece, type Source } from "./source";
import { locate } from "./mosaic";

export interface Region {
  start: number[];
  stop: number[];
  block: number[];
}

export interface Question extends Region {
  item: number;
  layer: number;
}

export interface Kernel {
  /** False where nobody answers any more. */
  live(): boolean;
  send(message: object): void;
  listen(handler: (message: unknown, buffers: Raw[]) => void, signal: AbortSignal): void;
}

export const MOST = 65536;
const REST = 90;
const PATIENCE = 5000;

export const cellsOf = ({ start, stop, block }: Region): number =>
  start.reduce((n, from, axis) => n * Math.ceil(((stop[axis] as number) - from) / (block[axis] as number)), 1);

/** The kernel behind a model; null where nobody answers. */
export function kernelOf(model: Model): Kernel | null {
  if (!answers(model)) return null;
  return {
    live: () => answers(model),
    send: (message) => model.send?.(message),
    listen: (handler, signal) => listen(model, "msg:custom", handler as (...given: never[]) => void, signal),
  };
}

/** A region with air around it along some axes, so that the next small move needs no question. */
export function roomy(region: Region, shape: readonly number[], axes: readonly number[]): Region {
  const out = { start: [...region.start], stop: [...region.stop], block: [...region.block] };
  for (const axis of axes) {
    if (axis < 0) continue;
    const [from, to, k] = [region.start[axis] as number, region.stop[axis] as number, region.block[axis] as number];
    const air = Math.ceil((to - from) / 2 / k) * k;
    const wider = { ...out, start: [...out.start], stop: [...out.stop] };
    wider.start[axis] = Math.max(0, from - air);
    wider.stop[axis] = Math.min(shape[axis] as number, to + air);
    if (cellsOf(wider) <= MOST) Object.assign(out, wider);
  }
  return out;
}

/** What the view shows in more detail than the overview has; null where the overview is enough. */
export function view(pose: Pose): Region | null {
  const { mosaic } = pose.fit;
  const { rows, cols, across, down, channels } = pose.frame;
  const start = pose.cursor.map((i) => i);
  const stop = pose.cursor.map((i) => i + 1);
  const block = pose.shape.map(() => 1);
  const coarse: number[] = [];
  const set = (axis: number, from: number, to: number, k: number): void => {
    if (axis < 0) return;
    const size = pose.shape[axis] as number;
    block[axis] = k;
    start[axis] = Math.max(0, Math.floor(from / k) * k);
    stop[axis] = Math.min(size, Math.max(start[axis] + 1, Math.ceil(to / k) * k));
  };
  const of = (axis: number): number => (axis < 0 ? 1 : (pose.block[axis] as number));
  const along = (
    t: typeof mosaic.x,
    at: number,
    space: number,
    scale: number,
    axis: number,
  ): { tiles: [number, number] } => {
    const pitch = t.cells + t.gap;
    const end = Math.min(t.length, at + space / scale) - 1e-9;
    const tiles: [number, number] = [
      Math.floor(at / pitch),
      Math.max(0, Math.min(t.tiles - 1, Math.floor(end / pitch))),
    ];
    const one = tiles[0] === tiles[1];
    const k = Math.max(1, Math.floor(of(axis) / Math.max(1, scale)));
    const first = one ? (locate(t, at)?.cell ?? 0) : 0;
    const last = one ? end - tiles[0] * pitch : t.cells;
    set(axis, first * of(axis), last * of(axis), k);
    if (axis >= 0) coarse.push(axis);
    return { tiles };
  };
  const x = along(mosaic.x, pose.camera.x, pose.box.width, pose.sx, cols);
  const y = along(mosaic.y, pose.camera.y, pose.box.height, pose.sy, rows);
  if (mosaic.wrap) {
    set(
      across,
      (y.tiles[0] * mosaic.wrap + x.tiles[0]) * of(across),
      (y.tiles[1] * mosaic.wrap + x.tiles[1] + 1) * of(across),
      of(across),
    );
  } else {
    set(across, x.tiles[0] * of(across), (x.tiles[1] + 1) * of(across), of(across));
    set(down, y.tiles[0] * of(down), (y.tiles[1] + 1) * of(down), of(down));
  }
  if (channels >= 0) set(channels, 0, pose.shape[channels] as number, 1);
  const region = { start, stop, block };
  while (cellsOf(region) > MOST) {
    const axis = coarse.find(
      (a) => (block[a] as number) < of(a) && block[a] === Math.min(...coarse.map((b) => block[b] as number)),
    );
    if (axis === undefined) return null;
    set(axis, start[axis] as number, stop[axis] as number, (block[axis] as number) * 2);
  }
  // Half the block's length at least: what is hardly finer is not worth a question.
  const finer = region.block.some((k, axis) => 2 * k <= (pose.block[axis] as number) && coarse.includes(axis));
  const worse = region.block.some((k, axis) => k > (pose.block[axis] as number));
  return finer && !worse ? region : null;
}

/** True where a source holds all of a region, and as finely. */
export const covers = (source: Source, want: Region): boolean =>
  want.start.every((from, axis) => {
    const [at, k, n] = [source.start[axis] as number, source.block[axis] as number, source.grid[axis] as number];
    return at <= from && at + k * n >= (want.stop[axis] as number) && k <= (want.block[axis] as number);
  });

interface Wish {
  question: Question;
  arrived: (source: Source) => void;
  refused: () => void;
}

let serial = Math.floor(Math.random() * 1e6) * 1000;

export class TileRequests {
  /** Why the kernel said no last time; "" since it last said yes. */
  refusal = "";
  #kernel: Kernel;
  #wishes = new Map<string, Wish>();
  #waiting: { id: number; wish: Wish } | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #denied = new Set<string>();
  #late: ReturnType<typeof setTimeout> | undefined;

  constructor(kernel: Kernel, signal: AbortSignal) {
    this.#kernel = kernel;
    kernel.listen((message, buffers) => this.receive(message, buffers), signal);
    atEnd(signal, () => {
      clearTimeout(this.#timer);
      clearTimeout(this.#late);
      this.#wishes.clear();
    });
  }

  /** Wish for a region; a newer wish of the same asker takes the place of an older one. */
  want(asker: string, question: Question, arrived: (source: Source) => void, refused: () => void): void {
    const key = JSON.stringify(question);
    if (this.#denied.has(key) || (this.#waiting && JSON.stringify(this.#waiting.wish.question) === key)) return;
    if (JSON.stringify(this.#wishes.get(asker)?.question) === key) return;
    this.#wishes.set(asker, { question, arrived, refused });
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#next(), REST);
  }

  #next(): void {
    if (this.#waiting || !this.#kernel.live()) return;
    const first = this.#wishes.entries().next().value as [string, Wish] | undefined;
    if (!first) return;
    this.#wishes.delete(first[0]);
    serial += 1;
    this.#waiting = { id: serial, wish: first[1] };
    this.#kernel.send({ type: "tile", id: serial, ...first[1].question });
    this.#late = setTimeout(() => this.#end("no answer yet: the kernel is busy, or gone"), PATIENCE);
  }

  #end(why: string): void {
    const wish = this.#waiting?.wish;
    clearTimeout(this.#late);
    this.#waiting = null;
    this.refusal = why;
    if (wish && why) {
      // The same question is not asked again; the next move asks another.
      this.#denied.add(JSON.stringify(wish.question));
      wish.refused();
    }
    this.#next();
  }

  receive(message: unknown, buffers: Raw[]): void {
    const answer = message as {
      type?: unknown;
      id?: unknown;
      why?: unknown;
      values?: { type: string; shape: number[] };
      ends?: { type: string; shape: number[] };
    } | null;
    if (!this.#waiting || typeof answer !== "object" || answer?.id !== this.#waiting.id) return;
    const { wish } = this.#waiting;
    if (answer.type === "refused") return this.#end(String(answer.why ?? "the kernel refused"));
    const buffer = buffers[0];
    if (answer.type !== "tile" || !answer.values || !buffer) return;
    try {
      const { start, stop, block } = wish.question;
      const ends = answer.ends && buffers[1] ? array(answer.ends.type, answer.ends.shape, buffers[1]) : undefined;
      wish.arrived(piece(array(answer.values.type, answer.values.shape, buffer), start, stop, block, ends));
      this.#end("");
    } catch (error) {
      this.#end(error instanceof Error ? error.message : "an answer could not be read");
    }
  }
}
