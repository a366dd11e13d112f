// How numbers are written: a real minus sign, as many digits as are read at a glance, and no digit that is not known.

const MINUS = "−";

const signed = (text: string): string => text.replace(/-/g, MINUS);

/** Four significant digits; powers of ten outside 0.001 ... 100,000. */
export function num(value: number, digits = 4): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "+inf" : `${MINUS}inf`;
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (Number.isInteger(value) && size < 10 ** Math.max(digits, 4)) return signed(String(value));
  if (size < 1e-3 || size >= 1e5) return signed(value.toExponential(Math.max(0, digits - 2)).replace("e+", "e"));
  if (size >= 1000) return signed(String(Math.round(value)));
  return signed(value.toPrecision(digits));
}

/** A whole number in full up to 15 digits. */
export function whole(value: number): string {
  return Number.isSafeInteger(value) && Math.abs(value) < 1e15 ? signed(String(value)) : num(value, 6);
}

/** How many decimals the cells of a picture can have when no value exceeds `most`; -1 where plain digits do not fit. */
export function decimalsFor(most: number, space: number): number {
  const digits = most < 1 ? 0 : Math.floor(Math.log10(most)) + 1;
  // A sign and a point beside the digits.
  // One decimal even where the largest has no room for it: most values are smaller, and `fit` drops it.
  return digits + 1 > space ? -1 : Math.max(digits < 3 ? 1 : 0, Math.min(3, space - digits - 2));
}

/** A number in so many characters: ".27", "−1.30", "4e7", "0" for nothing else; "" where none is honest. */
export function fit(value: number, space: number, decimals: number): string {
  if (!Number.isFinite(value)) return "";
  if (value === 0) return "0";
  for (let d = decimals; d >= 0; d--) {
    const text = plain(value, d);
    if (text.length <= space) return text;
  }
  const power = signed(value.toExponential(0).replace("e+", "e"));
  return power.length <= space ? power : "";
}

const plain = (value: number, decimals: number): string => {
  const text = Math.abs(value).toFixed(decimals);
  const sign = value < 0 && Number(text) ? MINUS : "";
  return sign + (decimals && text.startsWith("0") ? text.slice(1) : text);
};

/** Bytes, in steps of 1000, as the rest of vistorch counts them. */
export function bytes(count: number): string {
  const names = ["B", "kB", "MB", "GB", "TB"];
  let step = 0;
  while (count >= 1000 && step < names.length - 1) {
    count /= 1000;
    step += 1;
  }
  return `${step && count < 10 ? count.toFixed(1) : Math.round(count * (step > 1 ? 10 : 1)) / (step > 1 ? 10 : 1)} ${names[step]}`;
}

/** A count with its thousands apart. */
export function count(value: number): string {
  return String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** A share of a whole; never 0 % or 100 % unless it is. */
export function percent(part: number, all: number): string {
  if (!all) return "0 %";
  const share = (100 * part) / all;
  if (share > 0 && share < 0.1) return "< 0.1 %";
  if (share < 100 && share > 99.9) return "> 99.9 %";
  // Nearly all is not all.
  return `${(share < 10 || share >= 99.5) && share % 1 ? share.toFixed(1) : Math.round(share)} %`;
}

/** A shape as a person says it. */
export function shapeText(shape: readonly number[]): string {
  return shape.length ? shape.join(" × ") : "scalar";
}
