// Which axis plays which part. Rows, columns, tiles across and tiles down are played by one axis each; all others slide.

import type { Item, Role } from "./types";

/** The axis of each part, -1 where nobody plays it. */
export interface Frame {
  rows: number;
  cols: number;
  across: number;
  down: number;
  channels: number;
}

export const ROLE_NAMES: readonly [Role, string][] = [
  ["rows", "rows"],
  ["cols", "columns"],
  ["across", "tiles across"],
  ["down", "tiles down"],
  ["slider", "slider"],
];

export function frameOf(roles: readonly Role[]): Frame {
  const at = (role: Role): number => roles.indexOf(role);
  const [across, down] = [at("across"), at("down")];
  // One axis of tiles alone is wrapped like a line of text, whichever way it was to run.
  const lone = across < 0;
  return {
    rows: at("rows"),
    cols: at("cols"),
    across: lone ? down : across,
    down: lone ? -1 : down,
    channels: at("channels"),
  };
}

/** Give an axis a part; the axis that played it takes the part that becomes free. */
export function setRole(roles: readonly Role[], axis: number, role: Role): Role[] {
  const next = [...roles];
  const before = next[axis] ?? "slider";
  if (role !== "slider") {
    const other = next.indexOf(role);
    if (other >= 0 && other !== axis) next[other] = before;
  }
  next[axis] = role;
  return settled(next);
}

/** Roles that can be drawn: each part once, and columns always played. */
export function settled(roles: readonly Role[]): Role[] {
  const taken = new Set<Role>();
  const next = roles.map((role) => {
    if (role === "slider" || !taken.has(role)) {
      taken.add(role);
      return role;
    }
    return "slider";
  });
  if (next.length && !next.includes("cols")) {
    const volunteer = ["rows", "across", "down", "slider"]
      .map((role) => next.lastIndexOf(role as Role))
      .find((i) => i >= 0);
    if (volunteer !== undefined) next[volunteer] = "cols";
  }
  return next;
}

/** The parts at first sight: what Python proposes, made drawable. */
export const firstRoles = (item: Item): Role[] =>
  settled(item.shape.map((_, axis) => (item.roles[axis] === "channels" ? "slider" : (item.roles[axis] ?? "slider"))));

/** The parts when the item is shown as pictures in colour: the axes that are left keep theirs where they can. */
export function imageRoles(item: Item, roles: readonly Role[]): Role[] {
  const image = item.image;
  if (!image) return [...roles];
  const fixed = new Map<number, Role>([
    [image.rows, "rows"],
    [image.cols, "cols"],
  ]);
  if (image.channels !== null && image.channels >= 0) fixed.set(image.channels, "channels");
  const free: Role[] = ["across", "down"];
  const kept = roles.map((role, axis) => fixed.get(axis) ?? (free.includes(role) ? role : "slider"));
  for (let axis = 0; axis < kept.length; axis++) {
    if (kept[axis] === "slider" && !fixed.has(axis) && !kept.includes("across")) kept[axis] = "across";
  }
  return kept;
}

/** Strides of a C-order array, in items. */
export function strides(shape: readonly number[]): number[] {
  const out = new Array<number>(shape.length).fill(1);
  for (let axis = shape.length - 2; axis >= 0; axis--)
    out[axis] = (out[axis + 1] as number) * (shape[axis + 1] as number);
  return out;
}

/** The index of a flat place. */
export function unravel(flat: number, shape: readonly number[]): number[] {
  return strides(shape).map((stride, axis) => Math.floor(flat / stride) % Math.max(1, shape[axis] as number));
}

/** `x[3, :, 7]`: a number for one element, a slice for a block, ":" for a whole axis. */
export function indexText(
  name: string,
  index: readonly number[],
  shape: readonly number[],
  block: readonly number[] = [],
  open: readonly number[] = [],
): string {
  if (!shape.length) return name;
  const parts = index.map((i, axis) => {
    if (open.includes(axis)) return ":";
    const size = block[axis] ?? 1;
    if (size <= 1) return String(i);
    const start = Math.floor(i / size) * size;
    return start + size >= (shape[axis] as number) && start === 0
      ? ":"
      : `${start}:${Math.min(start + size, shape[axis] as number)}`;
  });
  return `${name}[${parts.join(", ")}]`;
}
