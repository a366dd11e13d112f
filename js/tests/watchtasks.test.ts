import { afterEach, describe, expect, it, vi } from "vitest";
import widget from "../src/watch/page";
import { context, pieces } from "../src/watch/language";
import { notes, row, verdict } from "../src/watch/regression";
import { kindOf, wider } from "../src/watch/task";
import type { State, Task, Tokens, Values } from "../src/watch/types";
import { fakeModel, nd, pack } from "./make";
import { delta, run } from "./watching";

const MARKUP = "<img src=x onerror=alert(1)>";
const frame = (): Promise<void> =>
  new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())));
const score = (r2: number | null, mae = 0.5) => ({
  n: 3,
  r2,
  mae,
  rmse: 0.6,
  bias: -0.25,
  constant_mae: 2,
  constant_rmse: 2.5,
});

const values = (over: Partial<Values> = {}): Values => ({
  outputs: ["east", MARKUP],
  pooled: 0,
  shape: [3, 2],
  broadcast: false,
  echo: false,
  size: 1024,
  n: 3,
  bad: 0,
  scores: [score(0.9), score(-1.5, 7)],
  r2: -0.3,
  predicted: nd(Float32Array.from([1, 2, 3, 4, 5, 6]), [2, 3]),
  target: nd(Float32Array.from([1, 2, 4, 4, 5, 7]), [2, 3]),
  bins: nd(Uint32Array.from([1, 2, 0, 3]), [2, 2]),
  span: nd(Float64Array.from([-1, 1, -2, 2]), [2, 2]),
  beyond: [0, 1],
  worst: [{ step: 4, index: 17, error: 3, predicted: [1, 2], target: [null, 3] }],
  ...over,
});

const tokens = (over: Partial<Tokens> = {}): Tokens => ({
  vocabulary: 3,
  length: 4,
  shifted: true,
  n: 40,
  size: 8192,
  bad: 0,
  loss: 1.5,
  perplexity: 4.48,
  accuracy: 0.25,
  looked: 40,
  position: nd(Float32Array.from([1, 2, NaN, 3]), [4]),
  positions: nd(Uint32Array.from([10, 10, 0, 20]), [4]),
  hard: [[2, 3.5, 7]],
  pairs: [[2, 0, 5]],
  places: [{ step: 9, token: 2, read: -2, loss: 4, position: 3, before: [0, 1] }],
  names: { "0": "a", "1": "␣", "2": MARKUP },
  ...over,
});

const task = (over: Partial<Task>): Task => ({ kind: "", loss: "", constant: "", values: null, tokens: null, ...over });
const regression = (over: Partial<Values> = {}, validation: Values | null = null): Task =>
  task({ kind: "regression", loss: "mse_loss", values: { window: values(over), validation } });
const language = (over: Partial<Tokens> = {}): Task =>
  task({ kind: "language", tokens: { window: tokens(over), validation: null } });
const empty = { window: null, epoch: null, validation: null, before: null, epochs: [], without: 0, without_from: 0 };

function open(state: State) {
  HTMLCanvasElement.prototype.getContext = vi.fn(() => null) as never;
  const model = fakeModel(pack("watch", state), true);
  const el = document.createElement("div");
  document.body.replaceChildren(el);
  widget.render({ model, el });
  return {
    el,
    one: (what: string) => el.querySelector(what) as HTMLElement,
    tabs: () =>
      [...el.querySelectorAll<HTMLElement>(".vt-w-tabs > button")].filter((b) => !b.hidden).map((b) => b.dataset["key"]),
    notify: async (over: Parameters<typeof delta>[0]) => {
      const bytes = pack("delta", delta(over));
      model.fire("msg:custom", { type: "delta" }, [new DataView(bytes.buffer)]);
      await frame();
    },
  };
}

const of = (one: Task | undefined, over: Partial<State> = {}): State =>
  run({ accuracy: empty, classes: [], ...(one ? { task: one } : {}), ...over });

afterEach(() => vi.restoreAllMocks());

describe("what stands beside the curve", () => {
  it("follows the task: predictions, positions, nothing, classes", () => {
    const beside = (state: State) => open(state).one(".vt-w-mainrow").lastElementChild?.getAttribute("aria-label");
    expect(beside(of(regression()))).toBe("prediction against target");
    expect(beside(of(language()))).toBe("loss by position");
    expect(beside(of(task({ kind: "loss" })))).toBe(null);
    expect(beside(run())).toBe("accuracy by class");
    expect(kindOf(of(undefined))).toBe("classification");
    expect(kindOf(of(task({})))).toBe("classification");
  });

  it("says why there is nothing beside it", () => {
    expect(open(of(task({ kind: "loss" }))).one(".vt-w-mainrow").textContent).toContain("names no targets");
    const constant = open(of(task({ kind: "loss", constant: "mse_loss" }))).one(".vt-w-mainrow").textContent;
    expect(constant).toContain("all targets of mse_loss are the same");
  });

  it("changes when the loop does", async () => {
    const { one, notify, tabs } = open(run());
    expect(tabs()).toEqual(["confusion", "flow", "health", "filters", "log"]);
    await notify({ task: regression() });
    expect(one(".vt-w-mainrow").dataset["task"]).toBe("regression");
    expect(tabs()).toEqual(["residuals", "flow", "health", "filters", "log"]);
    expect(one('[role="tab"][data-key="residuals"]').getAttribute("aria-selected")).toBe("true");
  });
});

