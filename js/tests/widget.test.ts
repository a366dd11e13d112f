import { beforeEach, describe, expect, it, vi } from "vitest";
import widget from "../src/array/page";
import type { Item, State } from "../src/array/types";
import { fakeModel, item, layer, nd, pack, scale, state } from "./make";

const realListen = EventTarget.prototype.addEventListener;
// Timers, and after them whole frames: on a busy machine a frame may come late.
const frames = async () => {
  await new Promise((done) => setTimeout(done, 80));
  for (let i = 0; i < 3; i++) await new Promise((done) => requestAnimationFrame(done));
};

async function shown(one: State | Item, live = false) {
  const model = fakeModel(pack("array", "items" in one ? one : state([one])), live);
  const ended = new AbortController();
  const el = document.createElement("div");
  document.body.replaceChildren(el);
  widget.render({ model, el, signal: ended.signal });
  await frames();
  const find = <E extends HTMLElement>(what: string): E => el.querySelector(what) as E;
  const press = async (key: string, over = {}) => {
    find(".vt-view").dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...over }));
    await frames();
  };
  const where = () => find(".vt-where").textContent;
  return { model, el, ended, find, press, where };
}

beforeEach(() => {
  HTMLCanvasElement.prototype.getContext = (() => null) as never;
  document.body.removeAttribute("data-jp-theme-light");
});

