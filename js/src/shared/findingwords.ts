// How findings are marked: by how bad they are, and by how they are known.

export const SIGNS: Record<string, string> = { bad: "✹", wrong: "▲", doubtful: "△" };
export const CERTAIN: Record<string, string> = { exact: "= exact", lineage: "→ lineage", measured: "≈ measured" };

/** A count with its noun: "1 step", "64 steps". */
export const plural = (n: number, noun: string): string => `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;
