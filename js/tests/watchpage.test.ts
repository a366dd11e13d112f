import { describe, expect, it, vi } from "vitest";
import widget from "../src/watch/page";
import type { State } from "../src/watch/types";
import { fakeModel, pack } from "./make";
import { counts, delta, head, mistake, run } from "./watching";

const frame = (): Promise<void> =>
  new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())));

function open(state: State = run(), live = true) {
  HTMLCanvasElement.prototype.getContext = vi.fn(() => null) as never;
  const model = fakeModel(pack("watch", state), live);
  const el = document.createElement("div");
  document.body.replaceChildren(el);
  const end = widget.render({ model, el });
  const one = (what: string) => el.querySelector(what) as HTMLElement;
  return {
    model,
    el,
    end,
    one,
    all: (what: string) => [...el.querySelectorAll(what)] as HTMLElement[],
    button: (name: string) => one(`button[aria-label="${name}"]`),
    notify: async (over: Parameters<typeof delta>[0]) => {
      const bytes = pack("delta", delta(over));
      model.fire("msg:custom", { type: "delta" }, [new DataView(bytes.buffer)]);
      await frame();
    },
    sent: () => model.send.mock.calls.map(([message]) => message as Record<string, unknown>),
    key: (target: HTMLElement, name: string) =>
      target.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true, cancelable: true })),
  };
}

