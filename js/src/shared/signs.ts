// Signs that say a state beside its word: origin, healed, NaN, peak and the others.

const SVG = "http://www.w3.org/2000/svg";
const star = Array.from({ length: 16 }, (_, i) => {
  const [r, turn] = [i % 2 ? 3.6 : 6.6, (i * Math.PI) / 8];
  return `${(7 + r * Math.sin(turn)).toFixed(2)} ${(7 - r * Math.cos(turn)).toFixed(2)}`;
}).join("L");

/** How each sign is drawn: a path, and whether it is a line. */
const SIGNS = {
  origin: [`M${star}z`, false],
  propagated: ["M12 7a5 5 0 1 1-10 0a5 5 0 1 1 10 0z", true],
  healed: ["M13 7a6 6 0 1 1-12 0a6 6 0 1 1 12 0zM7 4.2v5.6M4.2 7h5.6", true],
  clean: ["M9.4 7a2.4 2.4 0 1 1-4.8 0a2.4 2.4 0 1 1 4.8 0z", false],
  fine: ["M2 7.4l3.4 3.6 6.6-8", true],
  failed: ["M2.5 2.5l9 9m0-9l-9 9", true],
  differs: ["M2.5 5h9M2.5 9h9M9.6 2l-5 10", true],
  own: ["M7 1l6 11.5h-12z", false],
  inherited: ["M7 2l5 9.5h-10z", true],
  only: ["M7 1.5v11M1.5 7h11", true],
  nan: ["M3 3l8 8m0-8l-8 8", true],
  posinf: ["M7 2l5.5 10h-11z", false],
  neginf: ["M7 12l5.5-10h-11z", false],
  beyond: ["M7 1.5l5.5 5.5-5.5 5.5-5.5-5.5z", false],
  peak: ["M7 1.5l5.5 5.5-5.5 5.5-5.5-5.5z", false],
} as const;
export type Sign = keyof typeof SIGNS;

/** A small drawing in the colour of its class; the word beside it says the same. */
export function sign(name: Sign, size = 14): SVGSVGElement {
  const svg = document.createElementNS(SVG, "svg");
  const path = document.createElementNS(SVG, "path");
  const [way, line] = SIGNS[name];
  for (const [key, value] of Object.entries({
    class: `vt-rp-sign vt-rp-${name}`,
    width: size,
    height: size,
    viewBox: "0 0 14 14",
    "aria-hidden": "true",
  }))
    svg.setAttribute(key, String(value));
  path.setAttribute("d", way);
  path.setAttribute(line ? "stroke" : "fill", "currentColor");
  if (line) {
    path.setAttribute("fill", "none");
    path.setAttribute("stroke-width", "2");
  }
  svg.append(path);
  return svg;
}
