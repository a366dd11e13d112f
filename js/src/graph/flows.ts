// What is said beside an edge, and where: next to a straight piece of it.

/** The norm of several flows together; null until one has come. */
export function together(flows: (number | null)[]): number | null {
  const found = flows.filter((flow): flow is number => flow !== null);
  return found.length ? Math.hypot(...found) : null;
}

export const inside = (x: number, y: number, fx = 0, fy = 0, fw = 0, fh = 0): boolean =>
  fx < x && x < fx + fw && fy < y && y < fy + fh;

/** Where the words of an edge stand: beside a straight piece of it, between the frames that it crosses. */
export function beside(path: number[][], areas: number[][], lone: boolean, only: boolean): [number, number] | null {
  const [y0, y1] = [path[0]?.[1] ?? 0, path.at(-1)?.[1] ?? 0];
  if (y1 <= y0) return null;
  let [low, high] = [y0, y1];
  for (const [, , y, , h] of areas as [number, number, number, number, number][]) {
    const [leaves, enters] = [y <= y0 && y0 <= y + h, y <= y1 && y1 <= y + h];
    if (leaves && !enters) low = Math.max(low, y + h);
    else if (enters && !leaves) high = Math.min(high, y);
  }
  const spots = [...(lone ? [high - 6] : []), ...(only ? [low + 13] : [])];
  if (spots.length === 2 && high - low < 60) spots.unshift((low + high) / 2 + 3.5);
  for (const y of spots) {
    for (let k = 1; k < path.length; k++) {
      const [[ax, ay], [bx, by]] = [path[k - 1], path[k]] as [[number, number], [number, number]];
      if (ax === bx && ay <= y - 4 && y <= by + 8 && low <= y - 8 && y <= high + 8) return [ax, y];
    }
  }
  return null;
}
