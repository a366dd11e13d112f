// The filters of one convolution, and their gradients under them in the same order; each of the two has its own scale.

import { unpixel } from "../shared/colour";
import { el, on, onWidth, painter, prepare, ratio } from "../shared/dom";
import { count, shapeText } from "../shared/format";
import { real } from "../shared/payload";
import { short } from "./numbers";
import type { Coded } from "./types";
import { type Part, unchanged, type View } from "./view";

const LEFT = 76;
const GAP = 18;

interface Plan {
  n: number;
  deep: number;
  kh: number;
  kw: number;
  /** Whether the channels of a filter are one picture. */
  rgb: boolean;
  /** Pixels of a weight, and the places of a filter. */
  z: number;
  each: number;
  across: number;
}

/** How filters of a shape stand in so many pixels. */
export function planOf(shape: number[], wide: number): Plan {
  const [n, deep, kh, kw] = [shape[0] ?? 1, shape[1] ?? 1, shape[2] ?? 1, shape[3] ?? 1];
  const rgb = deep === 3 || deep === 1;
  const across = rgb ? Math.min(n, 8, Math.max(1, Math.floor(wide / (kw * 6 + 12)))) : n;
  const gap = rgb ? 14 : 3;
  const most = rgb ? 14 : 6;
  const z = Math.max(1, Math.min(most, Math.floor((wide / across - gap) / kw)));
  return { n, deep, kh, kw, rgb, z, each: kw * z + gap, across };
}

