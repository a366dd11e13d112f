// One step on all ranks: a lane each, what it did above, the operations with the others below, and who is waited for.

import type { Lane, Step } from "./types";
import { at, svg, ticks } from "./svg";

const LANE = 46;
const TOP = 22;
const NOTHING = 0.05;
const INSIDE: Record<string, string> = {
  load: "vt-rk-load",
  forward: "vt-rk-forward",
  backward: "vt-rk-backward",
  wait: "vt-rk-wait",
  exchange: "vt-rk-through",
  optimizer: "vt-rk-optimizer",
};
const ms = (value: number): string => value.toFixed(1);
let patterns = 0;

/** Hatching for what waits: each drawing has its own, since a page may hold several. */
function hatch(): { id: string; made: SVGElement } {
  const id = `vt-rk-hatch-${patterns++}`;
  const made = svg(
    "defs",
    {},
    svg(
      "pattern",
      { id, width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
      svg("rect", { width: 6, height: 6, class: "vt-rk-hatch-ground" }),
      svg("path", { d: "M0 0V6", class: "vt-rk-hatch-line" }),
    ),
  );
  return { id, made };
}

export function timeline(step: Step, width: number, chosen: number): SVGElement {
  const narrow = width < 420;
  const left = narrow ? 22 : 64;
  const right = 8;
  const height = TOP + step.lanes.length * LANE + 24;
  const total = Math.max(step.total, 1e-3);
  const x = (v: number): number => left + (v / total) * (width - left - right);
  const root = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", class: "vt-rk-time" });
  root.setAttribute("aria-label", "time line of one step by rank");
  const { id, made } = hatch();
  root.append(made);
  const bar = (look: string, begin: number, end: number, y: number, tall: number, title: string, text = ""): void => {
    const w = Math.max(1, x(end) - x(begin) - 1);
    const rect = svg("rect", { class: look, x: at(x(begin)), y, width: at(w), height: tall, rx: 2 });
    if (look === "vt-rk-wait") rect.setAttribute("fill", `url(#${id})`);
    root.append(svg("g", {}, svg("title", { text: title }), rect));
    const space = look === "vt-rk-wait" ? text.length * 6.6 + 10 : text.length * 6;
    if (!text || w < space) return;
    const middle = x(begin) + w / 2;
    if (look === "vt-rk-wait") {
      const wide = text.length * 6.3 + 8;
      root.append(
        svg("rect", { class: "vt-rk-tag", x: at(middle - wide / 2), y: y + 1.5, width: at(wide), height: 14, rx: 3 }),
      );
    }
    const on = look === "vt-rk-forward" || look === "vt-rk-backward" || look === "vt-rk-exchange";
    root.append(
      svg("text", { class: on ? "vt-rk-on" : "vt-rk-strong", x: at(middle), y: y + tall / 2 + 4, "text-anchor": "middle", text }),
    );
  };
  const place = step.lanes.findIndex((lane) => lane.rank === chosen);
  if (place >= 0)
    root.append(svg("rect", { class: "vt-rk-lane", x: 0, y: TOP + place * LANE - 2, width, height: LANE - 2, rx: 4 }));
  for (const v of ticks(total, narrow ? 3 : 5)) {
    root.append(
      svg("path", { class: "vt-rk-grid", d: `M${at(x(v))} ${TOP - 4}V${height - 20}` }),
      svg("text", { x: at(x(v)), y: height - 6, "text-anchor": "middle", text: v ? String(+v.toPrecision(3)) : "0 ms" }),
    );
  }
  step.lanes.forEach((lane, i) => drawLane(lane, TOP + i * LANE + 2));
  function drawLane(lane: Lane, y: number): void {
    const own = lane.rank === chosen ? " vt-rk-own" : "";
    root.append(
      svg("text", { class: `vt-rk-strong${own}`, x: 4, y: y + 13, text: narrow ? lane.rank : `rank ${lane.rank}` }),
    );
    for (const one of lane.spans) {
      const took = `${ms(one.end - one.begin)} ms`;
      if (one.kind === "exchange") {
        root.append(svg("path", { class: "vt-rk-through", d: `M${at(x(one.begin))} ${y + 8.5}H${at(x(one.end) - 2)}` }));
        continue;
      }
      const waits = one.kind === "wait";
      const who = lane.last >= 0 ? ` for rank ${lane.last}` : "";
      const short = narrow || lane.last < 0 ? ms(one.end - one.begin) : `${ms(one.end - one.begin)} for ${lane.last}`;
      const text = waits ? short : one.kind;
      bar(INSIDE[one.kind] ?? "vt-rk-optimizer", one.begin, one.end, y, 17, waits ? `waits ${took}${who}` : `${one.kind} ${took}`, text);
    }
    let before = 0;
    for (const one of lane.exchanges) {
      const from = Math.max(one.ready, before); // below the one before it there is no space to wait in
      before = one.end;
      const name = one.bucket >= 0 ? `bucket ${one.bucket}` : one.name;
      if (one.begin - from > NOTHING)
        bar("vt-rk-wait", from, one.begin, y + 22, 11, `${name} waits ${ms(one.begin - one.ready)} ms`);
      const what = one.bucket >= 0 ? `${one.name} of ${name}` : one.name;
      bar("vt-rk-exchange", one.begin, one.end, y + 22, 11, `${what}, ${ms(one.end - one.begin)} ms`, one.bucket >= 0 ? String(one.bucket) : "");
    }
  }
  if (step.last >= 0) {
    const meet = x(step.meet);
    const slow = step.lanes.findIndex((lane) => lane.rank === step.last);
    const start = meet > width * 0.45;
    root.append(
      svg("path", { class: "vt-rk-meet", d: `M${at(meet)} ${TOP - 3}V${height - 22}` }),
      svg("text", { class: "vt-rk-strong", x: at(meet + (start ? -2 : 2)), y: TOP - 9, "text-anchor": start ? "end" : "start", text: `all wait until rank ${step.last} arrives` }),
    );
    if (slow >= 0) root.append(svg("circle", { class: "vt-rk-dot", cx: at(meet), cy: TOP + slow * LANE + 10.5, r: 3.5 }));
  }
  return root;
}
