// Rows that change places, one at a time: where several crossed each other at once, none could be read on the way.
// Between two orders that follow each other here, one row crosses others, and every other row moves by one place or stays.

/** Rows out of order beyond which all take their places at once, with nothing on the way. */
export const MOST_MOVES = 4;

/** The rows that need not cross each other: a longest part of the list that is in the wanted order already. */
function inOrder(places: number[]): Set<number> {
  const ends: number[] = []; // the index of the last row of the best part of each length
  const before: number[] = [];
  places.forEach((place, i) => {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((places[ends[middle] as number] as number) < place) low = middle + 1;
      else high = middle;
    }
    before[i] = ends[low - 1] ?? -1;
    ends[low] = i;
  });
  const out = new Set<number>();
  for (let i = ends[ends.length - 1] ?? -1; i >= 0; i = before[i] as number) out.add(i);
  return out;
}

/** The next order on the way to the wanted one, and the row that crosses others; null: all take their places at once. */
export function nextOrder(shown: number[], wanted: number[]): { order: number[]; mover: number | null } {
  const place = new Map(wanted.map((row, i) => [row, i]));
  if (shown.length !== wanted.length || shown.some((row) => !place.has(row))) return { order: [...wanted], mover: null };
  const kept = inOrder(shown.map((row) => place.get(row) as number));
  const out = shown.filter((_, i) => !kept.has(i));
  if (!out.length || out.length > MOST_MOVES) return { order: [...wanted], mover: null };
  const to = (row: number): number => place.get(row) as number;
  const mover = out.reduce((best, row) => (to(row) < to(best) ? row : best));
  const order = shown.filter((row) => row !== mover);
  let after = -1;
  order.forEach((row, i) => {
    if (!out.includes(row) && to(row) < to(mover)) after = i;
  });
  order.splice(after + 1, 0, mover);
  return { order, mover };
}
