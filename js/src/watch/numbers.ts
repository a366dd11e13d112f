// How a run's numbers are written; "–" is what is not known.

import { num } from "../shared/format";
import { real } from "../shared/payload";

export const NONE = "–";

/** Three digits below ten. */
export function loss(value: unknown): string {
  const v = real(value);
  if (value === null || value === undefined) return NONE;
  if (!Number.isFinite(v)) return num(v);
  const size = Math.abs(v);
  if ((size && size < 0.001) || size >= 1e5) return power(v);
  return v.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3).replace("-", "−");
}

/** A loss that can be drawn; null where there is none, or none that is finite. */
export function finite(value: unknown): number | null {
  const v = real(value);
  return Number.isFinite(v) ? v : null;
}

/** Two digits and a power of ten: 6.1e-4. */
export function power(value: number, digits = 2): string {
  const [mantissa, exponent] = value.toExponential(digits - 1).split("e");
  return `${Number(mantissa)}e${Number(exponent)}`.replace(/^-/, "−");
}

/** A norm or a ratio: 0.44, 2.8, 7e-4. */
export function short(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? NONE : num(value);
  if (value === 0) return "0";
  const size = Math.abs(value);
  return size >= 0.01 && size < 1000 ? String(Number(value.toPrecision(2))) : power(value);
}

/** A measure in three digits, "–" where it is not known. */
export function number(value: number | null): string {
  if (value === null || !Number.isFinite(value)) return NONE;
  const size = Math.abs(value);
  if (size && (size < 0.001 || size >= 1e5)) return power(value);
  return String(Number(value.toPrecision(3))).replace("-", "−");
}

/** A learning rate as people write it: 0.1, 3e-4. */
export function rate(value: unknown): string {
  const v = real(value);
  if (!Number.isFinite(v)) return NONE;
  if (v === 0 || (Math.abs(v) >= 0.01 && Math.abs(v) < 10_000)) return String(Number(v.toPrecision(4)));
  return power(v, 4);
}

/** A tick of an axis: three digits. */
export function tick(value: number): string {
  const size = Math.abs(value);
  return size && (size < 0.001 || size >= 1e5) ? power(value, 3) : String(Number(value.toPrecision(3)));
}

/** A name where there is little room: both of its ends tell more than its beginning alone. */
export const brief = (name: string): string => (name.length > 12 ? `${name.slice(0, 4)}…${name.slice(-5)}` : name);

/** A share in per cent with so many digits; never none or all of it unless it is. */
function portion(share: number, digits: number): string {
  const [text, least] = [(100 * share).toFixed(digits), 10 ** -digits];
  if (share > 0 && !Number(text)) return `< ${least} %`;
  if (share < 1 && Number(text) === 100) return `> ${(100 - least).toFixed(digits)} %`;
  return `${text} %`;
}

export const one = (share: number | null): string => (share === null ? NONE : portion(share, 1));

export const whole = (share: number | null): string => (share === null ? NONE : portion(share, 0));

/** 1st, 2nd, 3rd, 4th, 11th, 21st. */
export function ordinal(n: number): string {
  const last = n % 100 >= 11 && n % 100 <= 13 ? 0 : n % 10;
  return `${n}${["th", "st", "nd", "rd"][last] ?? "th"}`;
}

export function clock(seconds: number): string {
  const s = Math.max(0, Math.round(seconds));
  const two = (n: number): string => String(n).padStart(2, "0");
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${two(s % 60)} s`;
  return `${Math.floor(s / 3600)} h ${two(Math.floor(s / 60) % 60)} min`;
}

export function speed(value: number | null): string {
  if (value === null) return NONE;
  return value >= 10 ? String(Math.round(value)) : String(Number(value.toPrecision(2)));
}

/** The next round number at or above a positive one: 1, 1.5, 2, 3, 4, 5, 6, 8 times a power of ten. */
export function roundUp(value: number): number {
  if (!(value > 0) || !Number.isFinite(value)) return 1;
  const tens = 10 ** Math.floor(Math.log10(value));
  return ([1, 1.5, 2, 3, 4, 5, 6, 8, 10].find((k) => k * tens >= value * (1 - 1e-9)) ?? 10) * tens;
}

/** Ticks at round places from lo to hi, about so many. */
export function ticks(lo: number, hi: number, about: number): number[] {
  const rough = (hi - lo) / Math.max(1, about);
  const tens = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 2.5, 5].find((k) => k * tens >= rough * 0.999) ?? 10) * tens;
  const out: number[] = [];
  for (let k = Math.ceil(lo / step - 1e-9); k * step <= hi + step * 1e-9; k++)
    out.push(Number((k * step).toPrecision(12)));
  return out;
}
