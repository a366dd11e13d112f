// A row of tabs, or of choices that look alike: arrows, Home and End walk it.

import { el, on } from "../shared/dom";

export interface Tab<Key extends string> {
  key: Key;
  text: string;
  /** What a screen reader says, where it is more than the text. */
  label?: string;
  tip?: string;
}

export interface Tabs<Key extends string> {
  root: HTMLElement;
  button(key: Key): HTMLElement;
  mark(key: Key): void;
}

export function tabs<Key extends string>(
  name: string,
  kind: "vt-w-seg" | "vt-w-tabs",
  all: Tab<Key>[],
  chosen: (key: Key) => void,
  signal: AbortSignal,
  role: "tab" | "radio" = "tab",
): Tabs<Key> {
  const chosenBy = role === "tab" ? "aria-selected" : "aria-checked";
  const buttons = new Map<Key, HTMLButtonElement>();
  for (const tab of all) {
    const made = el("button", {
      type: "button",
      role,
      "data-key": tab.key,
      "aria-label": tab.label ?? null,
      title: tab.tip ?? null,
      [chosenBy]: "false",
      tabindex: -1,
    });
    // Before a bar stands what a narrow panel leaves out.
    const [more, text] = tab.text.includes("|") ? tab.text.split("|") : ["", tab.text];
    if (more) made.setAttribute("aria-label", `${more}${text}`);
    made.append(...(more ? [el("span.vt-w-long", { text: more })] : []), el("span", { text: text ?? "" }));
    on(made, "click", () => chosen(tab.key), signal);
    buttons.set(tab.key, made);
  }
  const root = el(
    "div",
    { class: kind, role: role === "tab" ? "tablist" : "radiogroup", "aria-label": name },
    ...buttons.values(),
  );
  on(
    root,
    "keydown",
    (e) => {
      const seen = [...buttons.values()].filter((one) => !one.hidden);
      const at = seen.indexOf(e.target as HTMLButtonElement);
      const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: seen.length - 1 }[e.key];
      if (at < 0 || to === undefined) return;
      const next = seen[(to + seen.length) % seen.length] as HTMLButtonElement;
      next.focus();
      next.click();
      e.preventDefault();
      e.stopPropagation();
    },
    signal,
  );
  return {
    root,
    button: (key) => buttons.get(key) as HTMLElement,
    mark(key) {
      for (const [name, one] of buttons) {
        one.setAttribute(chosenBy, String(name === key));
        one.tabIndex = name === key ? 0 : -1;
      }
    },
  };
}
