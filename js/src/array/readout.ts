// The line under a picture: index, value, one remark, and what can be done. Its places do not move.

import { el } from "../shared/dom";
import { num } from "../shared/format";
import { indexText } from "./axes";
import type { CardContext } from "./context";
import type { Sheet } from "./sheet";

export interface Line {
  box: HTMLElement;
  show(context: CardContext, bad: number): void;
  hint(text: string): void;
  copied(text: string, done: boolean): void;
}

/** How many finite values are at least as large: "rank 3 of 840". Counted in full only where all values are here. */
export function rank(sheet: Sheet, value: number): string {
  const source = sheet.sources()[0];
  if (!source?.exact || !Number.isFinite(value) || sheet.item.dtype === "bool") return "";
  let above = 0;
  let finite = 0;
  for (let i = 0; i < source.values.length; i++) {
    const other = source.values.at(i);
    if (!Number.isFinite(other)) continue;
    finite += 1;
    if (other > value) above += 1;
  }
  return `rank ${above + 1} of ${finite} finite`;
}

/** The norm of the tile in which an index lies. */
export function tileNorm(context: CardContext, sheet: Sheet, index: readonly number[]): string {
  const { pose } = context;
  const source = sheet.sources()[0];
  const { rows, cols } = pose.frame;
  if (!source?.exact || sheet.item.layers.length > 1 || /^(bool|complex)/.test(sheet.item.dtype)) return "";
  const at = [...index];
  let sum = 0;
  for (let r = 0; r < (rows < 0 ? 1 : (pose.shape[rows] as number)); r++) {
    for (let c = 0; c < (cols < 0 ? 1 : (pose.shape[cols] as number)); c++) {
      if (rows >= 0) at[rows] = r;
      if (cols >= 0) at[cols] = c;
      sum += source.values.at(source.place(at, pose)) ** 2;
    }
  }
  return `this tile: ‖${sheet.item.index || "x"}‖ ${num(Math.sqrt(sum), 3)}`;
}

function remark(context: CardContext, sheet: Sheet, bad: number): string {
  const { pose } = context;
  const { index } = pose;
  const words = sheet.words(index, pose);
  if (bad >= 0) return `bad value ${bad + 1} of ${sheet.item.bad.at.data.length}`;
  if (words.trust === "block") return context.live ? "of its block" : "the value drawn for this block";
  if (words.trust === "≈") return "rounded for this page";
  if (pose.image) return "";
  if (pose.tiled) return tileNorm(context, sheet, index);
  return rank(sheet, sheet.read(index, pose)?.value ?? NaN);
}

export function readLine(sheets: readonly Sheet[]): Line {
  const where = el("span.vt-where");
  const right = el("span.vt-hint");
  const box = el("div.vt-read");
  const numbers = sheets.map(() => el("b"));
  const note = el("span.vt-remark");
  let keep: ReturnType<typeof setTimeout> | undefined;
  let resting = "";
  box.append(where);
  sheets.forEach((sheet, i) => {
    if (sheets.length > 1) box.append(el("span.vt-of", { text: sheet.item.role || sheet.item.name }));
    box.append(numbers[i] as HTMLElement);
  });
  box.append(note, el("span.vt-space"), right);
  return {
    box,
    hint(text) {
      resting = text;
      clearTimeout(keep);
      right.replaceChildren(text);
      right.classList.remove("vt-done");
    },
    copied(text, done) {
      clearTimeout(keep);
      if (done) {
        right.replaceChildren("copied ", el("span.vt-key", { text }));
        right.classList.add("vt-done");
        keep = setTimeout(() => this.hint(resting), 2500);
        return;
      }
      // Neither way to the clipboard is open: the text itself, selected, for Ctrl+C.
      const field = el("input.vt-take", { readonly: true, "aria-label": "index, press Ctrl+C to copy it" });
      field.value = text;
      right.classList.remove("vt-done");
      right.replaceChildren("Ctrl+C copies ", field);
      field.focus({ preventScroll: true });
      field.select();
    },
    show(context, bad) {
      const { pose } = context;
      const { index } = pose;
      const first = sheets[0] as Sheet;
      const name = sheets.length > 1 ? "" : first.item.index || "x";
      const block = first.best(index, pose)?.source.block;
      where.textContent = indexText(
        name,
        index,
        pose.shape,
        block,
        pose.frame.channels < 0 ? [] : [pose.frame.channels],
      );
      sheets.forEach((sheet, i) => {
        const words = sheet.words(index, pose);
        const b = numbers[i] as HTMLElement;
        b.textContent = words.text;
        b.className = words.bad ? "vt-badc" : sheet.item.role === "gradient" ? "vt-gradc" : "vt-valuec";
      });
      note.textContent = sheets.length > 1 ? "" : remark(context, first, bad);
    },
  };
}
