import { describe, expect, it } from "vitest";
import { controls } from "../src/ranks/bar";
import widget from "../src/ranks/page";
import { ticks } from "../src/ranks/svg";
import type { Lane, Row, State, Step } from "../src/ranks/types";
import { open } from "./report";

const lane = (rank: number, waited: number): Lane => ({
  rank,
  spans: [
    { kind: "load", begin: 0, end: 1 },
    { kind: "forward", begin: 1, end: 20 },
    { kind: "backward", begin: 20, end: 60 },
    ...(waited ? [{ kind: "wait", begin: 60, end: 60 + waited }] : []),
    { kind: "optimizer", begin: 80, end: 83 },
  ],
  exchanges: [{ bucket: 0, name: "all_reduce", ready: 60, begin: 60 + waited, end: 80 }],
  waited,
  last: waited ? 1 : -1,
});
const STEP: Step = { number: 7, total: 83, lanes: [lane(0, 13.2), lane(1, 0)], last: 1, meet: 73.2 };
const row = (rank: number, over: Partial<Row> = {}): Row => ({
  rank,
  host: "node",
  pid: 1,
  loss: 0.5,
  alone: 12,
  waited: 13.2,
  share: 0.16,
  memory: 1e6,
  seen: null,
  finding: "",
  warn: false,
  ...over,
});
const nd = (values: number[], shape = [values.length]) => ({ data: new Float32Array(values), shape });
const state = (over: Partial<State> = {}): State => ({
  title: "main",
  report: "the report",
  state: "Finished",
  done: 8,
  speed: 12,
  ranks: 2,
  hosts: 1,
  backend: "mpi",
  waiting: 0.1,
  alarm: null,
  at: { data: new Int32Array([0, 1]), shape: [2] },
  losses: nd([2, 1, 2.5, NaN], [2, 2]),
  mean: nd([2.25, 1]),
  low: nd([2, 1]),
  high: nd([2.5, 1]),
  newest: STEP,
  middle: STEP,
  of: 8,
  verdict: "Rank 1 holds the others up. It loads.",
  more: "All-reduce: 1 bucket.",
  rows: [row(0), row(1, { finding: "last in 8 of 8 steps", warn: true })],
  parting: null,
  bar: null,
  ...over,
});
const shown = (over: Partial<State> = {}): HTMLElement => open(widget, "ranks", state(over)).el;
const chosen = (host: HTMLElement): string => host.querySelector(".vt-rk-sel")?.getAttribute("data-rank") ?? "";

describe("the ranks", () => {
  it("begin with the one that is named, and a digit, a key or a click chooses another", () => {
    const host = shown();
    expect(chosen(host)).toBe("1");
    const press = (key: string): void => {
      const on = host.querySelector(".vt-rk-sel") as HTMLElement;
      on.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    };
    press("0");
    expect(chosen(host)).toBe("0");
    press("ArrowDown");
    expect(chosen(host)).toBe("1");
    press("7");
    expect(chosen(host)).toBe("1");
    (host.querySelector("[data-rank='0']") as HTMLElement).click();
    expect(chosen(host)).toBe("0");
  });

  it("wait for a rank, in milliseconds and hatched", () => {
    const host = shown();
    const titles = [...host.querySelectorAll(".vt-rk-time title")].map((one) => one.textContent);
    expect(titles).toContain("waits 13.2 ms for rank 1");
    expect(titles).toContain("all_reduce of bucket 0, 6.8 ms");
    expect(host.querySelector(".vt-rk-time")?.textContent).toContain("all wait until rank 1 arrives");
  });

  it("show text as text, and losses that are missing as gaps", () => {
    const alarm = { title: "Rank 1 raised <i>", text: "<b>no data</b>", bad: true };
    const host = shown({ alarm, state: "Ended" });
    expect(host.querySelector(".vt-rk-fatal")?.textContent).toContain("<b>no data</b>");
    expect(host.querySelector(".vt-rk-fatal i")).toBeNull();
    expect(host.innerHTML).not.toContain("NaN");
  });

  it("say that a run is as it was saved where no kernel answers", () => {
    expect(shown({ state: "Running" }).querySelector(".vt-rk-state")?.textContent).toBe("As saved");
    expect(shown().querySelector(".vt-rk-state")?.textContent).toBe("Finished");
  });

  it("have a page before the first step", () => {
    const none = nd([]);
    const over = { newest: null, middle: null, of: 0, losses: nd([], [2, 0]), mean: none, low: none, high: none };
    expect(shown({ ...over, at: none, verdict: "", more: "" }).textContent).toContain("no step yet");
  });
});