describe("tabs that have something", () => {
  it("only", () => {
    const none = { ...run().flow, names: [] };
    const health = { ...run().health, layers: [] };
    expect(open(of(regression())).tabs()).toEqual(["residuals", "flow", "health", "filters", "log"]);
    expect(open(of(regression(), { filters: { ...run().filters, choices: [] } as never })).tabs()).not.toContain("filters");
    expect(open(of(task({ kind: "loss" }), { flow: none, health, filters: null })).tabs()).toEqual(["log"]);
    expect(open(run({ several: true })).tabs()).toEqual(["flow", "health", "filters", "log"]);
  });

  it("are opened by their number, as they stand", () => {
    const { one, el } = open(of(language()));
    const press = (key: string) =>
      el.querySelector(".vt-watch")?.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
    press("2");
    expect(one('[role="tab"][data-key="flow"]').getAttribute("aria-selected")).toBe("true");
    press("1");
    expect(one('[role="tab"][data-key="tokens"]').getAttribute("aria-selected")).toBe("true");
    press("6"); // there are five
    expect(one('[role="tab"][data-key="tokens"]').getAttribute("aria-selected")).toBe("true");
  });
});

describe("a regression", () => {
  it("says how good an output is beside the best constant", () => {
    expect(verdict(values(), 0)).toBe("mean error 0.5, best constant 2 · R² of all 2 −0.3");
    expect(verdict(values({ scores: [] }), 0)).toBe("");
    const { one } = open(of(regression()));
    expect(one(".vt-w-mainrow").textContent).toContain("R² 0.9");
    expect(one('[aria-label="errors by output"]').textContent).toContain("−1.5");
    expect(one('[aria-label="worst samples"]').textContent).toContain("#1743");
  });

  it("another output by the list or a click in the table; names are text", async () => {
    const { one } = open(of(regression()));
    expect(one("img")).toBeNull();
    const select = one('select[aria-label="output"]') as HTMLSelectElement;
    expect([...select.options].map((o) => o.text)).toEqual(["east", MARKUP]);
    one('[data-output="1"]').click();
    await frame();
    expect(select.value).toBe("1");
    expect(one(".vt-w-mainrow").textContent).toContain("R² −1.5");
    expect(one('[data-output="1"]').title).toContain("Worse than the best constant");
  });

  it("tells what must be known before its numbers", () => {
    expect(notes(values())).toEqual([]);
    expect(notes(values({ broadcast: true, shape: [9, 9] }))[0]).toContain("broadcast to 9 × 9");
    expect(notes(values({ bad: 1 }))).toEqual(["1 is not finite and left out."]);
    expect(notes(values({ pooled: 784, echo: true }))).toHaveLength(2);
  });

  it("without anything finite", () => {
    const nothing = { n: 0, bad: 3, scores: [], r2: null, worst: [], predicted: nd(new Float32Array(0), [2, 0]) };
    const { one } = open(of(regression({ ...nothing, target: nd(new Float32Array(0), [2, 0]) })));
    expect(one(".vt-w-mainrow").textContent).toContain("R² –");
    expect(one(".vt-w-said").textContent).toContain("3 are not finite");
  });

  it("validation where there is one", async () => {
    const { one } = open(of(regression({}, values({ scores: [score(0.4), score(0.5)] }))));
    const button = one('.vt-w-mainrow [role="tab"][data-key="validation"]') as HTMLButtonElement;
    button.click();
    await frame();
    expect(one(".vt-w-mainrow").textContent).toContain("R² 0.4");
    expect(open(of(regression())).one(".vt-w-mainrow [data-key=validation]").parentElement?.hidden).toBe(true);
  });

  it("rows of outputs, and an axis that seldom moves", () => {
    expect([...row(values().predicted, 1)]).toEqual([4, 5, 6]);
    const first = wider(null, [0, 10], [5]);
    expect(first[0]).toBeLessThan(0);
    expect(wider(first, [0.1, 9.5])).toBe(first);
    expect(wider(first, [0, 20])[1]).toBeGreaterThan(20);
    expect(wider(first, [0, 2])[1]).toBeLessThan(3);
    expect(wider(null, [3], [3])[0]).toBeLessThan(3);
    expect(wider(null, [])).toEqual([0, 1]);
  });
});

describe("a language model", () => {
  it("perplexity, hard places with what stands before, pairs; tokens are text", () => {
    const { one } = open(of(language()));
    expect(one(".vt-w-mainrow").textContent).toContain("Perplexity4.48");
    expect(one(".vt-w-mainrow").textContent).toContain("25.0 % right");
    expect(one('[aria-label="hardest places"] .vt-w-context').textContent).toBe(`a␣ ${MARKUP}`);
    expect(one('[aria-label="hardest places"]').textContent).toContain("–"); // what it was read as was not asked for
    expect(one('[aria-label="most confused tokens"]').textContent).toContain(`${MARKUP}a5`);
    expect(one("img")).toBeNull();
  });

  it("words keep a blank between them, letters do not", () => {
    const place = { step: 1, token: 0, read: 1, loss: 1, position: 2, before: [0, 1] };
    expect(context(tokens({ names: { "0": "the", "1": "cat" } }), place)).toBe("the cat");
    expect(context(tokens({ names: {} }), { ...place, before: [7, 12] })).toBe("7 12");
  });

  it("positions are joined by how often each was seen", () => {
    const w = tokens();
    expect(pieces(w.position as never, w.positions as never, 2)).toEqual([
      { from: 0, to: 1, loss: 1.5 },
      { from: 2, to: 3, loss: 3 },
    ]);
    expect(pieces(w.position as never, w.positions as never, 10)[2]?.loss).toBeNaN();
  });

  it("one token at a time has no positions", () => {
    const { one } = open(of(language({ position: null, positions: null, length: 1 })));
    expect(one('[aria-label="hardest places"]').textContent).not.toContain("position");
  });
});
