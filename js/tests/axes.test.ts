import { describe, expect, it } from "vitest";
import { firstRoles, frameOf, imageRoles, indexText, setRole, settled, unravel } from "../src/array/axes";
import type { Role } from "../src/array/types";
import { item } from "./make";

describe("roles", () => {
  const four: Role[] = ["across", "down", "rows", "cols"];

  it("swap when one is taken", () => {
    expect(setRole(four, 0, "rows")).toEqual(["rows", "down", "across", "cols"]);
    expect(setRole(four, 0, "across")).toEqual(four);
  });

  it("always leave an axis for the columns", () => {
    expect(setRole(four, 3, "slider")).toContain("cols");
    for (let axis = 0; axis < 4; axis++) {
      let roles = four;
      for (let other = 0; other < 4; other++) if (other !== axis) roles = setRole(roles, other, "slider");
      expect(roles.filter((role) => role === "cols")).toHaveLength(1);
    }
  });

  it("are each played once, whatever arrives", () => {
    expect(settled(["rows", "rows", "cols", "cols"])).toEqual(["rows", "slider", "cols", "slider"]);
    expect(firstRoles(item([2, 3], { roles: [] }))).toHaveLength(2);
    expect(firstRoles(item([3, 4, 4], { roles: ["channels", "rows", "cols"] }))).toEqual(["slider", "rows", "cols"]);
  });

  it("one axis of tiles is one axis of tiles", () => {
    expect(frameOf(["down", "rows", "cols"])).toMatchObject({ across: 0, down: -1 });
    expect(frameOf(four)).toMatchObject({ across: 0, down: 1, rows: 2, cols: 3, channels: -1 });
  });

  it("make room for colours, and tiles of what is left", () => {
    const picture = item([8, 3, 32, 32], { image: { channels: 1, rows: 2, cols: 3, lo: 0, hi: 1, shown: true } });
    expect(imageRoles(picture, four)).toEqual(["across", "channels", "rows", "cols"]);
    const grey = item([28, 28], { image: { channels: null, rows: 0, cols: 1, lo: 0, hi: 1, shown: true } });
    expect(imageRoles(grey, ["rows", "cols"])).toEqual(["rows", "cols"]);
  });
});

describe("indices", () => {
  it("are written as Python reads them", () => {
    expect(indexText("x", [], [])).toBe("x");
    expect(indexText("x", [3, 0, 7], [9, 9, 9], [1, 1, 1], [1])).toBe("x[3, :, 7]");
    expect(indexText("C", [454, 460], [1000, 1000], [5, 5])).toBe("C[450:455, 460:465]");
    expect(indexText("C", [8, 1], [10, 3], [4, 4])).toBe("C[8:10, :]");
  });

  it("come from flat places", () => {
    expect(unravel(23, [2, 3, 4])).toEqual([1, 2, 3]);
    expect(unravel(0, [])).toEqual([]);
  });
});
