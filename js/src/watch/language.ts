// A language model: the loss by position, its perplexity, the hardest tokens and places, what is confused.

import { el, prepare, ratio } from "../shared/dom";
import { count } from "../shared/format";
import type { Nd } from "../shared/payload";
import { NONE, number, one, tick, ticks } from "./numbers";
import { lines, pick, widthOf } from "./task";
import type { Place, Tokens } from "./types";
import { type Part, put, set, unchanged, type View } from "./view";

const HIGH = 250;
const [LEFT, RIGHT, TOP, FOOT] = [40, 14, 12, 34];
const BARS = 40; // positions that have a bar each

export const named = (w: Tokens, token: number): string => (token < 0 ? NONE : (w.names[String(token)] ?? `${token}`));

/** Losses by position in at most so many pieces: mean of each, first position, how many. */
export function pieces(position: Nd, seen: Nd, most: number): { from: number; to: number; loss: number }[] {
  const n = position.data.length;
  const each = Math.max(1, Math.ceil(n / most));
  const out = [];
  for (let from = 0; from < n; from += each) {
    let [sum, all] = [0, 0];
    const to = Math.min(n, from + each);
    for (let i = from; i < to; i++) {
      const [v, k] = [position.data[i] as number, seen.data[i] as number];
      if (!k || v !== v) continue;
      sum += v * k;
      all += k;
    }
    out.push({ from, to: to - 1, loss: all ? sum / all : NaN });
  }
  return out;
}

/** What a model that knows nothing loses. */
export const uniform = (w: Tokens): number => Math.log(w.vocabulary);

export function positions(view: View): Part {
  const { signal, theme } = view;
  const big = el("b.vt-w-big");
  const said = el("span.vt-w-read");
  const canvas = el("canvas.vt-w-plot", { role: "img" });
  const space = el("div.vt-w-space.vt-w-scatter", {}, canvas);
  const of = pick(view);
  const name = el("span.vt-w-h3");
  const root = el(
    "section.vt-w-part",
    { "aria-label": "loss by position" },
    el("div.vt-w-h", {}, name, big, el("span.vt-space"), of.root),
    el("div.vt-w-legends", {}, said),
    space,
  );
  let wide = 0;
  let high = 0;
  const same = unchanged();
  const width = widthOf(space, () => draw(true), signal);

  function draw(whole: boolean): void {
    wide = width();
    const w = of.shown(view.state.task?.tokens ?? null);
    put(name, "Perplexity");
    if (!w) {
      put(big, "");
      put(said, "No token is known yet.");
      return;
    }
    put(big, number(w.perplexity));
    big.title = `e to the mean loss of a token, ${number(w.loss)}; ${count(w.vocabulary)} would be a guess at random`;
    put(
      said,
      [
        `loss ${number(w.loss)} a token`,
        `${one(w.accuracy)} right`,
        `${count(w.n)} tokens`,
        w.bad ? `${count(w.bad)} not finite, left out` : "",
      ]
        .filter(Boolean)
        .join(" · "),
    );
    if (same(w, wide, theme.token("ink")) && !whole) return;
    const bars = w.position && w.positions;
    set(
      canvas,
      "aria-label",
      bars ? `loss at each of ${count(w.length)} positions; at random ${number(uniform(w))}` : "loss of the hardest tokens",
    );
    const g = wide > LEFT + RIGHT + 20 ? prepare(canvas, wide, HIGH, ratio()) : null;
    if (!g) return;
    g.font = `11px ${theme.token("font") || "sans-serif"}`;
    if (w.position && w.positions) byPosition(g, w, w.position, w.positions);
    else byToken(g, w);
  }

  function axis(g: CanvasRenderingContext2D, most: number): (v: number) => number {
    const y = (v: number): number => HIGH - FOOT - (v / most) * (HIGH - FOOT - TOP);
    g.strokeStyle = theme.token("line");
    g.fillStyle = theme.token("ink-2");
    g.lineWidth = 1;
    g.textBaseline = "middle";
    g.textAlign = "right";
    for (const v of ticks(0, most, 5)) {
      g.beginPath();
      g.moveTo(LEFT, Math.round(y(v)) + 0.5);
      g.lineTo(wide - RIGHT, Math.round(y(v)) + 0.5);
      g.stroke();
      g.fillText(tick(v), LEFT - 6, y(v));
    }
    return y;
  }

  function byPosition(g: CanvasRenderingContext2D, w: Tokens, position: Nd, seen: Nd): void {
    const all = pieces(position, seen, Math.max(BARS, Math.floor((wide - LEFT - RIGHT) / 6)));
    const guess = uniform(w);
    const top = Math.max(guess, ...all.map((one) => (one.loss === one.loss ? one.loss : 0)));
    if (top * 1.05 > high || top < 0.5 * high) high = top * 1.1;
    const y = axis(g, high);
    const step = (wide - LEFT - RIGHT) / all.length;
    g.fillStyle = theme.token("value");
    const gap = step > 4 ? 1 : 0;
    all.forEach(({ loss }, i) => {
      if (loss === loss) g.fillRect(LEFT + i * step + gap / 2, y(loss), step - gap, HIGH - FOOT - y(loss));
    });
    g.strokeStyle = theme.token("ink");
    g.setLineDash([5, 3]);
    g.beginPath();
    g.moveTo(LEFT, Math.round(y(guess)) + 0.5);
    g.lineTo(wide - RIGHT, Math.round(y(guess)) + 0.5);
    g.stroke();
    g.setLineDash([]);
    g.textAlign = "right";
    const text = `at random ${number(guess)}`;
    const size = g.measureText(text).width;
    g.fillStyle = theme.token("bg"); // bars may stand behind it
    g.fillRect(wide - RIGHT - size - 4, y(guess) - 16, size + 4, 14);
    g.fillStyle = theme.token("ink-2");
    g.fillText(text, wide - RIGHT - 2, y(guess) - 8);
    g.textAlign = "center";
    const at = (p: number): number => LEFT + ((p + 0.5) / w.length) * (wide - LEFT - RIGHT);
    for (const p of ticks(0, w.length - 1, 6)) if (Number.isInteger(p)) g.fillText(String(p), at(p), HIGH - FOOT + 10);
    g.fillText("position in the sequence →", (LEFT + wide - RIGHT) / 2, HIGH - 8);
  }

  /** Where there are no positions: the hardest tokens, a bar each. */
  function byToken(g: CanvasRenderingContext2D, w: Tokens): void {
    const top = Math.max(1e-6, ...w.hard.map(([, loss]) => loss));
    const y = axis(g, top * 1.1);
    const step = (wide - LEFT - RIGHT) / Math.max(1, w.hard.length);
    w.hard.forEach(([token, loss], i) => {
      g.fillStyle = theme.token("miss");
      g.fillRect(LEFT + i * step + 2, y(loss), step - 4, HIGH - FOOT - y(loss));
      g.fillStyle = theme.token("ink-2");
      g.textAlign = "center";
      g.fillText(named(w, token).slice(0, 8), LEFT + (i + 0.5) * step, HIGH - FOOT + 10);
    });
    g.textAlign = "center";
    g.fillStyle = theme.token("ink-2");
    g.fillText("the hardest tokens, mean loss", (LEFT + wide - RIGHT) / 2, HIGH - 8);
  }
  return { root, paint: () => draw(false) };
}

