// The widget of kind "vars": the table, and below it the array view of the row that was opened.

import css from "./array/array.css";
import { show } from "./array/show";
import type { State as ArrayState } from "./array/types";
import { el } from "./shared/dom";
import { hear } from "./shared/model";
import { type Frame, page } from "./shared/page";
import { type Raw, unpack } from "./shared/payload";
import { table } from "./vars/table";
import type { State } from "./vars/types";
import own from "./vars/vars.css";

function draw(state: State, frame: Frame): () => void {
  const { root, model, signal } = frame;
  const live = model.get("live") === true && Boolean(model.send);
  const note = el("div.vt-note", { role: "status" });
  const place = el("div");
  let wanted = -1;
  let view = (): void => {};
  let shown: AbortController | null = null;
  const clear = (): void => {
    shown?.abort();
    place.replaceChildren();
    view = () => {};
  };
  const { root: box, repaint } = table(state, frame.theme, signal, (row) => {
    clear();
    wanted = row;
    const name = state.rows[row]?.name ?? "";
    note.textContent = live ? `opening ${name} …` : `To look at it, type %vt show ${name}`;
    if (live) model.send?.({ type: "open", row });
  });
  const answered = (message: { type?: unknown; row?: unknown; why?: unknown } | null, buffers: Raw[]): void => {
    if (message?.type === "refused") note.textContent = String(message.why ?? "the kernel refused");
    const buffer = buffers?.[0];
    // An answer for a row that is no longer wanted comes too late.
    if (message?.type !== "opened" || message.row !== wanted || !buffer) return;
    clear();
    const one = (shown = new AbortController());
    signal.addEventListener("abort", () => one.abort(), { once: true, signal: one.signal });
    try {
      view = show(unpack(buffer).state as ArrayState, { ...frame, root: place, signal: one.signal }, false);
      note.textContent = "";
    } catch (error) {
      note.textContent = `This cannot be shown: ${(error as Error).message}`;
    }
  };
  hear(model, "msg:custom", answered as (...given: never[]) => void, signal);
  root.append(box, el("div.vt-opened", {}, note, place));
  requestAnimationFrame(repaint);
  return () => {
    repaint();
    view();
  };
}

export default page<State>(css + own, draw);
