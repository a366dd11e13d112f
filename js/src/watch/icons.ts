// Small drawings in the colour of the text around them; a word beside each says the same.

const SVG = "http://www.w3.org/2000/svg";
const PATHS = {
  pause: "M2 1h3v10H2zM7 1h3v10H7z",
  resume: "M2 1l9 5-9 5z",
  step: "M1 1l6 5-6 5zM9 1h2v10H9z",
  stop: "M2 2h8v8H2z",
  rewind: "M6 1L1 6l5 5zM11 1L6 6l5 5z",
  stepper: "M1 2h4v3H1zM7 7h4v3H7zM2.5 5h1v3H7v1H2.5z",
  waiting: "M6 1a5 5 0 1 0 5 5",
  running: "M2 1l9 5-9 5z",
  paused: "M2 1h3v10H2zM7 1h3v10H7z",
  finished: "M1 6.5L4.5 10 11 2.5",
  stopped: "M2 2h8v8H2z",
  interrupted: "M6 1.2v6M6 9.6v1.6",
  error: "M2 2l8 8M10 2l-8 8",
  ended: "M2 2l8 8M10 2l-8 8",
  alarm: "M6 .2l1.4 2.8 3-.8-.8 3L12 6l-2.4 1.4.8 3-3-.8L6 11.8 4.6 9l-3 .8.8-3L0 6l2.4-1-.8-3 3 .8z",
} as const;
const LINES: readonly string[] = ["waiting", "finished", "interrupted", "error", "ended"];

export type Icon = keyof typeof PATHS;

export function icon(name: Icon): SVGSVGElement {
  const svg = document.createElementNS(SVG, "svg");
  const path = document.createElementNS(SVG, "path");
  for (const [key, value] of Object.entries({ width: 12, height: 12, viewBox: "0 0 12 12", "aria-hidden": "true" }))
    svg.setAttribute(key, String(value));
  const line = LINES.includes(name);
  for (const [key, value] of Object.entries({
    d: PATHS[name],
    fill: line ? "none" : "currentColor",
    stroke: line ? "currentColor" : "none",
    "stroke-width": 2,
    "fill-rule": "evenodd",
  }))
    path.setAttribute(key, String(value));
  svg.append(path);
  return svg;
}
