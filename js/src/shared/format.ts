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

/** The best writing of a number in so many characters: ".27", "−1.3", "4e7"; "" where none is honest. */
export function fit(value: number, room: number): string {
  if (!Number.isFinite(value)) return "";
  for (let digits = 4; digits > 0; digits--) {
    for (const text of [num(value, digits), trimmed(value, digits)]) if (text.length <= room) return text;
  }
  const sign = value < 0 ? MINUS : "";
  const size = Math.abs(value);
  if (size < 0.05 && room >= 2 + sign.length) return `${sign}.0`;
  const power = signed(value.toExponential(0).replace("e+", "e"));
  return power.length <= room ? power : "";
}

/** A number below ten with so many decimals, less its leading zero. */
function trimmed(value: number, decimals: number): string {
  const size = Math.abs(value);
  if (size >= 10 || size < 0.5 * 10 ** -decimals) return num(value, decimals);
  return (value < 0 ? MINUS : "") + size.toFixed(decimals).replace(/^0/, "");
}

/** Bytes, in steps of 1024, as the rest of vistorch counts them. */
export function bytes(count: number): string {
  const names = ["B", "kB", "MB", "GB", "TB"];
  let step = 0;
  while (count >= 1024 && step < names.length - 1) {
    count /= 1024;
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
  return `${share < 10 && share % 1 ? share.toFixed(1) : Math.round(share)} %`;
}

/** A shape as a person says it. */
export function shapeText(shape: readonly number[]): string {
  return shape.length ? shape.join(" × ") : "scalar";
}