/** Blanks between words are shown as they are, but never lost. */
export function context(w: Tokens, place: Place): string {
  const names = place.before.map((token) => named(w, token));
  return names.join(names.every((name) => [...name].length <= 1) ? "" : " ");
}

export function tokens(view: View): Part {
  const places = el("div.vt-w-table.vt-w-places", { role: "table", "aria-label": "hardest places" });
  const hard = el("div.vt-w-table.vt-w-scores", { role: "table", "aria-label": "hardest tokens" });
  const pairs = el("div.vt-w-table.vt-w-scores", { role: "table", "aria-label": "most confused tokens" });
  const heading = (text: string): HTMLElement => el("div.vt-w-h", {}, el("span.vt-w-h3", { text }));
  const root = el(
    "div.vt-w-two",
    {},
    el("div", {}, heading("Hardest places"), places),
    el(
      "div.vt-w-pairs",
      {},
      el("div", {}, heading("Hardest tokens"), hard),
      el("div", {}, heading("Most confused"), pairs),
    ),
  );
  const same = unchanged();
  return {
    root,
    paint() {
      const of = view.state.task?.tokens ?? null;
      const w = (view.of === "validation" ? of?.validation : null) ?? of?.window ?? null;
      if (same(w)) return;
      root.hidden = !w;
      if (!w) return;
      lines(
        places,
        ["what stands before, and the token", "read as", "loss", ...(w.length > 1 ? ["position"] : []), "step"],
        w.places.map((place) => [
          "",
          named(w, place.read),
          number(place.loss),
          ...(w.length > 1 ? [count(place.position)] : []),
          count(place.step),
        ]),
        `minmax(120px, 2.4fr) minmax(48px, 0.7fr) 44px ${w.length > 1 ? "52px " : ""}48px`,
        (line, i) => {
          const place = w.places[i] as Place;
          const text = context(w, place);
          const name = named(w, place.token);
          const cell = line.firstElementChild as HTMLElement;
          cell.classList.add("vt-w-context");
          const before = el("bdi", { dir: "auto", text });
          cell.replaceChildren(el("span", {}, before), text ? " " : "", el("b.vt-w-miss", { text: name }));
          cell.title = `${text} ${name}`;
        },
      );
      lines(
        hard,
        ["token", "mean loss", "seen"],
        w.hard.map(([token, loss, seen]) => [named(w, token), number(loss), count(seen)]),
        "minmax(50px, 1fr) 64px 48px",
      );
      lines(
        pairs,
        ["token", "read as", "times"],
        w.pairs.map(([a, b, n]) => [named(w, a), named(w, b), count(n)]),
        "minmax(50px, 1fr) minmax(50px, 1fr) 44px",
      );
      pairs.title = `of ${count(w.looked)} tokens whose likeliest one was looked for`;
    },
  };
}
