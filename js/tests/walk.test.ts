import { describe, expect, it } from "vitest";
import { nextBad, tally, total, whichAt } from "../src/array/bad";
import { commandOf, HELP } from "../src/array/keys";
import { item, nd } from "./make";

const bad = {
  nan: 2,
  posinf: 1,
  neginf: 0,
  at: nd(Float64Array.from([5, 40, 77])),
  which: nd(Uint8Array.from([0, 1, 0])),
};
const one = item([10, 8], { bad });

describe("bad values", () => {
  it("are walked in the order of the array, round and round", () => {
    expect(nextBad(one, [0, 0], 1)).toEqual({ index: [0, 5], which: 0 });
    expect(nextBad(one, [0, 5], 1)).toEqual({ index: [5, 0], which: 1 });
    expect(nextBad(one, [9, 5], 1)).toEqual({ index: [0, 5], which: 0 });
    expect(nextBad(one, [0, 5], -1)).toEqual({ index: [9, 5], which: 2 });
    expect(nextBad(one, [5, 1], -1)).toEqual({ index: [5, 0], which: 1 });
    expect(nextBad(item([2, 2]), [0, 0], 1)).toBeNull();
  });

  it("are counted in words with their sign", () => {
    expect(tally(bad)).toEqual([
      { sign: "nan", text: "2 NaN" },
      { sign: "posinf", text: "1 +inf" },
    ]);
    expect(total(bad)).toBe(3);
    expect([whichAt(one, [5, 0]), whichAt(one, [5, 1])]).toEqual([1, -1]);
  });
});

describe("keys", () => {
  it("mean what the help says", () => {
    expect(commandOf({ key: "ArrowLeft" })).toEqual({ do: "move", x: -1, y: 0 });
    expect(commandOf({ key: "ArrowDown", shiftKey: true })).toEqual({ do: "leap", x: 0, y: 1 });
    expect(commandOf({ key: "+", shiftKey: true })).toEqual({ do: "zoom", by: 1.6 });
    expect(commandOf({ key: "]" })).toEqual({ do: "bad", step: 1 });
    expect(commandOf({ key: "PageDown" })).toEqual({ do: "turn", by: 1 });
    expect(commandOf({ key: "End" })).toEqual({ do: "edge", to: 1 });
    for (const key of ["0", "s", "l", "i", "p", "?", "Enter", "Escape", "Home", "["])
      expect(commandOf({ key }), key).not.toBeNull();
    expect(HELP.map(([keys]) => keys).join(" ")).toMatch(/Home.*\+ − 0.*PgUp.*Enter.*\?/);
  });

  it("leave the host what is the host's", () => {
    for (const key of ["s", "Enter", "ArrowUp"]) expect(commandOf({ key, ctrlKey: true })).toBeNull();
    expect(commandOf({ key: "Enter", shiftKey: true })).toBeNull();
    expect(commandOf({ key: "b" })).toBeNull();
    expect(commandOf({ key: "toString" })).toBeNull();
  });
});
