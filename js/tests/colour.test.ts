import { describe, expect, it } from "vitest";
import { fromLab, inkOn, NAN, palette, parseHex, pixel, ramp, STEPS, toLab, unpixel } from "../src/shared/colour";
import css from "../src/shared/tokens.css";

const maps = [...css.matchAll(/--vt-(tide|ember|phase): ([^;]+);/g)].map(
  (found) => [found[1] as string, found[2] as string] as const,
);

describe("colours", () => {
  it("a half of a map ends at its middle", () => {
    const stops = "#000000 #808080 #ffffff";
    const ends = (part: boolean | "negative") => {
      const all = palette(stops, part, "#ff0000");
      return [all[0], all[STEPS - 1]].map((one) => unpixel(one as number)[0]);
    };
    expect([ends(true), ends(false), ends("negative")]).toEqual([[0, 255], [128, 255], [0, 128]]);
  });

  it("go to OKLab and back", () => {
    for (const hex of ["#000000", "#ffffff", "#3e2660", "#039a75", "#ff8172"])
      expect(fromLab(toLab(parseHex(hex)))).toEqual(parseHex(hex));
    expect(toLab([255, 255, 255])[0]).toBeCloseTo(1, 3);
  });

  it("every map has eleven stops, in light and in dark, and hits them", () => {
    expect(maps.map(([name]) => name).sort()).toEqual(["ember", "ember", "phase", "phase", "tide", "tide"]);
    for (const [, stops] of maps) {
      const hexes = stops.trim().split(/\s+/);
      expect(hexes).toHaveLength(11);
      expect(ramp(stops, 11)).toEqual(hexes.map(parseHex));
    }
  });

  it("the phase closes on itself, and the halves of the others differ in lightness at every step", () => {
    for (const [name, stops] of maps) {
      const colours = ramp(stops, 41);
      if (name === "phase") expect(colours[0]).toEqual(colours[40]);
      else {
        const light = colours.slice(20).map((c) => toLab(c)[0]);
        const down = (light[0] as number) > (light[20] as number);
        light
          .slice(1)
          .forEach((l, i) =>
            expect(down ? l < (light[i] as number) + 1e-6 : l > (light[i] as number) - 1e-6).toBe(true),
          );
      }
    }
  });

  it("a sequential palette is the upper half, and what is not finite is red", () => {
    const stops = (maps.find(([name]) => name === "tide") as readonly [string, string])[1].trim();
    const hexes = stops.split(/\s+/);
    const colours = palette(stops, false, "#c0302a");
    expect(unpixel(colours[0] as number)).toEqual(parseHex(hexes[5] as string));
    expect(unpixel(colours[STEPS - 1] as number)).toEqual(parseHex(hexes[10] as string));
    expect(unpixel(colours[NAN] as number)).toEqual(parseHex("#c0302a"));
    expect(pixel([1, 2, 3])).toBe(0xff030201);
  });

  it("ink is dark on light and light on dark", () => {
    expect([inkOn([255, 255, 255]), inkOn([0, 0, 0])]).toEqual(["#10131a", "#ffffff"]);
  });
});

describe("the tokens", () => {
  const block = (from: RegExp): Record<string, string> =>
    Object.fromEntries(
      [...(css.split(from)[1] as string).split("}")[0]!.matchAll(/--vt-([\w-]+): ([^;]+);/g)].map((m) => [m[1], m[2]]),
    );
  const themes = [block(/^\.vt \{/m), block(/^\.vt\.vt-dark \{/m)];
  const light = (hex: string): number => {
    const [r, g, b] = parseHex(hex).map((byte) =>
      byte / 255 <= 0.04045 ? byte / 255 / 12.92 : ((byte / 255 + 0.055) / 1.055) ** 2.4,
    );
    return 0.2126 * (r as number) + 0.7152 * (g as number) + 0.0722 * (b as number);
  };
  const contrast = (a: string, b: string): number => {
    const [x, y] = [light(a), light(b)].sort((p, q) => q - p);
    return ((x as number) + 0.05) / ((y as number) + 0.05);
  };

  it("text has 4.5:1 and the edges of controls 3:1", () => {
    for (const theme of themes) {
      const ground = (/#\w+(?=\)\)$)/.exec(theme.bg as string) as RegExpExecArray)[0];
      for (const ink of ["ink", "ink-2", "ink-3", "accent", "value", "grad", "bad", "good", "warn", "miss"]) {
        for (const under of [ground, theme.panel as string])
          expect(contrast(theme[ink] as string, under), ink).toBeGreaterThanOrEqual(4.5);
      }
      expect(contrast(theme.edge as string, ground)).toBeGreaterThanOrEqual(3);
    }
  });
});
