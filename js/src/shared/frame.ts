// The frame of every widget: one root with its style, the payload of the model read again when it changes, the host's
// theme followed, and everything ended by one signal.

import type { Check } from "./check";
import { atEnd, el, on } from "./dom";
import { answers, listen, Line, meet, type Model, offer, type Stage, UNMET } from "./model";
import parts from "./parts.css";
import { type Raw, unpack } from "./payload";
import { markOf, scoped } from "./scope";
import { Theme, watchTheme } from "./theme";
import tokens from "./tokens.css";

export interface Frame {
  root: HTMLElement;
  model: Model;
  theme: Theme;
  signal: AbortSignal;
  /** Show, in place of the page, why what the kernel has sent cannot be shown. */
  failed: (error: Error) => void;
}

/** Keep keys from JupyterLab's shortcuts, which look at the focused element itself; those with Ctrl, Alt or Meta stay. */
function keepKeys(root: HTMLElement, signal: AbortSignal): void {
  for (const event of ["focusin", "keydown", "keyup"] as const) {
    on(
      root,
      event,
      (e: Event) => {
        const { ctrlKey, metaKey, altKey } = e as KeyboardEvent;
        (e.target as Element).toggleAttribute("data-lm-suppress-shortcuts", !(ctrlKey || metaKey || altKey));
      },
      signal,
    );
  }
}

const ARRIVES = 3000; // a model that is not there by then is hardly still coming
const WAITS = 30_000;

/** What a record says as text, where its page fails. */
const textOf = (state: unknown): string => {
  const { text, report } = (state ?? {}) as { text?: unknown; report?: unknown };
  return typeof text === "string" && text ? text : typeof report === "string" ? report : "";
};

/** A widget: `draw` puts a state that `check` lets pass into the root, and returns what paints it again in other colours. */
export function page<State>(
  check: Check<State>,
  css: string,
  draw: (state: State, frame: Frame) => () => void,
): { initialize(stage: { model: Model; signal?: AbortSignal }): void; render(stage: Stage): () => void } {
  const mark = markOf(tokens + parts + css);
  const sheet = scoped(tokens + parts + css, mark);
  function initialize({ model, signal }: { model: Model; signal?: AbortSignal }): void {
    offer(model, signal ?? new AbortController().signal);
  }
  function render({ model, el: host, signal }: Stage): () => void {
    const ended = new AbortController();
    if (signal?.aborted) ended.abort();
    else if (signal) atEnd(signal, () => ended.abort());
    const root = el("div", { class: `vt ${mark}` });
    const theme = new Theme(root);
    const note = el("div.vt-lost", { role: "alert", hidden: true });
    let line = new Line(model, ended.signal);
    let now: AbortController | null = null;
    let paint = (): void => {};
    // A page inside of another one leaves it to that one to say what became of their kernel.
    const inner = model.get("inner") === true;
    const say = (why: string): void => {
      if (inner) return;
      note.textContent = why;
      note.hidden = !why;
    };
    const again = (): void => {
      now?.abort();
      const one = (now = new AbortController());
      ended.signal.addEventListener("abort", () => one.abort(), { once: true, signal: one.signal });
      root.replaceChildren();
      const raw = line.get("payload") as Raw | null | undefined;
      if (!raw || raw.byteLength === 0) return;
      let state: unknown;
      const failed = (error: Error): void => {
        // What was recorded is still shown, as text: here, or by what stands around the page.
        one.abort();
        paint = () => {};
        host.dataset["failed"] = error.message;
        const text = textOf(state);
        root.replaceChildren(note, el("div.vt-note", { text: `This cannot be shown: ${error.message}` }));
        if (text) root.append(el("div.vt-text", { text, tabindex: 0 }));
      };
      try {
        const packed = unpack(raw);
        state = packed.state;
        check(state, packed.kind);
        paint = draw(state as State, { root, model: line, theme, signal: one.signal, failed });
        delete host.dataset["failed"];
        root.prepend(note);
      } catch (error) {
        failed(error as Error);
      }
    };
    const watch = (): void => {
      const mine = line;
      mine.waits = (why) => mine === line && say(why);
      listen(mine, "change:live", () => mine === line && say(mine.lost), ended.signal);
      listen(mine, "change:payload", again, ended.signal);
    };
    host.replaceChildren(el("style", { text: sheet }), root);
    keepKeys(root, ended.signal);
    watchTheme(theme, root, () => paint(), ended.signal);
    watch();
    again();
    const key = model.get("key");
    if (typeof key === "string" && key && model.get("live") !== true) {
      const until = new AbortController();
      atEnd(ended.signal, () => until.abort());
      const late = setTimeout(() => host.closest(".lm-Widget") && say(UNMET), ARRIVES);
      const over = setTimeout(() => until.abort(), WAITS);
      meet(
        key,
        (real) => {
          if (!answers(real)) return;
          clearTimeout(late);
          clearTimeout(over);
          say("");
          line = new Line(real, ended.signal, { payload: model.get("payload") });
          watch();
          again();
        },
        until.signal,
      );
    }
    return () => ended.abort();
  }
  return { initialize, render };
}
