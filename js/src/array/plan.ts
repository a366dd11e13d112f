// Where the parts of a card go: numbers beside the picture or below it, the lens, and how wide each may be.

import type { Pose } from "./pose";

export interface Space {
  /** Inside of the card, in pixels. */
  width: number;
  narrow: boolean;
  /** The wish of Python for the widest side. */
  size: number;
  /** What the labels take at the left. */
  left: number;
  /** Pictures that share one cursor; 1 for a single one. */
  linked: number;
  lens: boolean;
  pooled: boolean;
}

export interface Plan {
  /** Names the grid of the style sheet. */
  name: "plain" | "row" | "tiles" | "tiles wide" | "big" | "stack";
  /** Width of the lens; 0 without one. */
  lens: number;
}

const GAP = 16;

/** Give the pose its box, and say what stands where. */
export function planned(pose: Pose, space: Space): Plan {
  const { width, size, left } = space;
  const tallest = size * 0.66;
  const fit = (wide: number, high = tallest): void => pose.setBox(wide - left, high);
  if (space.linked > 1) {
    const columns = space.narrow ? 1 : space.linked;
    fit((width - 12 * (columns - 1)) / columns, size * 0.5);
    return { name: "plain", lens: 0 };
  }
  fit(width);
  const beside = (name: "tiles" | "tiles wide", lens: number): Plan => {
    fit(width - GAP - lens);
    // What the picture leaves is the lens's: no hole between them.
    const rest = width - GAP - Math.ceil(pose.box.width + left + 1);
    return { name, lens: name === "tiles wide" ? Math.max(lens, rest) : lens };
  };
  if (!space.lens) return { name: pose.shape.length < 2 && pose.sx >= 28 ? "row" : "plain", lens: 0 };
  const pieces = pose.tiled || space.pooled;
  if (space.narrow) return pieces && !pose.image ? { name: "stack", lens: width } : { name: "plain", lens: 0 };
  if (pose.tiled) return pose.image ? { name: "plain", lens: 0 } : beside("tiles", 172);
  const inner = width - GAP;
  if (pose.box.width + left < 0.58 * inner && pose.box.height > 190) {
    fit(Math.min(0.62 * size, 0.5 * inner));
    return { name: "big", lens: pose.image ? 0 : inner - Math.ceil(pose.box.width + left + 1) };
  }
  return space.pooled && !pose.image ? beside("tiles wide", 260) : { name: "plain", lens: 0 };
}
