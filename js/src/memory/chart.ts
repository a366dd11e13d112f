// The curve of what is kept, tick by tick: passes back shaded, the peak marked, a cursor that says what is alive.

import { el, on, onWidth } from "../shared/dom";
import { size, stairs } from "./ticks";
import type { State } from "./types";

const SVG = "http://www.w3.org/2000/svg";
const HIGH = 132;

export interface Chart {
  root: HTMLElement;
  /** Shade the life of a row. */
  life(from: number, to: number): void;
}

function shape(name: string, attributes: Record<string, string | number>): SVGElement {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  return made;
}

export function chart(state: State, moved: (tick: number) => void, signal: AbortSignal): Chart {
  const ticks = state.bytes.data.length;
  const most = state.peak.bytes;
  const svg = shape("svg", { class: "vt-me-svg", height: HIGH, "aria-hidden": "true" }) as SVGSVGElement;
  const status = el("span.vt-me-status", { role: "status" });
  const curve = shape("path", { class: "vt-me-curve" });
  const passes = state.backward.map(() => shape("rect", { class: "vt-me-back", y: 0, height: HIGH }));
  const life = shape("rect", { class: "vt-me-life", y: 0, height: HIGH, width: 0 });
  const others = Object.entries(state.devices).map(
    ([name], i) => [name, shape("path", { class: `vt-me-device vt-me-device${i % 3}` })] as const,
  );
  const peak = shape("path", { class: "vt-me-peak" });
  const cursor = shape("path", { class: "vt-me-cursor" });
  svg.append(...passes, life, curve, ...others.map(([, path]) => path), peak, cursor);
  let wide = 0;
  let at = state.peak.tick;
  let span: [number, number] = [0, 0];
  const x = (tick: number): number => (tick * wide) / Math.max(1, ticks);

  function place(): void {
    if (!wide) return;
    const middle = x(at + 0.5).toFixed(1);
    cursor.setAttribute("d", `M${middle} 0V${HIGH}`);
    life.setAttribute("x", x(span[0]).toFixed(1));
    life.setAttribute("width", Math.max(0, x(span[1]) - x(span[0])).toFixed(1));
  }

  function lay(width: number): void {
    wide = width;
    svg.setAttribute("width", String(wide));
    svg.setAttribute("viewBox", `0 0 ${wide} ${HIGH}`);
    const space = HIGH - 12;
    const shifted = `translate(0 ${HIGH - space})`;
    curve.setAttribute("d", stairs(state.bytes.data, wide, space, most));
    curve.setAttribute("transform", shifted);
    for (const [name, path] of others) {
      path.setAttribute("d", stairs(state.devices[name]?.data ?? [], wide, space, most));
      path.setAttribute("transform", shifted);
    }
    state.backward.forEach(([from, to], i) => {
      passes[i]?.setAttribute("x", x(from).toFixed(1));
      passes[i]?.setAttribute("width", Math.max(1, x(to + 1) - x(from)).toFixed(1));
    });
    const top = x(state.peak.tick + 0.5);
    peak.setAttribute("d", `M${top.toFixed(1)} 1l5 5-5 5-5-5z`);
    place();
  }

  function go(tick: number): void {
    at = Math.max(0, Math.min(ticks - 1, tick));
    const here = state.bytes.data[at] as number;
    const pass = state.backward.findIndex(([from, to]) => from <= at && at <= to);
    const which = state.backward.length > 1 ? ` ${pass + 1}` : "";
    const nodes = state.alive.data[at] ?? 0;
    const phase = pass >= 0 ? `backward${which}` : "forward";
    const top = at === state.peak.tick && most > 0 ? " · the peak" : "";
    const each = others.map(([name]) => `${name} ${size(state.devices[name]?.data[at] ?? 0)}`).join(", ");
    status.textContent = `tick ${at} of ${ticks - 1}, ${phase}: ${size(here)} kept by ${nodes} node${
      nodes === 1 ? "" : "s"
    }${each ? ` (${each})` : ""}${top}`;
    field.value = String(at);
    field.setAttribute("aria-valuetext", status.textContent);
    place();
    moved(at);
  }

  // A slider above the curve: keys, touch and screen readers know what to do with one.
  const field = el("input.vt-me-slider", { type: "range", min: 0, max: Math.max(0, ticks - 1), "aria-label": "tick" });
  on(field, "input", () => go(Number(field.value)), signal);
  on(
    field,
    "keydown",
    (e) => {
      if (e.key !== "p") return;
      e.preventDefault();
      e.stopPropagation();
      go(state.peak.tick);
    },
    signal,
  );
  const view = el("div.vt-me-view", {}, field);
  view.prepend(svg);
  const point = (e: PointerEvent): void => {
    const box = view.getBoundingClientRect();
    go(Math.floor(((e.clientX - box.left) / Math.max(1, box.width)) * ticks));
  };
  on(view, "pointermove", point, signal);
  onWidth(view, lay, signal);
  const root = el(
    "div.vt-me-chart",
    {},
    el(
      "div.vt-me-top",
      {},
      el("span", { text: size(most) }),
      el("span.vt-space"),
      status,
    ),
    view,
    el(
      "div.vt-me-axis",
      {},
      el("span", { text: "0 B" }),
      ...(others.length ? others.map(([name], i) => el(`span.vt-me-name${i % 3}`, { text: name })) : []),
      el("span.vt-space"),
      el("span", { text: "each tick is one op forward or one node backward (shaded) →" }),
    ),
  );
  go(at);
  return {
    root,
    life(from, to) {
      span = [from, to];
      place();
    },
  };
}
