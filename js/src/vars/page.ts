// The widget of kind "vars": the table, and below it the array view of the row that was opened. The kernel sends that
// page together with the array, and answers its tiles through the model of the table.

import { el } from "../shared/dom";
import { answers, listen, type Model } from "../shared/model";
import { type Frame, page } from "../shared/frame";
import type { Raw } from "../shared/payload";
import { load } from "./load";
import { table } from "./table";
import { check, type State } from "./types";
import css from "./vars.css";

interface Opened {
  type?: unknown;
  row?: unknown;
  why?: unknown;
}

function draw(state: State, { root, model, theme, signal }: Frame): () => void {
  const note = el("div.vt-note", { role: "status" });
  const place = el("div");
  let wanted = -1;
  let shown: AbortController | null = null;
  const clear = (): void => {
    shown?.abort();
    place.replaceChildren();
  };
  const { root: box, repaint } = table(state, theme, signal, (row) => {
    clear();
    wanted = row;
    const name = state.rows[row]?.name ?? "";
    const live = answers(model);
    note.textContent = live ? `opening ${name} …` : `To look at it, type %vt show ${name}`;
    if (live) model.send?.({ type: "open", row });
  });

  async function answered(message: Opened | null, buffers: Raw[]): Promise<void> {
    // An answer for a row that is no longer wanted comes too late.
    if (message?.type !== "opened" || message.row !== wanted) return;
    const [payload, code] = buffers ?? [];
    if (!payload || !code) {
      note.textContent = String(message.why ?? "the kernel sent no array");
      return;
    }
    clear();
    const one = (shown = new AbortController());
    signal.addEventListener("abort", () => one.abort(), { once: true, signal: one.signal });
    const inner: Model = {
      get: (name) => (name === "payload" ? payload : name === "inner" || model.get(name)),
      on: (event, listener) => model.on(event, listener),
      off: (event, listener) => model.off(event, listener),
      send: (asked) => model.send?.(asked),
    };
    try {
      const view = await load(code);
      if (one.signal.aborted) return;
      view.render({ model: inner, el: place, signal: one.signal });
      note.textContent = "";
    } catch (error) {
      note.textContent = `This cannot be shown: ${(error as Error).message}`;
    }
  }
  listen(model, "msg:custom", answered as (...given: never[]) => void, signal);
  root.append(box, el("div.vt-opened", {}, note, place));
  requestAnimationFrame(repaint);
  return repaint;
}

export default page(check, css, draw);
