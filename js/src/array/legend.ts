// The legend of one sheet: exact histogram over the colour ramp, the ends of the scale, and the choice of scales.

import { css } from "../shared/colour";
import { el, on, onWidth, prepare, ratio } from "../shared/dom";
import { count, num } from "../shared/format";
import { real } from "../shared/payload";
import type { CardContext } from "./context";
import { partFor, placeOf, shareOf, valueAt } from "./scale";
import type { Sheet } from "./sheet";

const BARS = 38;
const RAMP = 10;

export class Legend {
  readonly box = el("div.vt-legend");
  readonly say = el("span.vt-say");
  readonly select = el("select", { "aria-label": "colour scale", title: "colour scale  ( s )" });
  #canvas = el("canvas", { tabindex: 0, role: "img" });
  #ticks = [el("span"), el("span"), el("span")] as const;
  #width = 300;
  #bin = -1;
  #context: CardContext;
  #sheet: Sheet;
  #shown = "";
  #bars: number;

  constructor(context: CardContext, sheet: Sheet, bars = BARS) {
    this.#context = context;
    this.#sheet = sheet;
    this.#bars = bars;
    this.box.append(this.#canvas, el("div.vt-ticks", {}, ...this.#ticks));
    const { signal } = context;
    on(
      this.select,
      "change",
      () => {
        sheet.setScale(this.select.selectedIndex);
        context.changed();
      },
      signal,
    );
    const look = (bin: number): void => {
      const n = sheet.scale.counts.data.length;
      this.#bin = Math.max(-1, Math.min(n - 1, bin));
      this.draw();
    };
    on(
      this.#canvas,
      "pointermove",
      (e) => look(Math.floor((e.offsetX / this.#width) * sheet.scale.counts.data.length)),
      signal,
    );
    on(this.#canvas, "pointerleave", () => look(-1), signal);
    on(this.#canvas, "blur", () => look(-1), signal);
    on(
      this.#canvas,
      "keydown",
      (e) => {
        const step = { ArrowLeft: -1, ArrowRight: 1 }[e.key];
        if (!step) return;
        e.preventDefault();
        look(this.#bin < 0 ? 0 : Math.max(0, this.#bin + step));
      },
      signal,
    );
    onWidth(
      this.box,
      (width) => {
        this.#width = width;
        this.draw();
      },
      signal,
    );
  }

  /** What a bar of the histogram counts. */
  static words(sheet: Sheet, bin: number): string {
    const { counts, edges } = sheet.scale;
    const [from, to] = [edges.data[bin] ?? NaN, edges.data[bin + 1] ?? NaN];
    return `${count(counts.data[bin] ?? 0)} in ${num(from, 3)} … ${num(to, 3)}`;
  }

  draw(): void {
    const sheet = this.#sheet;
    const context = this.#context;
    const width = this.#width;
    const bars = this.#bars;
    const { scale } = sheet;
    const { theme, pose } = context;
    this.#choices();
    const pen = prepare(this.#canvas, width, bars + 2 + RAMP, ratio());
    const { data } = scale.counts;
    if (pen) {
      const most = Math.max(1, ...data);
      const step = width / data.length;
      data.forEach((k, i) => {
        if (!k) return;
        const high = Math.max(1.5, Math.sqrt(k / most) * (bars - 2));
        pen.fillStyle = theme.token(i === this.#bin ? "accent" : "edge");
        pen.fillRect(i * step, bars - high, Math.max(1, step - 1), high);
      });
      const colours = theme.ramp(scale.map, partFor(scale), Math.max(2, Math.round(width)));
      colours.forEach((colour, x) => {
        pen.fillStyle = css(colour);
        pen.fillRect(x, bars + 2, 1.5, RAMP);
      });
      const reading = pose.image ? null : sheet.read(pose.index, pose);
      if (reading && Number.isFinite(reading.value)) {
        const at = Math.max(1, Math.min(width - 1, shareOf(scale, placeOf(scale)(reading.value)) * width));
        pen.fillStyle = theme.token("bg");
        pen.fillRect(at - 2, 0, 4, bars + 2 + RAMP);
        pen.fillStyle = theme.token("accent");
        pen.fillRect(at - 1, 0, 2, bars + 2 + RAMP);
      }
    }
    const [lo, mid, hi] = this.#ticks;
    lo.textContent = (scale.under ? "≤ " : "") + num(real(scale.lo), 3);
    hi.textContent = (scale.over ? "≥ " : "") + num(real(scale.hi), 3);
    if (this.#bin >= 0) mid.textContent = Legend.words(sheet, this.#bin);
    else mid.textContent = width < 180 ? "" : num(valueAt(scale, scale.centre ? 0 : 0.5), 3);
    mid.classList.toggle("vt-on", this.#bin >= 0);
  }

  #choices(): void {
    const sheet = this.#sheet;
    const { select } = this;
    const { scale, face } = sheet;
    const key = `${sheet.layer} ${face.scales.length}`;
    if (key !== this.#shown) {
      this.#shown = key;
      select.replaceChildren(...face.scales.map((s) => el("option", { text: s.label })));
      select.hidden = face.scales.length < 2;
    }
    select.selectedIndex = face.scales.indexOf(scale);
    this.say.textContent = scale.say;
    this.#canvas.setAttribute(
      "aria-label",
      `histogram and colour scale: ${scale.say}; left and right arrows read the bars`,
    );
  }
}
