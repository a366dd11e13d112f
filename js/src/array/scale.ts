// Where a value stands on a colour scale, and what value stands at a place. Places run from -1 (or 0) to +1.

import { NAN, NEGINF, type Part, POSINF, STEPS } from "../shared/colour";
import { real } from "../shared/payload";
import type { Scale } from "./types";

/** The part of a map that a scale uses: values of one sign never wear the colours of the other. */
export const partFor = (scale: Scale): Part => (scale.centre ? true : real(scale.hi) <= 0 ? "negative" : false);

/** The place of a finite value: -1 ... +1 for a scale around zero, 0 ... 1 for a sequential one. */
export function placeOf(scale: Scale): (value: number) => number {
  const [lo, hi, linear] = [real(scale.lo), real(scale.hi), real(scale.linear)];
  if (scale.centre) {
    if (!(hi > 0)) return () => 0;
    if (scale.curve === "linear") return (v) => Math.max(-1, Math.min(1, v / hi));
    const whole = Math.log1p(hi / linear);
    return (v) => Math.max(-1, Math.min(1, (Math.sign(v) * Math.log1p(Math.abs(v) / linear)) / whole));
  }
  if (!(hi > lo)) return (v) => (v > lo ? 1 : 0);
  if (scale.curve === "linear") return (v) => Math.max(0, Math.min(1, (v - lo) / (hi - lo)));
  const whole = Math.log(hi / lo);
  return (v) => (v <= lo ? 0 : Math.min(1, Math.log(v / lo) / whole));
}

/** The value at a place of the scale. */
export function valueAt(scale: Scale, place: number): number {
  const [lo, hi, linear] = [real(scale.lo), real(scale.hi), real(scale.linear)];
  if (scale.centre) {
    if (scale.curve === "linear") return place * hi;
    return Math.sign(place) * linear * Math.expm1(Math.abs(place) * Math.log1p(hi / linear));
  }
  return scale.curve === "linear" ? lo + place * (hi - lo) : lo * (hi / lo) ** place;
}

/** The share of the legend's width that lies left of a place. */
export const shareOf = (scale: Scale, place: number): number => (scale.centre ? (place + 1) / 2 : place);

/** The colour number (0 ... 252, or one of the three for what is not finite) of any value. */
export function shader(scale: Scale): (value: number) => number {
  const place = placeOf(scale);
  const top = STEPS - 1;
  return (v) => {
    if (v !== v) return NAN;
    if (v === Infinity) return POSINF;
    if (v === -Infinity) return NEGINF;
    return Math.round(shareOf(scale, place(v)) * top);
  };
}
