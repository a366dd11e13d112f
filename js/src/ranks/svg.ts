// SVG elements, and a few shapes of the ranks' drawings.

type Looks = Record<string, string | number>;

const SVG = "http://www.w3.org/2000/svg";

/** An SVG element; `text` is its text, and so never markup. */
export function svg(name: string, looks: Looks = {}, ...children: (Node | null)[]): SVGElement {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(looks)) {
    if (key === "text") made.textContent = String(value);
    else made.setAttribute(key, String(value));
  }
  for (const child of children) if (child) made.append(child);
  return made;
}

export const at = (value: number): string => value.toFixed(1);

/** The steps of an axis: about `most` round numbers up to `end`. */
export function ticks(end: number, most: number): number[] {
  if (!(end > 0)) return [0];
  const rough = end / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= rough) ?? 10 * power;
  const found: number[] = [];
  for (let i = 0; i * step <= end * 1.0001; i++) found.push(i * step);
  return found;
}
