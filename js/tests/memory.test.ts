import { describe, expect, it } from "vitest";
import widget from "../src/memory/page";
import { alive, ordered, size, stairs } from "../src/memory/ticks";
import { nd } from "./make";
import { kept, open } from "./report";

describe("ticks", () => {
  it("write bytes as the record does", () => {
    expect([0, 999, 9999, 10_000, 2_100_000, 3e9, 999_700].map(size)).toEqual([
      "0 B",
      "999 B",
      "9999 B",
      "10 kB",
      "2.1 MB",
      "3 GB",
      "1 MB",
    ]);
  });

  it("know what is alive: from when it was made until before it was freed", () => {
    const [sin, , mul] = kept().rows as [never, never, never];
    expect([1, 2, 3].map((tick) => alive(sin, tick))).toEqual([false, true, false]);
    expect([1, 2, 99].map((tick) => alive(mul, tick))).toEqual([false, true, true]);
  });

  it("order rows", () => {
    const rows = kept().rows;
    expect(ordered(rows, "bytes")).toEqual([0, 1, 2]);
    expect(ordered(rows, "made")).toEqual([1, 0, 2]);
    expect(ordered(rows, "freed")).toEqual([0, 1, 2]);
  });

  it("draw a staircase with a step only where the value changes", () => {
    expect(stairs([0, 4, 4, 2], 40, 10, 4)).toBe("M0 10H0.0V10.0H10.0V0.0H30.0V5.0H40V10z");
    expect(stairs([0, 0], 40, 10, 0)).toBe("M0 10H0.0V10.0H40V10z");
  });
});

describe("memory over time", () => {
  it("says the peak and begins there", () => {
    const { one, all } = open(widget, "memory", kept());
    expect(one(".vt-rp-verdict").textContent).toBe(
      " At most 12 kB are kept for backward, after SinBackward0 (In [2], line 3: z = y.sin()).",
    );
    expect(all(".vt-rp-verdict b").map((b) => b.textContent)).toEqual(["12 kB", "SinBackward0"]);
    expect(one(".vt-me-status").textContent).toBe("tick 2 of 4, forward: 12 kB kept by 3 nodes · the peak");
    expect(one(".vt-meta").textContent).toContain("400 B of parameters not counted");
  });

  it("moves in time by its slider, and dims what is gone", () => {
    const { one, all, key } = open(widget, "memory", kept());
    const slider = one(".vt-me-slider") as HTMLInputElement;
    slider.value = "3";
    slider.dispatchEvent(new Event("input"));
    expect(one(".vt-me-status").textContent).toBe("tick 3 of 4, backward: 4000 B kept by 2 nodes");
    expect(slider.getAttribute("aria-valuetext")).toContain("tick 3");
    expect(all(".vt-me-gone").map((row) => row.textContent)).toEqual([expect.stringContaining("SinBackward0")]);
    key(slider, "p");
    expect(slider.value).toBe("2");
    expect(all(".vt-me-gone")).toHaveLength(0);
  });

  it("orders the nodes", () => {
    const { rows, press, all } = open(widget, "memory", kept());
    expect(rows()[0]).toContain("8000 B");
    expect(rows()[2]).toContain("shares 4000 B");
    press("as they were made");
    expect(rows()[0]).toContain("ExpBackward0");
    expect(all(".vt-me-orders [aria-pressed=true]").map((b) => b.textContent)).toEqual(["as they were made"]);
  });

  it("shades the life of a node that is chosen", async () => {
    const { all, el } = open(widget, "memory", kept());
    await new Promise((done) => setTimeout(done, 60));
    all(".vt-rp-body .vt-rp-row")[1]?.click();
    const life = el.querySelector(".vt-me-life");
    expect(Number(life?.getAttribute("width"))).toBeGreaterThan(0);
    expect(Number(life?.getAttribute("x"))).toBeGreaterThan(0);
  });

  it("keeps devices apart", () => {
    const devices = {
      cpu: nd(Float64Array.from([0, 4000, 4000, 0, 0])),
      "cuda:0": nd(Float64Array.from([0, 0, 8000, 4000, 0])),
    };
    const { one } = open(widget, "memory", kept({ devices }));
    expect(one(".vt-me-status").textContent).toContain("(cpu 4000 B, cuda:0 8000 B)");
    expect(one(".vt-me-axis").textContent).toContain("cuda:0");
  });

  it("says that nothing is kept", () => {
    const peak = { tick: 0, bytes: 0, what: "", where: "" };
    const { one, all } = open(widget, "memory", kept({ rows: [], peak }));
    expect(one(".vt-rp-verdict").textContent).toBe("Nothing is kept for backward.");
    expect(all(".vt-me-chart")).toHaveLength(0);
  });

  it("counts what is not listed", () => {
    const { one } = open(widget, "memory", kept({ nodes: 1003 }));
    expect(one(".vt-me-status").textContent).toContain("by 3 nodes");
    expect(one(".vt-rp-main").textContent).toContain("1,000 smaller nodes are not listed");
  });

  it("keeps markup text", () => {
    const evil = "<img src=x onerror=alert(1)>";
    const rows = kept().rows.map((row) => ({ ...row, name: evil, module: evil, where: evil, device: evil }));
    const peak = { ...kept().peak, what: evil, where: evil };
    const { el } = open(widget, "memory", kept({ rows, peak, title: evil, says: [evil] }));
    expect(el.querySelector("img")).toBeNull();
    expect((el.textContent ?? "").split(evil).length).toBeGreaterThan(8);
  });
});
