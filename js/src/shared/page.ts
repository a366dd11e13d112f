// The frame of every widget: one root with its style, the payload of the model read again when it changes, the host's
// theme followed, and everything ended by one signal.

import { atEnd, el, on } from "./dom";
import { hear, type Model, type Stage } from "./model";
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

/** A widget: `draw` puts a state into the root and returns what paints it again in other colours. */
export function page<State>(
  css: string,
  draw: (state: State, frame: Frame) => () => void,
): { render(stage: Stage): () => void } {
  const mark = markOf(tokens + parts + css);
  const sheet = scoped(tokens + parts + css, mark);
  function render({ model, el: host, signal }: Stage): () => void {
    const ended = new AbortController();
    if (signal?.aborted) ended.abort();
    else if (signal) atEnd(signal, () => ended.abort());
    const root = el("div", { class: `vt ${mark}` });
    const theme = new Theme(root);
    let now: AbortController | null = null;
    let paint = (): void => {};
    const again = (): void => {
      now?.abort();
      const one = (now = new AbortController());
      ended.signal.addEventListener("abort", () => one.abort(), { once: true, signal: one.signal });
      root.replaceChildren();
      const raw = model.get("payload") as Raw | null | undefined;
      if (!raw || raw.byteLength === 0) return;
      try {
        paint = draw(unpack(raw).state as State, { root, model, theme, signal: one.signal });
      } catch (error) {
        root.replaceChildren(el("div.vt-note", { text: `This cannot be shown: ${(error as Error).message}` }));
      }
    };
    host.replaceChildren(el("style", { text: sheet }), root);
    keepKeys(root, ended.signal);
    watchTheme(theme, root, () => paint(), ended.signal);
    hear(model, "change:payload", again, ended.signal);
    again();
    return () => ended.abort();
  }
  return { render };
}