export function filters(view: View): Part {
  const { signal, theme } = view;
  const choice = el("select.vt-w-small", { "aria-label": "filters of" });
  const [words, readout, none] = [el("span.vt-note.vt-w-wide"), el("span.vt-w-read"), el("div.vt-w-none")];
  const canvas = el("canvas", { role: "img" });
  const box = el("div.vt-w-filterbox", {}, canvas);
  const top = el(
    "div.vt-w-h",
    {},
    el("span.vt-w-h3", { text: "Filters" }),
    choice,
    words,
    el("span.vt-space"),
    readout,
  );
  const root = el("div.vt-w-filters", {}, top, box, none);
  let wide = 0;
  let plan: Plan | null = null;
  const tops: number[] = [];
  const sameChoices = unchanged();
  const same = unchanged();
  const again = painter(draw, signal);
  onWidth(
    box,
    (width) => {
      wide = width;
      draw();
    },
    signal,
  );
  on(choice, "change", () => view.ask("filters", { name: choice.value }), signal);
  on(canvas, "pointermove", (e) => point(e.offsetX, e.offsetY), signal);
  on(canvas, "pointerleave", () => void (readout.textContent = ""), signal);

  const value = (coded: Coded, i: number): number => {
    const code = coded.codes.data[i] as number;
    return code ? ((code - 128) / 127) * real(coded.scale) : NaN;
  };
  const both = (): [string, Coded | null][] => {
    const f = view.state.filters;
    return [
      ["weight", f?.weight ?? null],
      ["gradient", f?.gradient ?? null],
    ];
  };

  function point(px: number, py: number): void {
    const f = view.state.filters;
    if (!plan || !f) return;
    const { n, deep, kh, kw, rgb, z, each, across } = plan;
    for (const [k, [name, coded]] of both().entries()) {
      const y = py - (tops[k] ?? Infinity);
      if (y < 0 || !coded) continue;
      const high = rgb ? kh * z + GAP : kh * z + 3;
      const [line, column] = [Math.floor(y / high), Math.floor((px - LEFT) / each)];
      const [r, c] = [Math.floor((y - line * high) / z), Math.floor((px - LEFT - column * each) / z)];
      const filter = rgb ? line * across + column : column;
      const channel = rgb ? -1 : line;
      if (column < 0 || column >= across || r >= kh || c < 0 || c >= kw || filter >= n || channel >= deep) continue;
      const at = (d: number): string => short(value(coded, ((filter * deep + d) * kh + r) * kw + c));
      const said = rgb ? Array.from({ length: deep }, (_, d) => at(d)).join(", ") : at(channel);
      readout.textContent = `${name}[${filter}, ${rgb ? (deep === 1 ? "0" : ":") : channel}, ${r}, ${c}] = ${said}`;
      return;
    }
    readout.textContent = "";
  }

  function draw(): void {
    const f = view.state.filters;
    const live = view.live && !(view.state.head.why["filters"] ?? "");
    if (!sameChoices(f?.choices, String(f?.choices.map((one) => one.name)))) {
      const options = (f?.choices ?? []).map((one) =>
        el("option", { value: one.name, text: `${one.name}  ${shapeText(one.shape)}` }),
      );
      choice.replaceChildren(...options);
    }
    choice.hidden = !f?.choices.length;
    choice.disabled = !live;
    choice.title = live
      ? ""
      : view.live
        ? (view.state.head.why["filters"] ?? "")
        : "No kernel answers: this is what was stored.";
    if (f && document.activeElement !== choice) choice.value = f.chosen;
    const shown = f?.weight;
    none.hidden = Boolean(shown);
    box.hidden = !shown;
    none.textContent = f?.choices.length
      ? "The filters are looked at when the loop has made some steps."
      : "The model has no convolution.";
    if (!shown || !f) {
      words.textContent = "";
      return;
    }
    if (same(shown, f.gradient, wide, theme.token("ink")) || wide < 150) return;
    const shape = shown.codes.shape;
    const p = (plan = planOf(shape, wide - LEFT - 4));
    const { n, deep, kh, kw, rgb, z, each, across } = p;
    const lines = rgb ? Math.ceil(n / across) : deep;
    const high = rgb ? kh * z + GAP : kh * z + 3;
    const block = lines * high + (rgb ? 0 : 6);
    const g = prepare(canvas, wide, 18 + 2 * block + 14, ratio());
    if (!g) return;
    const of = f.choices.find((one) => one.name === f.chosen)?.shape ?? shape;
    const less = (of[0] ?? n) > n || (of[1] ?? deep) > deep;
    const how = rgb
      ? deep === 3
        ? "as RGB, grey is zero"
        : "of one channel"
      : "column: filter, row: one of its inputs";
    const part = less ? `first ${count(n)}, ${count(deep)} inputs of each; ` : "";
    words.textContent = `${part}${how}; both in the same order, each with its scale`;
    words.title = words.textContent;
    g.font = `11px ${theme.token("font") || "sans-serif"}`;
    g.textBaseline = "middle";
    const [ink, ink2] = [theme.token("ink"), theme.token("ink-2")];
    const bad = theme.rgb("bad");
    both().forEach(([name, coded], k) => {
      const y0 = 18 + k * (block + 14);
      tops[k] = y0;
      const pal = theme.palette(k ? "ember" : "tide", true);
      g.textAlign = "right";
      g.fillStyle = ink;
      const middle = y0 + Math.min(block, 120) / 2;
      g.fillText(name, LEFT - 12, middle - 8);
      g.fillStyle = ink2;
      g.fillText(coded ? `±${short(real(coded.scale))}` : "none yet", LEFT - 12, middle + 8);
      for (let i = 0; i < n; i++) {
        const [fx, fy] = rgb ? [i % across, Math.floor(i / across)] : [i, 0];
        const x0 = LEFT + fx * each;
        if (!k && (rgb ? fy === 0 : true) && (each > 14 || i % 8 === 0)) {
          g.textAlign = "center";
          g.fillStyle = ink2;
          g.fillText(String(i), x0 + (kw * z) / 2, 8);
        }
        if (!coded) continue;
        for (let d = 0; d < (rgb ? 1 : deep); d++)
          for (let r = 0; r < kh; r++)
            for (let c = 0; c < kw; c++) {
              const at = ((i * deep + d) * kh + r) * kw + c;
              const code = coded.codes.data[at] as number;
              if (deep === 3) {
                const three = [0, 1, 2].map((ch) => coded.codes.data[at + ch * kh * kw] as number);
                g.fillStyle = `rgb(${three.every(Boolean) ? three : bad})`;
              } else g.fillStyle = `rgb(${code ? unpixel(pal[Math.round(((code - 1) / 254) * 252)] as number) : bad})`;
              g.fillRect(x0 + c * z, y0 + (rgb ? fy : d) * high + r * z, z, z);
            }
      }
    });
    canvas.setAttribute("aria-label", `${n} filters of ${f.chosen} and their gradients, after step ${count(f.step ?? 0)}`);
  }
  return { root, paint: () => (root.isConnected ? again() : undefined) };
}
