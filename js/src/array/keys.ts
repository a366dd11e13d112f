// Keys and what they do. The list is also the help that "?" shows.

export type Command =
  | { do: "move" | "leap"; x: number; y: number }
  | { do: "zoom"; by: number }
  | { do: "bad"; step: 1 | -1 }
  | { do: "turn"; by: number }
  | { do: "edge"; to: 0 | 1 }
  | { do: "fit" | "copy" | "scale" | "layer" | "image" | "play" | "help" | "leave" };

export const HELP: readonly [string, string][] = [
  ["← ↑ → ↓", "move the cursor"],
  ["Shift + arrows", "by a tile, or by ten"],
  ["Home, End", "first, last column"],
  ["+ − 0", "zoom in, out, fit"],
  ["[ ]", "previous, next value that is not finite"],
  ["PgUp, PgDn", "turn the slider"],
  ["p", "play the slider"],
  ["s", "next colour scale"],
  ["l", "next layer (complex)"],
  ["i", "picture or values"],
  ["Enter", "copy the index"],
  ["?", "these keys"],
];

const ARROWS: Record<string, [number, number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

const SIMPLE: Record<string, Command> = {
  "+": { do: "zoom", by: 1.6 },
  "=": { do: "zoom", by: 1.6 },
  "-": { do: "zoom", by: 1 / 1.6 },
  "0": { do: "fit" },
  "[": { do: "bad", step: -1 },
  "]": { do: "bad", step: 1 },
  Home: { do: "edge", to: 0 },
  End: { do: "edge", to: 1 },
  PageUp: { do: "turn", by: -1 },
  PageDown: { do: "turn", by: 1 },
  Enter: { do: "copy" },
  s: { do: "scale" },
  l: { do: "layer" },
  i: { do: "image" },
  p: { do: "play" },
  "?": { do: "help" },
  Escape: { do: "leave" },
};

export interface Press {
  key: string;
  shiftKey?: boolean;
  ctrlKey?: boolean;
  metaKey?: boolean;
  altKey?: boolean;
}

/** The command of a key; null leaves the key to the host. */
export function commandOf(press: Press): Command | null {
  if (press.ctrlKey || press.metaKey || press.altKey) return null;
  const arrow = Object.hasOwn(ARROWS, press.key) && ARROWS[press.key];
  if (arrow) return { do: press.shiftKey ? "leap" : "move", x: arrow[0], y: arrow[1] };
  if (press.shiftKey && (press.key === "Enter" || press.key.length > 1)) return null;
  return (Object.hasOwn(SIMPLE, press.key) && SIMPLE[press.key]) || null;
}
