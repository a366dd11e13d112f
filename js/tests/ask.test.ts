import { describe, expect, it } from "vitest";
import { Ask, answerOf, read, right } from "../src/steps/ask";
import type { Course } from "../src/steps/course";
import type { Question, StepFrame } from "../src/steps/types";

const question = (over: Partial<Question> = {}): Question => ({
  kind: "number", asks: "What gradient does w get?", input: "input", at: [], knows: [], choices: [], answer: -2.5,
  shape: [], working: "1 · 2 · (-1.25) = -2.5", why: "", hint: "g · 2 · error", ...over,
}); // prettier-ignore

// The same cases as tests/debug/steps/test_quiz.py has for Python.
describe("an answer", () => {
  it.each([
    ["number", "-1/32", -1 / 32],
    ["number", "3e-4", 3e-4],
    ["number", "−0.03", -0.03],
    ["number", " .5 ", 0.5],
    ["number", "1/0", null],
    ["number", "", null],
    ["number", "0x10", null],
    ["number", "two", null],
    ["number", "1/2/3", null],
    ["shape", "32x120", [32, 120]],
    ["shape", "(32, 120)", [32, 120]],
    ["shape", "32 × 120", [32, 120]],
    ["shape", "torch.Size([32, 120])", [32, 120]],
    ["shape", "32", [32]],
    ["shape", "()", null],
    ["shape", "a x b", null],
    ["sign", "−", -1],
    ["sign", "+", 1],
    ["sign", "0", 0],
    ["sign", "positive", 1],
    ["sign", "-3.5", -1],
    ["sign", "up", null],
  ] as const)("of a %s is read: %j", (kind, typed, meant) => {
    expect(read(kind, typed)).toEqual(meant);
  });

  it("is right within two percent, a zero only as zero", () => {
    for (const [typed, fine] of [[-2.5, true], [-2.54, true], [-2.56, false], [2.5, false]] as const)
      expect(right(question(), typed), String(typed)).toBe(fine);
    expect(right(question({ answer: 0 }), 1e-10)).toBe(true);
    expect(right(question({ answer: 0 }), 1e-6)).toBe(false);
    expect(right(question({ kind: "shape", shape: [32, 120] }), [32, 120])).toBe(true);
    expect(right(question({ kind: "shape", shape: [32, 120] }), [120, 32])).toBe(false);
    expect(right(question({ kind: "sign", answer: -1 }), -1)).toBe(true);
  });

  it("is said in words", () => {
    expect(answerOf(question())).toBe("−2.5");
    expect(answerOf(question({ kind: "shape", shape: [32, 120] }))).toBe("32 × 120");
    expect(answerOf(question({ kind: "sign", answer: 0 }))).toBe("zero");
  });
});

describe("the questions of a pass", () => {
  const course = (at: number): Course =>
    ({ at, count: 2, step: (i: number) => [{ question: i === 0 ? question() : null } as StepFrame] }) as unknown as Course;

  it("hide what leaves a node until it is answered, once", () => {
    const ask = new Ask(course(1), true);
    expect(ask.asking).toBe(true);
    expect(ask.answer("nothing")).toContain("a number, please");
    expect(ask.asking).toBe(true);
    ask.hint();
    expect(ask.answer("-2.5")).toBe("");
    expect([ask.asking, ask.mark]).toEqual([false, { how: "right", said: "−2.5", hint: true }]);
    expect(ask.answer("7")).toBe("");
    expect(ask.mark?.how).toBe("right");
    expect(ask.score).toEqual({ right: 1, answered: 1, hints: 1 });
  });

  it("count no skipped one, and hide nothing where none is asked", () => {
    const ask = new Ask(course(1), true);
    ask.skip();
    expect(ask.score).toEqual({ right: 0, answered: 0, hints: 0 });
    expect(new Ask(course(2), true).asking).toBe(false);
    expect(new Ask(course(1), false).asking).toBe(false);
    expect(new Ask(course(0), true).asking).toBe(false);
  });
});