describe("the array view", () => {
  it("says what it shows: name, meta, statistics, legend", async () => {
    const { el, find } = await shown(item([10, 84], { name: "fc3.weight", notes: ["requires grad"] }));
    expect(find(".vt-head").textContent).toMatch(/fc3\.weight.*10 × 84.*float32.*cpu.*3\.4 kB.*requires grad/);
    expect(find(".vt-stats").textContent).toMatch(/min−1max2.*zero17 %.*NaN0/);
    expect(find(".vt-say").textContent).toBe("diverging around 0 · linear · ends at ±max |x|");
    expect(el.querySelector("table caption")?.textContent).toMatch(/fc3\.weight: 10 × 84/);
  });

  it("moves by keys, and leaves keys that mean nothing to the host", async () => {
    const { press, where, find } = await shown(item([10, 84]));
    await press("ArrowRight");
    await press("ArrowDown", { shiftKey: true });
    expect(where()).toBe("w[9, 1]");
    await press("End");
    expect(where()).toBe("w[9, 83]");
    expect(find("[role=status]").textContent).toMatch(/w\[9, 83\]/);
    const event = new KeyboardEvent("keydown", { key: "b", bubbles: true, cancelable: true });
    find(".vt-view").dispatchEvent(event);
    expect(event.defaultPrevented).toBe(false);
  });

  it("shows index and value under the pointer, and the cursor's again when it leaves", async () => {
    const { find, where } = await shown(item([10, 84]));
    const canvas = find(".vt-view canvas");
    canvas.dispatchEvent(new MouseEvent("pointermove", { clientX: 300, clientY: 60 }));
    await frames();
    expect(where()).toMatch(/^w\[[1-9], \d+\]$/);
    canvas.dispatchEvent(new MouseEvent("pointerleave"));
    await frames();
    expect(where()).toBe("w[0, 0]");
  });

  it("copies on a click, and offers the text where the clipboard is refused", async () => {
    const write = vi.fn().mockResolvedValue(undefined);
    vi.stubGlobal("navigator", { clipboard: { writeText: write } });
    const { find, press } = await shown(item([10, 84]));
    const canvas = find(".vt-view canvas");
    for (const type of ["pointerdown", "pointerup"])
      canvas.dispatchEvent(new MouseEvent(type, { clientX: 300, clientY: 60 }));
    await frames();
    expect(write).toHaveBeenCalledWith(find(".vt-where").textContent);
    expect(find(".vt-hint").textContent).toMatch(/^copied w\[/);
    write.mockRejectedValue(new Error("refused"));
    await press("Enter");
    expect(find<HTMLInputElement>(".vt-take").value).toMatch(/^w\[\d+, \d+\]$/);
    vi.unstubAllGlobals();
  });

  it("walks through what is not finite", async () => {
    const bad = {
      nan: 1,
      posinf: 1,
      neginf: 0,
      at: nd(Float64Array.from([85, 400])),
      which: nd(Uint8Array.from([0, 1])),
    };
    const { find, press, where } = await shown(item([10, 84], { bad }));
    expect(find(".vt-bads").textContent).toMatch(/1 NaN1 \+inf/);
    await press("]");
    expect(where()).toBe("w[1, 1]");
    find(".vt-bads button:last-child").click();
    await frames();
    expect(where()).toBe("w[4, 64]");
    expect(find(".vt-remark").textContent).toBe("bad value 2 of 2");
  });

  it("changes the scale by its select and by s", async () => {
    const { find, press } = await shown(item([10, 84]));
    const select = find<HTMLSelectElement>(".vt-sayrow select");
    expect([...select.options].map((o) => o.text)).toEqual(["to max |x|", "symmetric log"]);
    await press("s");
    expect(select.selectedIndex).toBe(1);
    select.selectedIndex = 0;
    select.dispatchEvent(new Event("change"));
    await press("l");
    expect(select.selectedIndex).toBe(0);
  });

  it("gives axes other parts, and turns sliders", async () => {
    const { el, find, press, where } = await shown(item([3, 4, 5, 6], { dims: ["n", "c", "h", "w"] }));
    const selects = [...el.querySelectorAll<HTMLSelectElement>(".vt-ax select")];
    expect(selects.map((s) => s.value)).toEqual(["across", "down", "rows", "cols"]);
    const first = selects[0] as HTMLSelectElement;
    first.value = "slider";
    first.dispatchEvent(new Event("change"));
    await frames();
    expect(selects.map((s) => s.value)).toEqual(["slider", "down", "rows", "cols"]);
    await press("PageDown");
    expect(where()).toBe("w[1, 0, 0, 0]");
    expect(find<HTMLInputElement>(".vt-ax input").value).toBe("1");
  });

  it("plays a slider, one step a press for who wants no motion", async () => {
    const make = () => item([3, 5, 6], { roles: ["slider", "rows", "cols"] });
    vi.stubGlobal("matchMedia", () => ({ matches: true, addEventListener() {} }));
    const calm = await shown(make());
    calm.find(".vt-turn button").click();
    await new Promise((done) => setTimeout(done, 500));
    expect(calm.where()).toBe("w[1, 0, 0]");
    vi.unstubAllGlobals();
    const moving = await shown(make());
    moving.find(".vt-turn button").click();
    await new Promise((done) => setTimeout(done, 480));
    expect(moving.find(".vt-turn button").getAttribute("aria-pressed")).toBe("true");
    expect(moving.where()).not.toBe("w[0, 0, 0]");
    moving.ended.abort();
  });

  it("switches layers and pictures", async () => {
    const values = { data: nd(new Float32Array(12), [3, 4]) };
    const complex = item([3, 4], {
      dtype: "complex64",
      layers: [
        layer(values, { name: "magnitude" }),
        layer(values, { name: "phase", scales: [scale({ map: "phase", say: "phase" })] }),
      ],
    });
    const one = await shown(complex);
    expect(one.find(".vt-read b").textContent).toMatch(/magnitude 0 · phase 0/);
    await one.press("l");
    expect(one.find(".vt-say").textContent).toBe("phase");
    const two = await shown(item([3, 8, 8], { image: { channels: 0, rows: 1, cols: 2, lo: 0, hi: 1, shown: true } }));
    expect(two.where()).toBe("w[:, 0, 0]");
    await two.press("i");
    expect(two.where()).toBe("w[0, 0, 0]");
  });

  it("shows three with one cursor", async () => {
    const items = (["value", "gradient", "update"] as const).map((role) => item([4, 6], { role }));
    const { el, press, find } = await shown(state(items, { layout: "linked" }));
    expect(el.querySelectorAll(".vt-view")).toHaveLength(3);
    await press("ArrowRight");
    expect(find(".vt-read").textContent).toMatch(/\[0, 1\]value0\.2500gradient0\.2500update0\.2500/);
  });

  it("puts what belongs to a parameter into its row of a strip", async () => {
    const roles = ["value", "gradient", "update"] as const;
    const beside = roles.map((role) => item([2, 3], { name: "a", role }));
    const { el } = await shown(state([...beside, item([2], { name: "b", role: "value" })], { layout: "strip" }));
    const rows = [...el.querySelectorAll(".vt-row")];
    expect(rows.map((row) => row.querySelectorAll(".vt-thumb").length)).toEqual([3, 1]);
    expect(el.querySelector(".vt-strip .vt-meta")?.textContent).toBe("2 parameters: value, gradient, update");
    (rows[0] as HTMLElement).click();
    expect(el.querySelectorAll(".vt-view")).toHaveLength(3);
  });

  it("shows every row of a strip, those without a picture too, and unfolds them to their numbers", async () => {
    const bare = layer({ data: nd(new Float32Array(0)) }, { values: null, scales: [] });
    const unread = { ...bare, stats: { ...bare.stats, read: false } };
    const items = [item([2, 3], { name: "a" }), item([8, 8], { name: "b", index: "net.b", layers: [bare] })];
    const { el, find } = await shown(state([...items, item([9], { name: "c", layers: [unread] })], { layout: "strip" }));
    expect([...el.querySelectorAll(".vt-row")].map((row) => row.querySelectorAll(".vt-fact").length)).toEqual([4, 4, 0]);
    find(".vt-strip > .vt-head button").click();
    await frames();
    expect(el.textContent).not.toContain("cannot be shown");
    expect([...el.querySelectorAll(".vt-remark")].map((one) => one.textContent)).toContain(
      "Among so many arrays this one has no picture: type %vt show net.b",
    );
  });

  it("counts the arrays of a strip", async () => {
    const one = await shown(state([item([2, 3], { name: "a" })], { layout: "strip" }));
    expect(one.el.querySelector(".vt-strip .vt-meta")?.textContent).toBe("1 array");
    expect(one.el.querySelectorAll(".vt-strip-rows > .vt-fold")).toHaveLength(1);
  });

  it("folds a strip, one row at a time or all", async () => {
    const { el, find } = await shown(
      state([item([2, 3], { name: "a" }), item([], { name: "b" }), item([0], { name: "c" })], { layout: "strip" }),
    );
    expect(el.querySelectorAll(".vt-row")).toHaveLength(3);
    expect(el.querySelectorAll(".vt-view")).toHaveLength(0);
    find(".vt-row").click();
    expect(find(".vt-row").getAttribute("aria-expanded")).toBe("true");
    expect(el.querySelectorAll(".vt-view")).toHaveLength(1);
    find(".vt-strip > .vt-head button").click();
    expect(el.querySelectorAll(".vt-row[aria-expanded=true]")).toHaveLength(3);
    find(".vt-strip > .vt-head button").click();
    expect(el.querySelectorAll(".vt-view")).toHaveLength(0);
  });

  it("has one line for a number and a sentence for nothing", async () => {
    expect((await shown(item([], { name: "loss" }))).find(".vt-number").textContent).toBe("0");
    const { find, el } = await shown(item([3, 0], { dims: ["batch", "time"] }));
    expect(find(".vt-remark").textContent).toBe("No values to show: its axis “time” has length 0.");
    expect(el.querySelector("canvas")).toBeNull();
  });

  it("keeps markup text: names, axes, notes, errors", async () => {
    const evil = "<img src=x onerror=alert(1)>";
    const { el } = await shown(
      state(
        [
          item([2, 3, 4], {
            name: evil,
            index: evil,
            dims: [evil, evil, evil],
            notes: [evil],
            device: evil,
            pooled: evil,
          }),
        ],
        { text: evil, says: [evil], title: evil },
      ),
    );
    expect(el.querySelector("img")).toBeNull();
    expect(el.textContent).toContain(evil);
  });

  it("says what it cannot read", async () => {
    const el = document.createElement("div");
    widget.render({ model: fakeModel(new Uint8Array(20)), el, signal: new AbortController().signal });
    expect(el.textContent).toMatch(/cannot be shown/);
  });

  it("asks the kernel for exact values and says when it is refused", async () => {
    const pooled = item([100, 100], {
      block: [5, 5],
      grid: [20, 20],
      pooled: "each block is 5 × 5 values",
      layers: [layer({ data: nd(new Float32Array(400), [20, 20]) })],
    });
    const { model, find, where } = await shown(pooled, true);
    await new Promise((done) => setTimeout(done, 250));
    expect(model.send).toHaveBeenCalledTimes(1);
    const asked = model.send.mock.calls[0]?.[0] as { id: number; start: number[]; stop: number[] };
    expect(asked).toMatchObject({ type: "tile", item: 0, layer: 0, block: [1, 1] });
    expect(where()).toBe("w[0:5, 0:5]");
    const size = asked.start.map((from, axis) => (asked.stop[axis] as number) - from);
    const values = new Float32Array((size[0] as number) * (size[1] as number)).fill(7);
    model.fire("msg:custom", { type: "tile", id: asked.id, values: { type: "f32", shape: size } }, [
      new DataView(values.buffer),
    ]);
    await frames();
    expect(where()).toBe("w[0, 0]");
    expect(find(".vt-read b").textContent).toBe("7");
  });

  it("asks nothing without a kernel", async () => {
    const pooled = item([100, 100], {
      block: [5, 5],
      grid: [20, 20],
      pooled: "each block is 5 × 5 values",
      layers: [layer({ data: nd(new Float32Array(400), [20, 20]) })],
    });
    const { model, find } = await shown(pooled, false);
    await new Promise((done) => setTimeout(done, 250));
    expect(model.send).not.toHaveBeenCalled();
    expect(find(".vt-card > .vt-note").textContent).toBe("each block is 5 × 5 values");
  });

  it("follows the host's theme", async () => {
    const { find } = await shown(item([3, 4]));
    expect(find(".vt").classList.contains("vt-dark")).toBe(false);
    document.body.setAttribute("data-jp-theme-light", "false");
    await frames();
    expect(find(".vt").classList.contains("vt-dark")).toBe(true);
  });

  it("stops listening when its signal ends", async () => {
    const added = new Set<AbortSignal>();
    const listen = vi.spyOn(EventTarget.prototype, "addEventListener").mockImplementation(function (
      this: EventTarget,
      type,
      listener,
      options,
    ) {
      const { signal } = (options ?? {}) as { signal?: AbortSignal };
      if (this instanceof HTMLElement) expect(signal, `${type} on ${this.tagName}`).toBeDefined();
      if (signal) added.add(signal);
      return realListen.call(this, type, listener, options);
    });
    const { model, ended, find, where } = await shown(item([3, 4, 5]), true);
    listen.mockRestore();
    expect(model.listeners()).toBeGreaterThan(0);
    ended.abort();
    expect(model.listeners()).toBe(0);
    for (const signal of added) expect(signal.aborted).toBe(true);
    find(".vt-view").dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
    await frames();
    expect(where()).toBe("w[0, 0, 0]");
  });
});

describe("the sources", () => {
  it("never turn text into markup or code", () => {
    // @ts-expect-error Vite puts the files here.
    const files = import.meta.glob("../src/**/*.ts", { query: "?raw", import: "default", eager: true }) as Record<
      string,
      string
    >;
    expect(Object.keys(files).length).toBeGreaterThan(20);
    for (const [path, text] of Object.entries(files)) {
      expect(
        /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function/.exec(text),
        path,
      ).toBeNull();
    }
  });
});
