// Elements of drawings. Text reaches them as text only.

export type Drawn = Record<string, string | number | null | undefined | false>;

export function svg<K extends keyof SVGElementTagNameMap>(
  what: K,
  attributes: Drawn = {},
  ...children: (Node | null)[]
): SVGElementTagNameMap[K] {
  const made = document.createElementNS("http://www.w3.org/2000/svg", what);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "text") made.textContent = String(value);
    else made.setAttribute(name, String(value));
  }
  made.append(...children.filter((child): child is Node => child !== null));
  return made;
}

/** A path of a layout, `short` pixels before its end: straight where x or y stays, else a curve upright at both ends. */
export function way(points: readonly number[][], short = 0): string {
  let [x, y] = points[0] as [number, number];
  let said = `M${x} ${y}`;
  for (let i = 1; i < points.length; i++) {
    const [nx, ny] = points[i] as [number, number];
    const end = i === points.length - 1 && short ? (ny > y ? ny - short : ny + short) : ny;
    const middle = (y + end) / 2;
    said += nx === x ? `V${end}` : ny === y ? `H${nx}` : `C${x} ${middle} ${nx} ${middle} ${nx} ${end}`;
    [x, y] = [nx, ny];
  }
  return said;
}

export function head(x: number, y: number, wide: number, up: boolean): string {
  const half = 4 + wide / 2;
  return `M${x - half} ${y + (up ? 7 : -7)}h${2 * half}L${x} ${y}z`;
}

/** The arrow's head of an edge that ends at the left of a pill. */
export const headAcross = (x: number, y: number, wide: number): string =>
  `M${x - 7} ${y - 3 - wide / 2}v${6 + wide}L${x} ${y}z`;

/** The width of an edge: on a log scale of norms where one is known. */
export function widthOf(norm: number | null, scale: readonly [number, number] | null): number {
  if (norm === null || !scale) return 1.25;
  if (Number.isNaN(norm) || norm === 0) return 1.5;
  if (!Number.isFinite(norm)) return 6;
  const place = (Math.log10(norm) - scale[0]) / (scale[1] - scale[0]);
  return 1.5 + 4.5 * Math.min(1, Math.max(0, place));
}

/** The ends of the scale that some norms need: logarithms, at least a decade apart and at most six. */
export function scaleOf(norms: Iterable<number>): [number, number] | null {
  let [low, high] = [Infinity, -Infinity];
  for (const norm of norms) {
    if (!(norm > 0) || !Number.isFinite(norm)) continue;
    low = Math.min(low, Math.log10(norm));
    high = Math.max(high, Math.log10(norm));
  }
  if (high < low) return null;
  low = Math.max(low, high - 6);
  return high - low >= 1 ? [low, high] : [(low + high) / 2 - 0.5, (low + high) / 2 + 0.5];
}
