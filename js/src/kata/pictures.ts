// The two pictures of a symptom: the loss by step, and what the network gives for its data.

import { el } from "../shared/dom";
import { num } from "../shared/format";
import type { Numbers } from "../shared/payload";
import { svg } from "../graph/svg";
import { type Box, ceiling, firstBad, heightOf, path } from "./draw";
import type { PictureState } from "./types";

const [W, H] = [400, 126];
const BOX: Box = { left: 34, right: W - 8, top: 8, bottom: H - 22 };

const list = (values: Numbers): number[] => Array.from(values as ArrayLike<number>);

function frame(about: string, low: number, high: number, ...inside: (Node | null)[]): SVGSVGElement {
  const y = (value: number): number => BOX.bottom - ((value - low) / (high - low)) * (BOX.bottom - BOX.top);
  const marks = low < 0 ? [low, 0, high] : [0, high / 2, high];
  const lines = marks.flatMap((value) => [
    svg("path", { d: `M${BOX.left} ${y(value)}H${BOX.right}`, class: value ? "vt-kt-line" : "vt-kt-zero" }),
    svg("text", { x: BOX.left - 6, y: y(value) + 4, "text-anchor": "end", text: num(value, 2) }),
  ]);
  return svg("svg", { viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": about }, ...lines, ...inside);
}

const word = (x: number, y: number, text: string, anchor: string, name = ""): SVGElement =>
  svg("text", { x, y, text, "text-anchor": anchor, class: name });

/** The loss by step; where a mended cell has run, the broken one is dashed. */
export function losses(broken: Numbers, mine: Numbers): HTMLElement {
  const steps = Math.max(broken.length, mine.length, 2);
  const high = heightOf(mine.length ? [broken, mine] : [broken]);
  const x = (i: number): number => BOX.left + (i / (steps - 1)) * (BOX.right - BOX.left);
  const y = (value: number): number => BOX.bottom - (value / high) * (BOX.bottom - BOX.top);
  const both = mine.length > 0;
  const inside: (SVGElement | null)[] = [
    svg("path", { d: path(x, y, broken, BOX), class: both ? "vt-kt-was vt-kt-dashed" : "vt-kt-was" }),
    both ? svg("path", { d: path(x, y, mine, BOX), class: "vt-kt-now" }) : null,
    word(BOX.left, H - 5, "step 0", "start"),
    word(BOX.right, H - 5, String(steps), "end"),
  ];
  const end = (values: Numbers, name: string): void => {
    const bad = firstBad(values);
    if (bad >= 0) {
      const at = Math.min(Math.max(x(bad), BOX.left + 8), BOX.right - 8);
      inside.push(svg("path", { d: `M${at - 4} ${BOX.top + 8}l8 8m0-8l-8 8`, class: "vt-kt-bad" }));
      inside.push(word(at + (at > W / 2 ? -10 : 10), BOX.top + 16, `NaN from step ${bad + 1}`, at > W / 2 ? "end" : "start", "vt-kt-badtext"));
      return;
    }
    const last = Number(values[values.length - 1]);
    const tall = Math.min(BOX.bottom - 6, Math.max(BOX.top + 14, y(last) - 6));
    if (values.length) inside.push(word(BOX.right - 4, tall, num(last, 3), "end", name));
  };
  end(broken, "vt-kt-end");
  if (both) end(mine, "vt-kt-end vt-kt-mine");
  const about = both ? "loss by step, broken and mended" : "loss by step";
  const keys = both ? [key("vt-kt-was vt-kt-dashed", "broken"), key("vt-kt-now", "mended")] : [key("vt-kt-was", "loss")];
  return el("figure", {}, frame(about, 0, high, ...inside) as unknown as HTMLElement, el("figcaption", {}, ...keys));
}

function key(name: string, text: string): HTMLElement {
  const line = svg("svg", { width: 18, height: 8, "aria-hidden": "true" }, svg("path", { d: "M0 4h18", class: name }));
  return el("span", {}, line as unknown as HTMLElement, text);
}

/** What was wanted, and what the network gives: of a curve, or by class. */
export function answers(one: PictureState): HTMLElement | null {
  const got = one.mine.data.length ? one.mine.data : one.broken.data;
  if (!got.length && !one.target.data.length) return null;
  return one.kind === "bars" ? bars(one, got) : curve(one, got);
}

function curve(one: PictureState, got: Numbers): HTMLElement {
  const [x, target] = [list(one.x.data), list(one.target.data)];
  const top = ceiling(Math.max(...target.map(Math.abs)) * 1.1);
  const low = Math.min(...target) < 0 ? -top : 0;
  const [first, last] = [x[0] ?? 0, x[x.length - 1] ?? 1];
  const across = (i: number): number => BOX.left + (((x[i] ?? 0) - first) / (last - first || 1)) * (BOX.right - BOX.left);
  const y = (value: number): number => BOX.bottom - ((value - low) / (top - low)) * (BOX.bottom - BOX.top);
  const dots = target.map((value, i) => svg("circle", { cx: across(i), cy: y(value), r: 1.9, class: "vt-kt-dot" }));
  const about = "what was wanted, and what the network gives";
  const drawn = frame(about, low, top, ...dots, svg("path", { d: path(across, y, got, BOX), class: "vt-kt-now" }), word(BOX.left, H - 5, num(first, 2), "start"), word(BOX.right, H - 5, num(last, 2), "end"));
  return el("figure", {}, drawn as unknown as HTMLElement, el("figcaption", {}, el("span", { text: "○ wanted" }), key("vt-kt-now", "given")));
}

function bars(one: PictureState, got: Numbers): HTMLElement {
  const wide = (BOX.right - BOX.left) / Math.max(1, one.names.length);
  const inside = one.names.flatMap((name, i) => {
    const tall = (Number(got[i]) || 0) * (BOX.bottom - BOX.top);
    const x = BOX.left + i * wide;
    return [
      svg("rect", { x: x + wide * 0.15, y: BOX.bottom - tall, width: wide * 0.7, height: tall, class: "vt-kt-bar" }),
      word(x + wide / 2, H - 6, name, "middle"),
    ];
  });
  const drawn = frame("share right, by class", 0, 1, ...inside);
  return el("figure", {}, drawn as unknown as HTMLElement, el("figcaption", {}, el("span", { text: "share right, by class" })));
}
