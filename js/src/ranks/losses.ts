// Losses by rank: the mean, the spread as a band and below as its width, each rank as a thin line with its number.

import type { State } from "./types";
import { at, svg, ticks } from "./svg";

const LEFT = 46;
const RIGHT = 34;
const TOP = 8;
const BOTTOM = 62;

export function losses(state: State, width: number, height: number, chosen: number, log: boolean): SVGElement {
  const steps = Array.from(state.at.data, Number);
  const n = steps.length;
  const values = state.losses.data;
  const [mean, low, high] = [state.mean, state.low, state.high].map((one) => Array.from(one.data, Number)) as [
    number[],
    number[],
    number[],
  ];
  const root = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", class: "vt-rk-losses" });
  root.setAttribute("aria-label", "loss by rank: mean and spread");
  if (!n) {
    root.append(svg("text", { x: LEFT, y: height / 2, text: "no step yet" }));
    return root;
  }
  const turn = (v: number): number => (log ? Math.log10(Math.max(v, 1e-12)) : v);
  const tops = Array.from(high, turn).filter(Number.isFinite);
  const lows = Array.from(low, turn).filter(Number.isFinite);
  let [floor, ceiling] = [Math.min(...lows), Math.max(...tops)];
  if (!log && floor > 0) floor = 0;
  if (!(ceiling > floor)) ceiling = floor + 1;
  const last = Math.max(steps[n - 1] ?? 1, 1);
  const x = (i: number): number => LEFT + ((steps[i] ?? 0) / last) * (width - LEFT - RIGHT);
  const y = (v: number): number => TOP + ((ceiling - turn(v)) / (ceiling - floor)) * (height - TOP - BOTTOM);
  const line = (of: (i: number) => number): string => {
    let path = "";
    let pen = "M";
    for (let i = 0; i < n; i++) {
      const v = of(i);
      if (!Number.isFinite(v)) {
        pen = "M";
        continue;
      }
      path += `${pen}${at(x(i))} ${at(y(v))}`;
      pen = "L";
    }
    return path;
  };
  const marks = log
    ? [floor, (floor + ceiling) / 2, ceiling].map((v) => 10 ** v)
    : ticks(ceiling - floor, 5).map((v) => floor + v);
  for (const v of marks) {
    root.append(
      svg("path", { d: `M${LEFT} ${at(y(v))}H${width - RIGHT}`, class: "vt-rk-grid" }),
      svg("text", { x: LEFT - 6, y: at(y(v) + 4), "text-anchor": "end", text: String(+v.toPrecision(3)) }),
    );
  }
  const back = Array.from({ length: n }, (_, i) => n - 1 - i).filter((i) => Number.isFinite(low[i]));
  const band = `${line((i) => high[i] ?? NaN)}L${back.map((i) => `${at(x(i))} ${at(y(low[i] ?? 0))}`).join("L")}Z`;
  root.append(svg("path", { d: band, class: "vt-rk-band" }));
  const ranks = state.rows.length;
  const of = (rank: number) => (i: number) => Number(values[rank * n + i] ?? NaN);
  for (let rank = 0; rank < ranks; rank++)
    if (rank !== chosen) root.append(svg("path", { d: line(of(rank)), class: "vt-rk-each" }));
  root.append(svg("path", { d: line((i) => mean[i] ?? NaN), class: "vt-rk-mean" }));
  if (chosen >= 0 && chosen < ranks) root.append(svg("path", { d: line(of(chosen)), class: "vt-rk-chosen" }));
  const ends = Array.from({ length: Math.min(ranks, 8) }, (_, rank) => ({ rank, v: y(of(rank)(n - 1)) }))
    .filter((one) => Number.isFinite(one.v))
    .sort((a, b) => a.v - b.v);
  const middle = ends.reduce((sum, one) => sum + one.v, 0) / Math.max(1, ends.length);
  ends.forEach((one, i) => {
    const place = middle + (i - (ends.length - 1) / 2) * 12;
    const own = one.rank === chosen ? "vt-rk-own" : "";
    root.append(
      svg("path", { d: `M${at(x(n - 1) + 1)} ${at(one.v)}L${at(x(n - 1) + 8)} ${at(place)}`, class: `vt-rk-lead ${own}` }),
      svg("text", { x: at(x(n - 1) + 11), y: at(place + 4), class: own, text: one.rank }),
    );
  });
  const spread = Array.from({ length: n }, (_, i) => (high[i] ?? NaN) - (low[i] ?? NaN));
  const most = Math.max(...spread.filter(Number.isFinite), 1e-12);
  const base = height - 24;
  const points = spread.map((v, i) => (Number.isFinite(v) ? `${at(x(i))} ${at(base - (v / most) * 28)}` : "")).filter(Boolean);
  root.append(
    svg("path", { d: `M${at(x(0))} ${base}L${points.join("L")}V${base}Z`, class: "vt-rk-spread" }),
    svg("path", { d: `M${LEFT} ${base}H${width - RIGHT}`, class: "vt-rk-base" }),
    svg("text", { x: LEFT - 6, y: base - 10, "text-anchor": "end", text: "spread" }),
    svg("text", { x: at(x(n - 1) + 11), y: base - 4, text: +(spread[n - 1] ?? 0).toPrecision(2) }),
    svg("text", { x: LEFT, y: height - 6, text: "step 0" }),
    svg("text", { x: width - RIGHT, y: height - 6, "text-anchor": "end", text: steps[n - 1] ?? 0 }),
  );
  return root;
}
