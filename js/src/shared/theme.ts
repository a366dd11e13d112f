// The colours of the moment: read from the style sheet, and again whenever the host changes its theme.

import { palette, parseHex, type Part, partOf, type Rgb, ramp } from "./colour";
import { atEnd } from "./dom";

export class Theme {
  #root: HTMLElement;
  #kept = new Map<string, unknown>();

  constructor(root: HTMLElement) {
    this.#root = root;
  }

  /** The value of a token, such as "bad" for --vt-bad. */
  token(name: string): string {
    return this.#once(name, () => getComputedStyle(this.#root).getPropertyValue(`--vt-${name}`).trim());
  }

  font(size: number): string {
    return `${size}px ${this.token("mono") || "monospace"}`;
  }

  palette(map: string, part: Part): Uint32Array {
    return this.#once(`palette ${map} ${part}`, () =>
      palette(this.token(map) || "#000 #fff", part, this.token("bad")),
    );
  }

  ramp(map: string, part: Part, count: number): Rgb[] {
    return this.#once(`ramp ${map} ${part} ${count}`, () =>
      ramp(this.token(map) || "#000 #fff", count, ...partOf(part)),
    );
  }

  rgb(name: string): Rgb {
    return this.#once(`rgb ${name}`, () => parseHex(this.token(name)));
  }

  forget(): void {
    this.#kept.clear();
  }

  #once<T>(name: string, make: () => T): T {
    // Off the page an element has no style: what is read there is not kept.
    if (!this.#root.isConnected) return make();
    if (!this.#kept.has(name)) this.#kept.set(name, make());
    return this.#kept.get(name) as T;
  }
}

const SIGNS = ["data-jp-theme-light", "data-jp-theme-name", "data-vscode-theme-kind", "data-theme", "class", "style"];

/** Whether a root stands in the dark: its own word first, then the host's, then the system's. */
export function isDark(root: HTMLElement): boolean {
  const own = (
    root.closest("[data-theme]") ?? document.querySelector("html[data-theme], body[data-theme]")
  )?.getAttribute("data-theme");
  if (own === "dark" || own === "light") return own === "dark";
  const lab = document.querySelector("[data-jp-theme-light]")?.getAttribute("data-jp-theme-light");
  if (lab) return lab === "false";
  const names = document.body.className;
  if (/vscode-/.test(names)) return /vscode-dark|vscode-high-contrast(?!-light)/.test(names);
  return globalThis.matchMedia?.("(prefers-color-scheme: dark)").matches ?? false;
}

// What is done to a root when the host changes. The watchers know a root only weakly: an output that was replaced can go.
const followers = new WeakMap<HTMLElement, () => void>();

/** Call what follows a root, or end where the root is gone; apart, so that it holds on to nothing else. */
function follow(held: WeakRef<HTMLElement>, ended: AbortController): () => void {
  return () => {
    const root = held.deref();
    if (root) followers.get(root)?.();
    else ended.abort();
  };
}

/** Listen to the host and the system until the end. */
function watch(again: () => void, root: HTMLElement, { signal }: AbortController): void {
  let late: ReturnType<typeof setTimeout> | undefined;
  const seen = new MutationObserver(() => {
    again();
    // JupyterLab names the new theme before its style sheet has come.
    clearTimeout(late);
    late = setTimeout(again, 400);
  });
  const options = { attributes: true, attributeFilter: SIGNS };
  seen.observe(document.documentElement, options);
  seen.observe(document.body, options);
  seen.observe(root, { attributes: true, attributeFilter: ["data-theme"] });
  globalThis.matchMedia?.("(prefers-color-scheme: dark)").addEventListener("change", again, { signal });
  atEnd(signal, () => {
    seen.disconnect();
    clearTimeout(late);
  });
}

/** Follow the host: set the class now, and whenever host, root or system change, and call back. */
export function watchTheme(theme: Theme, root: HTMLElement, changed: () => void, signal: AbortSignal): void {
  const ended = new AbortController();
  atEnd(signal, () => ended.abort());
  followers.set(root, () => {
    root.classList.toggle("vt-dark", isDark(root));
    theme.forget();
    changed();
  });
  const again = follow(new WeakRef(root), ended);
  watch(again, root, ended);
  again();
}

/** Whether the person has asked for no motion. */
export const still = (): boolean => globalThis.matchMedia?.("(prefers-reduced-motion: reduce)").matches ?? false;
