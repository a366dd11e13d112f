// Guess, then step: what is asked at each step, how answers are read and marked. The same rules as in Python's quiz.

import { num, shapeText } from "../shared/format";
import type { Course } from "./course";
import type { Question } from "./types";

const NEAR = 0.02; // of the answer: how far off a number may be
const NOTHING = 1e-9; // where the answer is 0
const SIGNS: Record<string, number> = { "-": -1, "0": 0, "+": 1, negative: -1, zero: 0, positive: 1, minus: -1, plus: 1 };
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/;

export const WANTED: Record<Question["kind"], string> = {
  number: "a number, please: 0.25, -1/32, 3e-4",
  sign: "a sign, please: −, 0 or +",
  shape: "a shape, please: 32 × 120",
};

export interface Mark {
  how: "right" | "wrong" | "skipped";
  said: string;
  hint: boolean;
}

function numberOf(text: string): number | null {
  const [top, low, more] = text.split("/").map((part) => part.trim());
  if (more !== undefined || !NUMBER.test(top ?? "") || (low !== undefined && !NUMBER.test(low))) return null;
  const value = Number(top) / (low === undefined ? 1 : Number(low));
  return Number.isFinite(value) ? value : null;
}

/** What an answer means; null where it is none. */
export function read(kind: Question["kind"], typed: string): number | number[] | null {
  const text = typed.trim().replace(/−/g, "-").toLowerCase();
  if (kind === "sign") {
    const value = Object.hasOwn(SIGNS, text) ? (SIGNS[text] as number) : numberOf(text);
    return value === null ? null : Math.sign(value);
  }
  if (kind === "shape") {
    const inside = text.replace(/^((?:torch|vistorch)\.size)?\s*[([]+|[)\]]+$/g, "").trim();
    const parts = inside.split(/[\s,x×*]+/).filter(Boolean);
    return parts.length && parts.every((part) => /^\d+$/.test(part)) ? parts.map(Number) : null;
  }
  return numberOf(text);
}

/** Whether an answer is right: a number within 2 %, the sign, the whole shape. */
export function right(question: Question, answer: number | number[]): boolean {
  if (Array.isArray(answer)) return answer.length === question.shape.length && answer.every((n, i) => n === question.shape[i]);
  const wanted = question.answer ?? 0;
  if (question.kind === "sign") return answer === wanted;
  return Math.abs(answer - wanted) <= (wanted ? NEAR * Math.abs(wanted) : NOTHING);
}

/** The answer in words. */
export function answerOf(question: Question): string {
  if (question.kind === "shape") return shapeText(question.shape);
  const value = question.answer ?? 0;
  if (question.kind === "sign") return value < 0 ? "negative" : value > 0 ? "positive" : "zero";
  return num(value).replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "");
}

/** The questions of a pass, and what was answered. */
export class Ask {
  on: boolean;
  readonly marks = new Map<number, Mark>();
  readonly hinted = new Set<number>();
  #course: Course;
  readonly questions = new Map<number, Question>();

  constructor(course: Course, on: boolean) {
    [this.#course, this.on] = [course, on];
    for (let step = 0; step < course.count; step++) {
      const question = course.step(step)[0]?.question;
      if (question) this.questions.set(step, question);
    }
  }

  /** The question of the step where the pass stands; null where there is none. */
  get here(): Question | null {
    return this.on && this.#course.at > 0 ? (this.questions.get(this.#course.at - 1) ?? null) : null;
  }

  get mark(): Mark | null {
    return this.marks.get(this.#course.at - 1) ?? null;
  }

  /** Whether what leaves the node here is hidden. */
  get asking(): boolean {
    return this.here !== null && this.mark === null;
  }

  /** Mark an answer; what to say where it is none. */
  answer(typed: string): string {
    const question = this.here;
    if (!question || this.mark) return "";
    const meant = read(question.kind, typed);
    if (meant === null) return WANTED[question.kind];
    this.#mark(right(question, meant) ? "right" : "wrong", typed.trim());
    return "";
  }

  skip(): void {
    if (this.asking) this.#mark("skipped", "");
  }

  hint(): void {
    if (this.asking) this.hinted.add(this.#course.at - 1);
  }

  #mark(how: Mark["how"], said: string): void {
    const step = this.#course.at - 1;
    this.marks.set(step, { how, said: said.replace(/-/g, "−"), hint: this.hinted.has(step) });
  }

  get score(): { right: number; answered: number; hints: number } {
    const answered = [...this.marks.values()].filter((mark) => mark.how !== "skipped");
    return { right: answered.filter((mark) => mark.how === "right").length, answered: answered.length, hints: this.hinted.size };
  }
}
