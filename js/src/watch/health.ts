// Layer by layer: how large the steps are against the weights, each unit, what that means and what usually helps.

import { el, prepare, ratio } from "../shared/dom";
import { css } from "../shared/colour";
import { count } from "../shared/format";
import { real } from "../shared/payload";
import { NONE, power, short } from "./numbers";
import type { Layer } from "./types";
import { type Part, put, unchanged, type View } from "./view";

const [LO, HI] = [-6, 0]; // powers of ten of the scale
const MOST_UNITS = 512;
const WIDE = 160;

/** A path where there is little room: its end tells one layer from the next. */
export const ends = (name: string): string => (name.length > 16 ? `…${name.slice(-15)}` : name);

const place = (value: number): number => Math.max(0.5, Math.min(99.5, (100 * (Math.log10(value) - LO)) / (HI - LO)));
const of = (value: unknown): number => (value === null ? NaN : real(value));

export interface Health extends Part {
  /** How many layers are not in range; null where nothing is known yet. */
  flagged(): number | null;
}

export function health(view: View): Health {
  const { theme } = view;
  const body = el("div.vt-w-table.vt-w-layers", { role: "table", "aria-label": "health of the layers" });
  const caption = el("div.vt-w-caption.vt-w-wrap");
  const root = el("div.vt-w-health", {}, body, caption);
  const same = unchanged();
  const rows = new Map<string, { root: HTMLElement; put(layer: Layer): void }>();
  const heads = ["layer", "update / weight", "newest", "units, one cell each", "", "state", "what usually helps"];

  function units(canvas: HTMLCanvasElement, layer: Layer): void {
    const levels = layer.units?.data;
    canvas.hidden = !levels?.length;
    if (!levels?.length) return;
    const n = Math.min(MOST_UNITS, levels.length);
    const lines = n <= 22 ? 1 : n <= 88 ? 2 : n <= 180 ? 3 : 5;
    const each = Math.ceil(n / lines);
    const w = Math.max(1.5, Math.min(8, WIDE / each));
    const h = lines === 1 ? 10 : lines === 5 ? 6 : 8;
    const g = prepare(canvas, Math.ceil(each * w), lines * (h + 2) - 1, ratio());
    if (!g) return;
    const ramp = theme.ramp("tide", false, 11).map(css);
    for (let i = 0; i < n; i++) {
      const [x, y] = [(i % each) * w, Math.floor(i / each) * (h + 2)];
      const gap = w > 3 ? 1 : w > 2 ? 0.5 : 0;
      const [dead, full] = [layer.dead?.data[i], layer.saturated?.data[i]];
      // Zero levels stay seen against the card: a unit that is quiet is pale, one that is dead is an outline.
      g.fillStyle = ramp[Math.max(2, Math.min(10, Math.round((levels[i] as number) * 0.8 + 2)))] as string;
      if (!dead) g.fillRect(x, y, w - gap, h);
      if (dead || full) {
        g.strokeStyle = theme.token("warn");
        g.lineWidth = w > 3 ? 1.2 : 1;
        g.strokeRect(x + 0.6, y + 0.6, Math.max(0.8, w - gap - 1.2), h - 1.2);
      }
    }
  }

  function row(name: string): { root: HTMLElement; put(layer: Layer): void } {
    const had = rows.get(name);
    if (had) return had;
    const [span, dot, now] = [el("i.vt-w-span"), el("i.vt-w-dot"), el("span.vt-w-end", { role: "cell" })];
    const bandMark = el("i.vt-w-green");
    const scale = el(
      "div.vt-w-band",
      {},
      bandMark,
      span,
      dot,
      el("small", { text: "1e-4" }),
      el("small", { text: "1e-2" }),
    );
    const canvas = el("canvas", { role: "img" });
    const [dead, state, cure] = [
      el("span.vt-w-dead", { role: "cell" }),
      el("span.vt-w-state", { role: "cell" }),
      el("span.vt-w-cure", { role: "cell" }),
    ];
    const sameUnits = unchanged();
    const kind = el("small");
    const root = el(
      "div.vt-w-tr",
      { role: "row" },
      el("span.vt-w-layer", { role: "rowheader", title: name }, el("b", { text: ends(name) }), kind),
      el("span", { role: "cell" }, scale),
      now,
      el("span.vt-w-units", { role: "cell" }, canvas),
      dead,
      state,
      cure,
    );
    const made = {
      root,
      put(layer: Layer): void {
        const [mean, low, high, ratioNow] = [of(layer.mean), of(layer.low), of(layer.high), of(layer.ratio)];
        const known = mean > 0;
        dot.hidden = span.hidden = !known;
        if (known) {
          dot.style.left = `${place(mean)}%`;
          const [a, b] = [place(low > 0 ? low : mean), place(high > 0 ? high : mean)];
          span.style.left = `${a}%`;
          span.style.width = `${Math.max(0.5, b - a)}%`;
        }
        scale.title = known ? `mean of 20: ${power(mean)}, from ${power(low)} to ${power(high)} in 100` : "";
        put(kind, layer.module ?? "");
        put(now, layer.ratio === null ? NONE : short(ratioNow));
        const fine = layer.state === "in range";
        dot.classList.toggle("vt-w-warns", known && /step/.test(layer.state));
        const n = layer.units?.data.length ?? 0;
        const sum = (mask: Layer["dead"]): number => Array.from(mask?.data ?? []).reduce((k, v) => k + v, 0);
        const [gone, full] = [sum(layer.dead), sum(layer.saturated)];
        put(
          dead,
          !layer.kind
            ? "no activation"
            : layer.seen
              ? layer.kind === "ends"
                ? `${full} of ${n} saturated`
                : `${gone} of ${n} dead`
              : NONE,
        );
        dead.classList.toggle("vt-note", !layer.kind || !(gone + full));
        put(state, layer.ratio === null && fine ? NONE : fine ? "✓ in range" : `▲ ${layer.state}`);
        state.dataset["kind"] = fine ? "good" : layer.state === "not finite" ? "bad" : "warn";
        if (layer.ratio === null && fine) state.dataset["kind"] = "";
        put(cure, layer.cure);
        canvas.setAttribute("aria-label", `${n} units, ${gone} dead, ${full} saturated`);
        if (!sameUnits(layer.units, theme.token("ink"))) units(canvas, layer);
      },
    };
    rows.set(name, made);
    return made;
  }

  return {
    root,
    flagged() {
      const { layers } = view.state.health;
      if (!layers.some((layer) => layer.ratio !== null || layer.seen)) return null;
      return layers.filter((layer) => layer.state !== "in range").length;
    },
    paint() {
      const { health: h } = view.state;
      if (same(h, theme.token("ink"))) return;
      const lines = h.layers.map((layer) => row(layer.name));
      h.layers.forEach((layer, i) => lines[i]?.put(layer));
      if (body.childElementCount !== lines.length + 1 || lines.some((line) => !line.root.isConnected)) {
        const top = el(
          "div.vt-w-tr",
          { role: "row" },
          ...heads.map((text) => el("span", { role: "columnheader", text })),
        );
        body.replaceChildren(top, ...lines.map((line) => line.root));
      }
      put(
        caption,
        h.layers.length
          ? `Green band: ${power(h.band[0], 1)} to ${power(h.band[1], 1)}, a rule of thumb; ` +
              "dot: mean of 20, line: range of 100. " +
              `Outlined unit: dead, no output in ${count(h.window)} samples, or filled and saturated; ` +
              `flagged from ${Math.round(100 * h.flag)} %.`
          : "No layer is known yet.",
      );
    },
  };
}
