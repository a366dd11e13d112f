// Many arrays as folded rows: a thumbnail, the name, the shape and four numbers; a row unfolds into its card.

import { button, el, glyph, on, painter, prepare, ratio } from "../shared/dom";
import { shapeText } from "../shared/format";
import type { Theme } from "../shared/theme";
import { badPill } from "./head";
import { Pose } from "./pose";
import { lay } from "./raster";
import { Sheet } from "./sheet";
import { pictured } from "./small";
import { facts } from "./stats";
import type { Item } from "./types";

export interface StripSetting {
  theme: Theme;
  signal: AbortSignal;
  build(items: readonly Item[], first: number, named: boolean, until: AbortSignal): HTMLElement;
}

const THUMB = { width: 72, height: 22 };

interface Thumb {
  item: Item;
  canvas: HTMLCanvasElement;
  sheet: Sheet;
}

interface Row {
  /** Where its items begin among all. */
  first: number;
  thumbs: Thumb[];
  box: HTMLElement;
  button: HTMLButtonElement;
  open: AbortController | null;
  body: HTMLElement | null;
}

/** A parameter with what stands beside it: its gradient and update follow it under the same name. */
export function groups(items: readonly Item[]): [number, Item[]][] {
  const found: [number, Item[]][] = [];
  items.forEach((item, i) => {
    const group = found[found.length - 1]?.[1];
    const beside = item.role === "gradient" || item.role === "update";
    if (group && beside && group[0]?.name === item.name && group[0].role === "value") group.push(item);
    else found.push([i, [item]]);
  });
  return found;
}

const counted = (items: number, rows: number): string =>
  items === rows ? `${items} array${items === 1 ? "" : "s"}` : `${rows} parameters: value, gradient, update`;

export class Strip {
  readonly root: HTMLElement;
  readonly repaint: () => void;
  #rows: Row[];
  #setting: StripSetting;
  #all: HTMLButtonElement;

  constructor(items: readonly Item[], setting: StripSetting) {
    this.#setting = setting;
    this.repaint = painter(() => this.#paint(), setting.signal);
    this.#rows = groups(items).map(([first, group]) => this.#row(group, first));
    this.#all = button(
      "button",
      "Unfold all",
      "",
      () => {
        const open = this.#rows.some((row) => !row.open);
        for (const row of this.#rows) this.#fold(row, open);
      },
      setting.signal,
    );
    const bar = el(
      "div.vt-head",
      {},
      el("span.vt-meta", {}, el("span", { text: counted(items.length, this.#rows.length) })),
      el("span.vt-space"),
      this.#all,
    );
    this.root = el("div.vt-card.vt-strip", {}, bar, el("div.vt-strip-rows", {}, ...this.#rows.map((row) => row.box)));
    this.root.classList.toggle("vt-strip-beside", this.#rows.length < items.length);
    this.repaint();
  }

  #row(group: readonly Item[], first: number): Row {
    const { signal } = this.#setting;
    const thumbs = group.map((item) => ({
      item,
      sheet: new Sheet(item),
      canvas: el("canvas.vt-thumb", { "aria-hidden": "true", title: group.length > 1 ? item.role : null }),
    }));
    const { item, sheet } = thumbs[0] as Thumb;
    const unread = item.layers[0]?.stats.read === false;
    const some = item.shape.includes(0) || unread ? [] : facts(sheet, 3).slice(0, 4);
    const numbers = some.map(({ name, text }) => el("span.vt-fact", {}, el("i", { text: name }), text));
    const button = el(
      "button",
      { type: "button", class: "vt-row", "aria-expanded": "false" },
      glyph("fold"),
      thumbs.length > 1 ? el("span.vt-thumbs", {}, ...thumbs.map((one) => one.canvas)) : (thumbs[0] as Thumb).canvas,
      el("b.vt-name", { text: item.name, title: item.name }),
      el("span.vt-shape", { text: `${shapeText(item.shape)} ${item.dtype}` }),
      el("span.vt-facts", {}, ...numbers),
      group.map((one) => badPill(one)).find(Boolean) ?? el("span"),
    );
    const row: Row = { first, thumbs, box: el("div.vt-fold", {}, button), button, open: null, body: null };
    on(button, "click", () => this.#fold(row, !row.open), signal);
    return row;
  }

  #fold(row: Row, open: boolean): void {
    if (open === Boolean(row.open)) return;
    row.open?.abort();
    row.body?.remove();
    row.open = null;
    row.body = null;
    if (open) {
      const until = (row.open = new AbortController());
      this.#setting.signal.addEventListener("abort", () => until.abort(), { once: true, signal: until.signal });
      row.body = this.#setting.build(
        row.thumbs.map((one) => one.item),
        row.first,
        false,
        until.signal,
      );
      row.box.append(row.body);
    }
    row.button.setAttribute("aria-expanded", String(open));
    this.#all.textContent = this.#rows.every((one) => one.open) ? "Fold all" : "Unfold all";
  }

  #paint(): void {
    const { theme } = this.#setting;
    const k = ratio();
    for (const { item, canvas, sheet } of this.#rows.flatMap((row) => row.thumbs)) {
      const pen = prepare(canvas, THUMB.width, THUMB.height, k);
      if (!pen || item.shape.includes(0) || !pictured(item)) continue;
      const pose = new Pose(item, false);
      sheet.dye(theme, pose.image);
      if (!item.shape.length) {
        pen.fillStyle = theme.token("value");
        pen.fillRect(0, 9, THUMB.width, 4);
        continue;
      }
      pose.setBox(THUMB.width, THUMB.height);
      const stretch = pose.image ? 1 : Math.min(THUMB.width / pose.box.width, 8);
      const tall = pose.image || pose.tiled ? 1 : Math.min(THUMB.height / pose.box.height, 8);
      const { mosaic } = pose.fit;
      // A small array has large cells where there is room; here all of them must be seen.
      const sx = Math.min(pose.fit.sx * (pose.tiled ? 1 : stretch), THUMB.width / mosaic.x.length);
      const sy = Math.min(pose.fit.sy * tall, THUMB.height / mosaic.y.length);
      pose.fit = { ...pose.fit, sx, sy };
      const [w, h] = [
        Math.round(Math.min(THUMB.width, pose.fit.mosaic.x.length * pose.fit.sx) * k),
        Math.round(Math.min(THUMB.height, pose.fit.mosaic.y.length * pose.fit.sy) * k),
      ];
      if (w < 1 || h < 1) continue;
      const data = new ImageData(w, h);
      const source = sheet.sources()[0];
      if (source) lay({ pixels: new Uint32Array(data.data.buffer), width: w, height: h }, pose, source, k);
      pen.putImageData(data, 0, Math.round((THUMB.height * k - h) / 2));
    }
  }
}
