// A loss in few characters, as a terminal shows it.

import type { Real } from "../shared/payload";

/** Three digits that count; signs for what is not finite. */
export function short(x: Real): string {
  if (typeof x === "string") return { nan: "NaN", inf: "∞", "-inf": "−∞" }[x];
  const size = Math.abs(x);
  if (size !== 0 && (size >= 1e5 || size < 1e-4)) return x.toExponential(1).replace("-", "−").replace("e+", "e");
  return String(Number(x.toPrecision(3))).replace("-", "−");
}