describe("the panel", () => {
  it("says where the run is", () => {
    const { one } = open();
    expect(one(".vt-status").textContent).toBe("running");
    expect(one(".vt-step").textContent).toBe("4 of 8");
    expect(one(".vt-overhead").textContent).toBe("1.8 %");
  });

  it("shows what a delta brings, in the next frame", async () => {
    const { one, notify } = open();
    await notify({ head: head({ step: 5, steps: null, status: "paused", say: "Paused after step 5." }) });
    expect(one(".vt-step").textContent).toBe("5");
    expect(one(".vt-status").textContent).toBe("paused");
    expect(one(".vt-said").textContent).toBe("Paused after step 5.");
  });

  it("says which field of a delta is wrong, and keeps the text of what was recorded", async () => {
    for (const [over, says] of [
      [{ head: head({ step: "five" as unknown as number }) }, 'delta.head.step: expected a number, got "five"'],
      [{ log: { whole: false } as never }, "delta.log.items: expected a list, got undefined"],
      [{ version: null as unknown as number }, "delta.version: expected a number, got null"],
    ] as const) {
      const { el, notify, model } = open();
      const before = model.listeners();
      await notify(over);
      expect(el.textContent).toContain(`This cannot be shown: ${says}`);
      expect(el.dataset["failed"]).toBe(says);
      expect(model.listeners()).toBeLessThan(before);
      await notify({ head: head({ step: 6 }) });
      expect(el.textContent).toContain(says);
    }
  });

  it("asks for everything when it is opened, and where it has missed a delta", async () => {
    const { sent, notify, one } = open();
    expect(sent()).toEqual([{ type: "all", id: 1 }]);
    vi.spyOn(performance, "now").mockReturnValue(performance.now() + 5000);
    await notify({ since: 9, version: 10, head: head({ step: 7 }) });
    expect(one(".vt-step").textContent).toBe("4 of 8");
    expect(sent()[1]).toMatchObject({ type: "all" });
  });

  it("lists the classes, the worst first, hatched where few were seen", async () => {
    const { all, one } = open();
    const bar = (c: number) => one(`.vt-class[data-class="${c}"] .vt-bar`);
    expect(bar(0).getAttribute("aria-valuenow")).toBe("50");
    expect(bar(1).getAttribute("aria-valuenow")).toBe("90");
    expect(one('.vt-class[data-class="0"]').style.transform).toBe("translateY(0px)");
    expect(one('.vt-class[data-class="0"]').textContent).toContain("▲ 25");
    expect(bar(0).classList).not.toContain("vt-w-few");
    (one('[role="tab"][data-key="epoch"]') as HTMLButtonElement).click();
    await frame();
    expect(bar(0).classList).toContain("vt-w-few");
    expect(all(".vt-class")).toHaveLength(2);
  });

  it("changes the order of the classes once a second at most", async () => {
    const { one, notify } = open();
    const first = () => (one('.vt-class[data-class="0"]').style.transform === "translateY(0px)" ? 0 : 1);
    const clock = vi.spyOn(performance, "now");
    let version = 3;
    const swap = (now: number, right: number) => {
      clock.mockReturnValue(now);
      const window = counts([
        [right, 40 - right],
        [20, 20],
      ]);
      return notify({ since: version, version: ++version, accuracy: { ...run().accuracy, window } });
    };
    await swap(1_000_000, 39);
    expect(first()).toBe(1);
    await swap(1_000_400, 1);
    expect(first()).toBe(1);
    expect(one('.vt-class[data-class="0"] .vt-bar').getAttribute("aria-valuenow")).toBe("3"); // bars move at once
    one(".vt-w-lifted").dispatchEvent(Object.assign(new Event("transitionend", { bubbles: true }), { propertyName: "transform" }));
    await swap(1_001_001, 2);
    expect(first()).toBe(0);
  });

  it("moves one row at a time, and answers a click at once", async () => {
    const names = [..."abcdef"];
    const off = (right: number[]) => counts(right.map((k, i) => right.map((_, j) => (i === j ? k : j === (i + 1) % 6 ? 100 - k : 0))));
    const before = run().accuracy;
    const { one, all, notify } = open(run({ classes: names, accuracy: { ...before, window: off([10, 20, 30, 40, 50, 60]) } }));
    const place = (row: HTMLElement) => Number(/\((\d+)px/.exec(row.style.transform)?.[1]) / 25;
    const order = () => (all(".vt-class") as HTMLElement[]).sort((a, b) => place(a) - place(b)).map((r) => r.dataset["class"]).join("");
    const lifted = () => (all(".vt-w-lifted") as HTMLElement[]).map((r) => r.dataset["class"]).join("");
    const end = async () => {
      for (const row of all(".vt-w-lifted")) row.dispatchEvent(Object.assign(new Event("transitionend", { bubbles: true }), { propertyName: "transform" }));
      await frame();
    };
    expect([order(), lifted()]).toEqual(["012345", ""]);
    vi.spyOn(performance, "now").mockReturnValue(1e7);
    await notify({ since: 3, version: 4, accuracy: { ...before, window: off([10, 20, 90, 40, 50, 5]) } });
    expect([order(), lifted()]).toEqual(["501234", "5"]);
    await notify({ since: 4, version: 5, head: run().head }); // not yet at its place
    expect([order(), lifted()]).toEqual(["501234", "5"]);
    await end();
    expect([order(), lifted()]).toEqual(["501342", "2"]);
    one(".vt-w-sort").click();
    await frame();
    expect([order(), lifted()]).toEqual(["012345", ""]);
    expect(one(".vt-w-rows").classList).toContain("vt-w-still");
  });

  it("opens the samples of a cell", async () => {
    const { one, all } = open();
    one('.vt-confusion [data-label="0"][data-read="1"]').click();
    await frame();
    expect(one(".vt-samples").textContent).toContain("cat");
    expect(all(".vt-sample")).toHaveLength(1);
    expect(all(".vt-sample canvas")).toHaveLength(1);
    expect(one(".vt-sample").textContent).toBe("dog0.70cat0.30#17 · 3");
    one('.vt-confusion [data-label="1"][data-read="0"]').click();
    await frame();
    expect(all(".vt-sample")).toHaveLength(0);
    expect(one(".vt-samples").textContent).toContain("No sample of this cell is kept yet");
  });

  it("walks the matrix by keys", async () => {
    const { one, key } = open();
    const cell = one('.vt-confusion [data-label="0"][data-read="1"]');
    cell.focus();
    key(cell, "ArrowDown");
    expect((document.activeElement as HTMLElement).dataset).toMatchObject({ label: "1", read: "1" });
    key(document.activeElement as HTMLElement, "Enter");
    await frame();
    expect(one(".vt-samples").textContent).toContain("Read rightly");
  });

  it("takes names and labels for text", async () => {
    const bad = '<img src=x onerror="alert(1)">';
    const state = run({ classes: [bad, "dog"], title: bad });
    state.flow.names = [bad, bad];
    state.health.layers[0]!.name = bad;
    state.log.items = [{ number: 1, step: 1, what: bad, from: null, to: null, effect: bad, undone: false }];
    state.head.says = [bad];
    const { one, all } = open(state);
    for (const key of ["flow", "health", "filters", "log"]) {
      (one(`[role="tab"][data-key="${key}"]`) as HTMLButtonElement).click();
      await frame();
    }
    expect(all("img")).toHaveLength(0);
    expect(one(".vt-log").textContent).toContain(bad);
  });

  it("tells of layers: how many are not in range, and what helps", async () => {
    const { one } = open();
    expect(one('[data-key="health"]').textContent).toContain("1");
    one('[data-key="health"]').click();
    await frame();
    const text = one(".vt-w-layers").textContent ?? "";
    expect(text).toContain("1 of 2 dead");
    expect(text).toContain("▲ dead units");
    expect(text).toContain("Lower the learning rate.");
    expect(text).toContain("no activation");
  });

  it("opens the table of results by itself when the run is over", async () => {
    const { one, notify } = open();
    const tab = one('[data-key="result"]');
    expect(tab.hidden).toBe(true);
    await notify({ head: head({ status: "finished", say: "Finished after step 4." }) });
    await frame();
    expect(tab.hidden).toBe(false);
    expect(tab.getAttribute("aria-selected")).toBe("true");
    expect(one(".vt-w-result").textContent).toContain("cat20 / 4050.0 %83.3 %25 %dog (20)");
  });

  it("leaves no listener behind", () => {
    const { model, end, el } = open();
    expect(model.listeners()).toBeGreaterThan(1);
    end();
    expect(model.listeners()).toBe(0);
    expect(el.querySelector(".vt-watch")).toBeNull();
  });
});

describe("the controls", () => {
  it("ask at once and say what came of it", async () => {
    const { button, model, one, sent, notify } = open();
    button("pause").click();
    const asked = sent().at(-1) as { id: number };
    expect(asked).toMatchObject({ type: "do", do: "pause" });
    model.fire("msg:custom", { type: "asked", id: asked.id, say: "asked; acts at the next step" });
    expect(one(".vt-said").textContent).toBe("asked; acts at the next step");
    const items = [
      { number: 1, step: 5, what: "paused", from: null, to: null, effect: "9 ms after the click", undone: false },
    ];
    await notify({
      head: head({
        status: "paused",
        step: 5,
        say: "Paused after step 5, 9 ms after the click.",
        why: { pause: "It is paused.", step: "", resume: "" },
      }),
      log: { whole: true, items },
    });
    expect(one(".vt-said").textContent).toBe("Paused after step 5, 9 ms after the click.");
    expect(one(".vt-status").textContent).toBe("paused");
    button("resume").click();
    expect(sent().at(-1)).toMatchObject({ do: "resume" });
    button("one step").click();
    expect(sent().at(-1)).toMatchObject({ do: "step" });
  });

  it("say why they cannot act, and then ask for nothing", () => {
    const { button, sent, one } = open();
    const step = button("one step");
    expect(step.getAttribute("aria-disabled")).toBe("true");
    expect(step.title).toBe("Only when paused.");
    const before = sent().length;
    step.click();
    expect(sent()).toHaveLength(before);
    expect(one(".vt-said").textContent).toBe("Not now. Only when paused.");
  });

  it("set the learning rate, and refuse beside the field what is no positive number", async () => {
    const { el, key, one, sent, model, notify } = open();
    const field = el.querySelector("label input") as HTMLInputElement;
    expect(field.value).toBe("1e-3");
    for (const bad of ["", "-1", "fast", "0"]) {
      field.value = bad;
      key(field, "Enter");
      expect(one(".vt-refused").textContent).toBe("needs a positive number");
    }
    expect(sent()).toHaveLength(1);
    field.value = "3e-4";
    field.dispatchEvent(new Event("input"));
    expect(one(".vt-refused").textContent).toBe("");
    key(field, "Enter");
    const asked = sent().at(-1) as { id: number };
    expect(asked).toMatchObject({ do: "lr", value: 3e-4 });
    model.fire("msg:custom", { type: "refused", id: asked.id, why: "lr: the run is over" });
    expect(one(".vt-refused").textContent).toBe("the run is over");
    await notify({ head: head({ lr: [0.5] }) });
    expect(field.value).toBe("0.5");
  });

  it("go back to a chosen snapshot", () => {
    const { button, el, sent } = open();
    const choice = el.querySelector('select[aria-label="snapshot to go back to"]') as HTMLSelectElement;
    expect([...choice.options].map((one) => one.text)).toEqual(["step 3", "step 1"]);
    choice.value = "1";
    button("rewind").click();
    expect(sent().at(-1)).toMatchObject({ do: "rewind", step: 1 });
  });

  it("have keys, which fields keep for themselves", () => {
    const { one, key, sent, el } = open();
    const card = one(".vt-watch");
    key(card, "p");
    expect(sent().at(-1)).toMatchObject({ do: "pause" });
    key(card, "l");
    expect(document.activeElement).toBe(el.querySelector("label input"));
    const before = sent().length;
    key(el.querySelector("label input") as HTMLElement, "p");
    expect(sent()).toHaveLength(before);
    key(card, "r");
    expect((document.activeElement as HTMLElement).tagName).toBe("SELECT");
    key(card, "?");
    expect(one('[role="dialog"]').hidden).toBe(false);
    key(one('[role="dialog"]'), "Escape");
    expect(one('[role="dialog"]').hidden).toBe(true);
    key(card, "4");
    expect(one('[data-key="filters"]').getAttribute("aria-selected")).toBe("true");
  });

  it("are away where no kernel answers", () => {
    const { one, model, key } = open(run({ mistakes: { whole: true, after: 1, items: [mistake()] } }), false);
    expect(one(".vt-w-controls").hidden).toBe(true);
    key(one(".vt-watch"), "p");
    expect(model.send).not.toHaveBeenCalled();
  });
});

describe("an alarm", () => {
  const alarm = (over: Record<string, unknown> = {}) => ({
    name: "loss",
    last: 3,
    weights: [],
    what: "loss",
    kind: "NaN",
    step: 4,
    epoch: 1,
    over: 0,
    now: true,
    word: "loss NaN",
    say: "Loss is NaN since step 4, epoch 1.",
    cause: "",
    rest: "All weights are finite.",
    way: "Paused by itself after step 4. Last good snapshot: step 3; a rewind undoes 1 step.",
    snapshot: 3,
    how: "paused" as const,
    ...over,
  });
  const why = head().why;
  const held = (over: Record<string, unknown> = {}) =>
    head({ status: "paused", loss: "nan", alarm: alarm(), autopause: true, why: { ...why, resume: "" }, ...over });

  it("stands where the controls were, once, and says the ways on", () => {
    const { one, sent, key } = open(run({ head: held() }));
    expect(one('.vt-w-alarmsay[role="alert"]').textContent).toContain("Loss is NaN since step 4, epoch 1.");
    expect(one(".vt-w-hands").hidden).toBe(true);
    expect(one(".vt-w-loss .vt-w-big").textContent).not.toBe("–");
    key(one(".vt-watch"), "r");
    key(one(".vt-watch"), "g");
    (one(".vt-w-alarmdo").lastElementChild as HTMLElement).click();
    expect(sent().slice(1)).toMatchObject([
      { do: "rewind", step: 3 },
      { do: "resume" },
      { do: "rewind", step: 3 },
      { do: "stop" },
    ]);
  });

  it("says why there is no way back", () => {
    const { one, sent } = open(
      run({ head: held({ alarm: alarm({ snapshot: null, way: "No snapshot from before it is finite." }) }) }),
    );
    const back = one(".vt-w-alarmdo button");
    expect(back.getAttribute("aria-disabled")).toBe("true");
    back.click();
    expect(sent()).toHaveLength(1);
  });

  it("is a line where the loop goes on, and no tick where it ends", async () => {
    const { one, notify } = open(run({ head: head({ alarm: alarm({ how: "on" }), autopause: true }) }));
    expect(one(".vt-w-alarm").hidden).toBe(true);
    expect(one(".vt-said").textContent).toContain("Loss is NaN since step 4");
    await notify({ head: held({ status: "ended", say: "Ended after step 4, loss NaN." }) });
    expect(one(".vt-status").textContent).toBe("ended, NaN");
    expect(one(".vt-w-alarm").hidden).toBe(false);
  });

  it("switches the pause, and answers who asks whether a page is there", () => {
    const { one, sent, model } = open(run({ head: head({ autopause: true }) }));
    const box = one(".vt-w-autopause input") as HTMLInputElement;
    expect(box.checked).toBe(true);
    box.click();
    expect(sent()[1]).toMatchObject({ do: "autopause", on: false });
    model.fire("msg:custom", { type: "there" });
    expect(sent()[2]).toMatchObject({ type: "here" });
  });

  it("keeps the switch as it was set until the loop has done so, and follows the loop after that", async () => {
    const { one, notify } = open(run({ head: head({ autopause: true }) }));
    const box = one(".vt-w-autopause input") as HTMLInputElement;
    const known = async (autopause: boolean, version: number): Promise<boolean> => {
      await notify({ since: version - 1, version, head: head({ autopause }) });
      return box.checked;
    };
    const from = run().version;
    box.click();
    expect(await known(true, from + 1)).toBe(false); // sent before the click was read
    expect(await known(false, from + 2)).toBe(false);
    expect(await known(true, from + 3)).toBe(true); // by a program
  });

  it("paints scores and losses that are not finite as words, never as an error", () => {
    const bad = mistake({ top: [[1, "nan"], [0, "nan"]] });
    const validation = [{ step: 4, epoch: 1, loss: "nan" as const, accuracy: null, samples: 0 }];
    const state = run({ mistakes: { whole: true, after: 1, items: [bad] }, validation });
    state.accuracy.without = 12;
    state.accuracy.without_from = 3;
    const { one } = open(state);
    expect(one(".vt-sample")).not.toBeNull();
    expect(one(".vt-w-without").textContent).toContain("no output: 12 since step 3");
    (one('[data-key="table"]') as HTMLElement).click();
    expect(one(".vt-w-sheet")).not.toBeNull();
  });
});
