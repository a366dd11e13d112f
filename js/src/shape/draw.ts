// The drawing of a shape error: the parts that the kernel placed, as SVG in the colours of the page.

import type { Part, State } from "./types";

const SVG = "http://www.w3.org/2000/svg";

function make(tag: string, attributes: Record<string, string | number>, text = ""): SVGElement {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  if (text) made.textContent = text;
  return made;
}

export function part([kind, x, y, ...rest]: Part): SVGElement {
  if (kind === "box") {
    const [width, height, role] = rest as [number, number, string];
    return make("rect", { x, y, width, height, rx: 3, class: `vt-sh-${role}` });
  }
  if (kind === "line") {
    const [right, bottom, role] = rest as [number, number, string];
    return make("path", { d: `M${x} ${y}L${right} ${bottom}`, class: `vt-sh-line-${role}` });
  }
  const [text, role, anchor] = rest as [string, string, string];
  return make("text", { x, y, "text-anchor": anchor, class: `vt-sh-text vt-sh-text-${role}` }, text);
}

export function draw(state: Pick<State, "drawing" | "operands" | "op" | "sentence">): SVGElement {
  const { width, height, parts } = state.drawing;
  const said = state.operands.map((one) => `${one.name}: ${one.shape}${one.note ? ` ${one.note}` : ""}`);
  const label = `${said.join(`; ${state.op} `)}. ${state.sentence}`;
  const svg = make("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
  svg.style.minWidth = `${width}px`; // a narrow host scrolls it: smaller, its numbers could not be read
  svg.append(...parts.map(part));
  return svg;
}