describe("an axis", () => {
  it("has round steps", () => {
    expect(ticks(83, 5)).toEqual([0, 20, 40, 60, 80]);
    expect(ticks(0, 5)).toEqual([0]);
  });

  it("says where ranks part instead of how they train", () => {
    const el = shown({
      parting: {
        title: "Ranks part at step 1: <b>w</b> differs first on rank 1",
        text: "Then `g += 1` writes it.",
        apart: true,
        rank: 1,
        step: 1,
        rows: [
          { tensor: "w", when: "forward begins, step 1", sums: ["51d0", "a03b"], odd: [false, true], differs: 0.5, first: true },
        ],
        file: "train.py",
        code: [{ number: 14, text: "    g += 1", hit: true }],
        seeds: [{ name: "torch.initial_seed()", values: ["0", "7"], odd: [false, true] }],
        cure: "`torch.manual_seed(0)` on every rank.",
        notes: ["<i>a note</i>"],
      },
    });
    expect(el.querySelector(".vt-rk-alarm b")?.textContent).toContain("<b>w</b> differs first on rank 1");
    expect(el.querySelector(".vt-rk-alarm code")?.textContent).toBe("g += 1");
    expect([...el.querySelectorAll(".vt-rk-firstly td")].map((td) => td.textContent)).toEqual([
      "w",
      "forward begins, step 1",
      "51d0",
      "≠ a03b",
      "0.5000",
    ]);
    expect([...el.querySelectorAll("table")].map((one) => one.querySelectorAll("th").length)).toEqual([5, 3]);
    expect(el.querySelector(".vt-rk-hit")?.textContent).toBe("14    g += 1");
    expect(el.querySelector(".vt-rk-cure code")?.textContent).toBe("torch.manual_seed(0)");
    expect(el.textContent).toContain("<i>a note</i>");
    expect(el.querySelector(".vt-rk-losses")).toBeNull();
  });

  it("offers to pause, step and stop all ranks while they run", () => {
    const bar = { on: true, paused: false, say: "", rate: 0.1 };
    const going = open(widget, "ranks", state({ state: "Running", bar }));
    const of = (word: string): HTMLButtonElement => going.el.querySelector(`.vt-rk-bar0 [data-do=${word}]`)!;
    expect(of("pause").textContent).toBe("Pause");
    expect(of("step").disabled).toBe(true);
    expect(going.el.querySelector<HTMLInputElement>(".vt-rk-bar0 input")!.value).toBe("0.1");
    expect(shown().querySelector<HTMLElement>(".vt-rk-bar0")!.hidden).toBe(true);
  });
});

describe("the controls of all ranks", () => {
  const bar = (say: string) => ({ on: true, paused: true, rate: 0.1, say });

  it("keep a refused learning rate in sight until something else is typed or asked", () => {
    const hands = controls();
    hands.update(state({ bar: bar("Paused after step 7.") }), true);
    const field = hands.root.querySelector("input")!;
    const note = hands.root.querySelector(".vt-note")!;
    field.value = "fast";
    field.dispatchEvent(new Event("input"));
    field.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter" }));
    expect(note.textContent).toContain("not “fast”");
    hands.update(state({ bar: bar("Paused after step 7, 48 ms after the click.") }), true);
    expect(note.textContent).toContain("not “fast”");
    field.value = "0.01";
    field.dispatchEvent(new Event("input"));
    hands.update(state({ bar: bar("Paused after step 7, 48 ms after the click.") }), true);
    expect(note.textContent).toBe("Paused after step 7, 48 ms after the click.");
  });
});
