// Arrays that need no picture of their own: a number in its range, a sentence for what is empty.

import { copy, el, on, onWidth, painter, prepare, ratio } from "../shared/dom";
import { num } from "../shared/format";
import { real } from "../shared/payload";
import type { Theme } from "../shared/theme";
import { badPill, nameplate } from "./head";
import { Sheet } from "./sheet";
import { placeOf, shareOf } from "./scale";
import { Pose } from "./pose";
import { factList, factTable } from "./stats";
import type { Item } from "./types";

export interface LineSetting {
  theme: Theme;
  signal: AbortSignal;
  named: boolean;
}

/** The line for a scalar or an empty array; null for everything else. */
export function showLine(item: Item, setting: LineSetting): { root: HTMLElement; repaint: () => void } | null {
  if (item.shape.includes(0)) return empty(item, setting);
  if (!pictured(item)) return numbers(item, setting);
  return item.shape.length ? null : scalar(item, setting);
}

/** False where an item has numbers only. */
export const pictured = (item: Item): boolean => item.layers.every((layer) => layer.values && layer.scales.length);

/** Of an array among very many: what is known of it, and how to see it. */
function numbers(item: Item, { named }: LineSetting): { root: HTMLElement; repaint: () => void } {
  const text = `Among so many arrays this one has no picture: type %vt show ${item.index || item.name}`;
  const read = item.layers[0]?.stats.read !== false;
  return {
    root: el(
      "div.vt-card",
      {},
      el("div.vt-line", {}, ...(named ? nameplate(item) : []), el("span.vt-remark", { text })),
      read ? el("div.vt-statbox", {}, factList(new Sheet(item))) : null,
    ),
    repaint: () => {},
  };
}

export function emptyWords(item: Item): string {
  const axis = item.shape.indexOf(0);
  const name = item.dims[axis];
  const which =
    name && !/^axis \d+$/.test(name)
      ? `its axis “${name}” has length 0`
      : item.shape.length > 1
        ? `axis ${axis} has length 0`
        : "its length is 0";
  return `No values to show: ${which}.`;
}

function empty(item: Item, { named }: LineSetting): { root: HTMLElement; repaint: () => void } {
  const line = el(
    "div.vt-line",
    {},
    ...(named ? nameplate(item) : []),
    el("span.vt-remark", { text: emptyWords(item) }),
  );
  return { root: el("div.vt-card", {}, line), repaint: () => {} };
}

function scalar(item: Item, { theme, signal, named }: LineSetting): { root: HTMLElement; repaint: () => void } {
  const sheet = new Sheet(item);
  const pose = new Pose(item, false);
  const words = sheet.words([], pose);
  const canvas = el("canvas", { role: "img" });
  const box = el("div.vt-range", {}, canvas);
  const name = item.index || "x";
  const value = el("button", {
    type: "button",
    class: `vt-number ${words.bad ? "vt-badc" : "vt-valuec"}`,
    text: words.text,
    title: `copies ${words.text}`,
  });
  const note = el("span.vt-hint", { "aria-live": "polite" });
  on(
    value,
    "click",
    async () => {
      const text = words.text.replace("−", "-").replace("≈ ", "");
      const done = await copy(text, root);
      if (!signal.aborted) note.textContent = done ? `copied ${text}` : `${name} is ${text}`;
    },
    signal,
  );
  const root = el(
    "div",
    { class: "vt-card" },
    el("div.vt-line", {}, ...(named ? nameplate(item) : []), value, badPill(item), box, note),
    el("div.vt-hidden", {}, factTable([sheet])),
  );
  let width = 0;
  const repaint = painter(() => {
    const pen = width ? prepare(canvas, width, 30, ratio()) : null;
    const { scale } = sheet;
    const v = sheet.read([], pose)?.value ?? NaN;
    const [lo, hi] = [num(real(scale.lo), 3), num(real(scale.hi), 3)];
    canvas.setAttribute("aria-label", `${words.text} on a range from ${lo} to ${hi}`);
    if (!pen) return;
    const [from, to] = [6, width - 6];
    const at = (share: number): number => from + share * (to - from);
    pen.fillStyle = theme.token("line");
    pen.fillRect(from, 12, to - from, 4);
    if (Number.isFinite(v)) {
      const zero = at(scale.centre ? 0.5 : 0);
      const x = at(shareOf(scale, placeOf(scale)(v)));
      pen.fillStyle = theme.token(item.role === "gradient" ? "grad" : "value");
      pen.fillRect(Math.min(zero, x), 12, Math.abs(x - zero), 4);
      if (scale.centre) pen.fillRect(zero - 0.5, 9, 1, 10);
      pen.beginPath();
      pen.arc(x, 14, 6, 0, 7);
      pen.fill();
    }
    pen.font = theme.font(11);
    pen.fillStyle = theme.token("ink-2");
    pen.textAlign = "left";
    pen.fillText(lo, 0, 29);
    pen.textAlign = "right";
    pen.fillText(hi, width, 29);
    if (scale.centre && width > 160) {
      pen.textAlign = "center";
      pen.fillText("0", at(0.5), 29);
    }
  }, signal);
  onWidth(
    box,
    (w) => {
      width = w;
      repaint();
    },
    signal,
  );
  return { root, repaint };
}
