// Colour maps: eleven stops from the style sheet, straight lines between them in OKLab, so that equal steps of the
// scale are equal steps to the eye. A palette is 256 packed pixels: 0 ... 252 along the map, then -inf, +inf, NaN.

export type Rgb = readonly [number, number, number];

export const STEPS = 253;
export const NEGINF = 253;
export const POSINF = 254;
export const NAN = 255;

const linear = (byte: number): number => {
  const c = byte / 255;
  return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
};

const gamma = (light: number): number => {
  const c = light <= 0.0031308 ? 12.92 * light : 1.055 * light ** (1 / 2.4) - 0.055;
  return Math.round(255 * Math.min(1, Math.max(0, c)));
};

export function parseHex(text: string): Rgb {
  const digits = text.trim().replace("#", "");
  const wide = digits.length === 3 ? digits.replace(/./g, "$&$&") : digits;
  const number = Number.parseInt(wide, 16) || 0;
  return [(number >> 16) & 255, (number >> 8) & 255, number & 255];
}

export function toLab([red, green, blue]: Rgb): Rgb {
  const [r, g, b] = [linear(red), linear(green), linear(blue)];
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

export function fromLab([L, a, b]: Rgb): Rgb {
  const l = (L + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (L - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (L - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    gamma(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
    gamma(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
    gamma(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s),
  ];
}

/** `count` colours from place `from` to place `to` of the map; places run from -1 to +1. */
export function ramp(stops: string, count: number, from = -1, to = 1): Rgb[] {
  const labs = stops
    .trim()
    .split(/\s+/)
    .map((stop) => toLab(parseHex(stop)));
  const last = labs.length - 1;
  return Array.from({ length: count }, (_, i) => {
    const place = from + ((to - from) * i) / Math.max(1, count - 1);
    const p = ((place + 1) / 2) * last;
    const k = Math.max(0, Math.min(last - 1, Math.floor(p)));
    const [one, two] = [labs[k] as Rgb, labs[Math.min(last, k + 1)] as Rgb];
    const mix = (j: 0 | 1 | 2): number => one[j] + (two[j] - one[j]) * (p - k);
    return fromLab([mix(0), mix(1), mix(2)]);
  });
}

/** One pixel as a canvas holds it in memory (every machine that runs a browser is little endian). */
export const pixel = ([r, g, b]: Rgb, alpha = 255): number => ((alpha << 24) | (b << 16) | (g << 8) | r) >>> 0;

export const unpixel = (packed: number): Rgb => [packed & 255, (packed >> 8) & 255, (packed >> 16) & 255];

export const css = ([r, g, b]: Rgb): string => `rgb(${r},${g},${b})`;

/** Which part of a map a scale uses: all of it around zero, else the half of the sign that its values have. */
export type Part = boolean | "negative";

/** The ends of a part, as places of the map. */
export const partOf = (part: Part): [number, number] => (part === "negative" ? [-1, 0] : [part ? -1 : 0, 1]);

/** The palette of a part of a map. */
export function palette(stops: string, part: Part, bad: string): Uint32Array {
  const colours = ramp(stops, STEPS, ...partOf(part)).map((c) => pixel(c));
  const wrong = pixel(parseHex(bad));
  return Uint32Array.from([...colours, wrong, wrong, wrong]);
}

/** Black or white, whichever is read better on a colour. */
export function inkOn([r, g, b]: Rgb): string {
  return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b) > 0.19 ? "#10131a" : "#ffffff";
}
