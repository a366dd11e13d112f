// Elements, listeners and canvases, a few lines each. Text reaches the page as text only.

export type Attributes = Record<string, string | number | boolean | null | undefined>;

type Tag = keyof HTMLElementTagNameMap;

/** An element: its tag and classes as `"div.vt-card"`, attributes (`text` is its text), children. */
export function el<K extends Tag>(
  what: K | `${K}.${string}`,
  attributes: Attributes = {},
  ...children: (Node | string | null)[]
): HTMLElementTagNameMap[K] {
  const [tag, ...classes] = what.split(".");
  const element = document.createElement(tag as K);
  if (classes.length) element.className = classes.join(" ");
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "text") element.textContent = String(value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

/** Listen until the signal ends it. */
export function on<K extends keyof HTMLElementEventMap>(
  target: HTMLElement,
  event: K,
  listener: (event: HTMLElementEventMap[K]) => void,
  signal: AbortSignal,
): void {
  // Not passive: a wheel that zooms must not scroll as well.
  target.addEventListener(event, listener, { signal, passive: false });
}

/** A button that does one thing; the name goes without the key that its tip shows after two spaces. */
export function button(
  what: "button" | `button.${string}`,
  text: string,
  title: string,
  does: () => void,
  signal: AbortSignal,
): HTMLButtonElement {
  const made = el(what, { type: "button", text, title: title || null, "aria-label": title.split("  ")[0] || null });
  on(made, "click", does, signal);
  return made;
}

/** Call back when the signal ends. */
export const atEnd = (signal: AbortSignal, does: () => void): void =>
  signal.addEventListener("abort", does, { once: true });

const SVG = "http://www.w3.org/2000/svg";
const GLYPHS = {
  nan: "M2 2l6 6m0-6l-6 6",
  posinf: "M5 1l4.5 8h-9z",
  neginf: "M5 9l4.5-8h-9z",
  play: "M2.5 1.2l6.5 3.8-6.5 3.8z",
  pause: "M2 1.2h2.2v7.6h-2.2zM5.8 1.2h2.2v7.6h-2.2z",
  fold: "M3 1.5l4 3.5-4 3.5",
};

/** A small sign in the colour of the text around it. */
export function glyph(name: keyof typeof GLYPHS): SVGSVGElement {
  const svg = document.createElementNS(SVG, "svg");
  const path = document.createElementNS(SVG, "path");
  for (const [key, value] of [
    ["width", "10"],
    ["height", "10"],
    ["viewBox", "0 0 10 10"],
    ["aria-hidden", "true"],
  ] as const) {
    svg.setAttribute(key, value);
  }
  path.setAttribute("d", GLYPHS[name]);
  const line = name === "nan" || name === "fold";
  path.setAttribute(line ? "stroke" : "fill", "currentColor");
  if (line) {
    path.setAttribute("stroke-width", "2");
    path.setAttribute("fill", "none");
  }
  svg.append(path);
  return svg;
}

/** A canvas of w by h css pixels, sharp on every screen; what was on it is gone. */
export function prepare(
  canvas: HTMLCanvasElement,
  w: number,
  h: number,
  ratio: number,
): CanvasRenderingContext2D | null {
  const [wide, high] = [Math.max(1, Math.round(w * ratio)), Math.max(1, Math.round(h * ratio))];
  if (canvas.width !== wide) canvas.width = wide;
  if (canvas.height !== high) canvas.height = high;
  canvas.style.width = `${w}px`;
  canvas.style.height = `${h}px`;
  const context = canvas.getContext("2d");
  context?.setTransform(ratio, 0, 0, ratio, 0, 0);
  context?.clearRect(0, 0, w, h);
  return context;
}

export const ratio = (): number => globalThis.devicePixelRatio || 1;

/** Paint at most once a frame, and never after the signal. */
export function painter(paint: () => void, signal: AbortSignal): () => void {
  let frame = 0;
  atEnd(signal, () => cancelAnimationFrame(frame));
  return () => {
    if (frame || signal.aborted) return;
    frame = requestAnimationFrame(() => {
      frame = 0;
      paint();
    });
  };
}

/** Call back, in a frame of its own, when an element's width changes. */
export function onWidth(element: HTMLElement, changed: (width: number) => void, signal: AbortSignal): void {
  let last = -1;
  let next = 0;
  const apply = painter(() => {
    if (next > 0 && next !== last) changed((last = next));
  }, signal);
  const look = (width: number): void => {
    next = Math.floor(width);
    apply();
  };
  if (typeof ResizeObserver === "undefined") return look(640);
  const observer = new ResizeObserver((entries) => look(entries[entries.length - 1]?.contentRect.width ?? 0));
  observer.observe(element);
  atEnd(signal, () => observer.disconnect());
}

/** Put text on the clipboard; false where the page is not allowed to. */
export async function copy(text: string, near: HTMLElement): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Refused in frames without permission and on pages without https: the old command may still be allowed.
    const box = el("textarea", { class: "vt-hidden", tabindex: -1 });
    const before = document.activeElement;
    box.value = text;
    near.append(box);
    box.select();
    let done = false;
    try {
      done = document.execCommand("copy");
    } catch {
      done = false;
    }
    box.remove();
    if (before instanceof HTMLElement) before.focus({ preventScroll: true });
    return done;
  }
}
