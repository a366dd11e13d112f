// The gradient on its way: when the pass takes a step, what was sent travels along its edge as a small picture, in a
// quarter of a second; backwards when the step is taken back. Nothing moves for a person who asked for no motion.

import { heat, type Value } from "../graph/heat";
import { svg } from "../graph/svg";
import { atEnd, el } from "../shared/dom";
import { still, type Theme } from "../shared/theme";

export const TAKES = 250; // ms
const MOST = 8; // pictures at once
const [WIDE, HIGH] = [34, 24];
const BEYOND = 14; // pixels from an end of an edge into its box: between two close boxes the way would be hardly seen

export class Travel {
  #ended = new AbortController();
  #theme: Theme;

  constructor(theme: Theme, signal: AbortSignal) {
    this.#theme = theme;
    atEnd(signal, () => this.#ended.abort());
  }

  /** Let values travel along paths of one drawing; what was still on its way is gone. */
  go(sent: [SVGPathElement, Value][], back: boolean): void {
    this.#ended.abort();
    const drawn = sent.filter(([path]) => path.getPointAtLength !== undefined);
    if (still() || !drawn.length) return;
    const ended = (this.#ended = new AbortController());
    const moved = drawn.slice(0, MOST).map(([path, value]) => {
      const box = svg("foreignObject", { class: "vt-travels", width: WIDE, height: HIGH, "aria-hidden": "true" });
      box.append(el("div", {}, heat(value, "gradient", this.#theme, WIDE - 4, HIGH - 4, ended.signal).root));
      path.ownerSVGElement?.append(box);
      const long = path.getTotalLength();
      const [a, b] = [path.getPointAtLength(0), path.getPointAtLength(long)];
      const far = Math.hypot(b.x - a.x, b.y - a.y) || 1;
      return { path, box, long, dx: (BEYOND * (b.x - a.x)) / far, dy: (BEYOND * (b.y - a.y)) / far };
    });
    atEnd(ended.signal, () => {
      for (const { box } of moved) box.remove();
    });
    let start = 0;
    const frame = (now: number): void => {
      if (ended.signal.aborted) return;
      start ||= now;
      const part = (now - start) / TAKES;
      if (part >= 1) return ended.abort();
      const eased = part * part * (3 - 2 * part);
      const at = back ? 1 - eased : eased;
      for (const { path, box, long, dx, dy } of moved) {
        const { x, y } = path.getPointAtLength(long * at);
        box.setAttribute("x", String(x + dx * (2 * at - 1) - WIDE / 2));
        box.setAttribute("y", String(y + dy * (2 * at - 1) - HIGH / 2));
      }
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }
}
