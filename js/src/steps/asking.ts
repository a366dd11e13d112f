// What asks: the bar with a pip for each question, and the box with the question, its answer and the reason.

import { el, on } from "../shared/dom";
import { num, shapeText } from "../shared/format";
import { math } from "../graph/math";
import { svg } from "../graph/svg";
import { type Ask, answerOf, type Mark } from "./ask";
import type { Known, Question } from "./types";

const MARKS = { right: "M2 6.5l3 3 5-6.5", wrong: "M2.5 2.5l7 7m0-7l-7 7", skipped: "M2 6h8" };
const HINTS: Record<string, string> = { right: "right", wrong: "wrong", skipped: "skipped" };

function sign(how: Mark["how"]): HTMLElement {
  const drawn = svg("svg", { width: 12, height: 12, "aria-hidden": "true" }, svg("path", { d: MARKS[how], fill: "none", stroke: "currentColor", "stroke-width": 2 }));
  return drawn as unknown as HTMLElement;
}

/** Numbers of a sentence with a true minus. */
const minus = (text: string): string => text.replace(/(^|[\s(·=])-(?=[\s\d(])/g, "$1−").replace(/e-(?=\d)/g, "e−");

const short = (value: number): string => num(value).replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "");

function known(one: Known): HTMLElement[] {
  const letter = one.letter ? el("i", { class: one.letter === "g" ? "vt-gradc" : "vt-valuec" }, ...math(one.letter)) : el("b", { text: one.name });
  const value = one.value !== null ? short(one.value) : shapeText(one.shape ?? []);
  return [letter, el("span", { text: one.text }), el("b", { class: one.letter === "g" ? "vt-gradc" : "vt-valuec", text: value })];
}

export interface Deeds {
  /** Answer, hint, skip: the page is painted again. */
  again(): void;
  next(): void;
  toggle(): void;
}

export class Asking {
  readonly bar = el("div.vt-score");
  readonly box = el("div.vt-ask", { role: "group", "aria-label": "guess" });
  #ask: Ask;
  #deeds: Deeds;
  #signal: AbortSignal;
  #shown = "";
  #input: HTMLInputElement | null = null;
  #next: HTMLButtonElement | null = null;

  constructor(ask: Ask, deeds: Deeds, signal: AbortSignal) {
    [this.#ask, this.#deeds, this.#signal] = [ask, deeds, signal];
  }

  /** Put the focus where the answer goes; false where nothing is asked. */
  focus(): boolean {
    const target = this.#ask.asking ? (this.#input ?? this.box.querySelector("button")) : this.#ask.here ? this.#next : null;
    target?.focus({ preventScroll: true });
    return Boolean(target);
  }

  paint(at: number): void {
    const ask = this.#ask;
    this.#bar(at);
    const question = ask.here;
    this.box.hidden = !question;
    const key = question ? `${at} ${ask.mark?.how ?? ""} ${ask.hinted.has(at - 1)}` : "";
    if (key === this.#shown) return;
    this.#shown = key;
    this.#input = this.#next = null;
    this.box.className = `vt-ask${ask.mark ? ` vt-was-${ask.mark.how}` : ""}`;
    this.box.replaceChildren(...(question ? (ask.mark ? this.#answered(question, ask.mark) : this.#open(question, at)) : []));
  }

  #bar(at: number): void {
    const ask = this.#ask;
    this.bar.hidden = !ask.questions.size;
    const toggle = el("button.vt-switch", { type: "button", "aria-pressed": String(ask.on), title: "guess what leaves each node, then see it  a" }, el("i"), "Predict");
    toggle.addEventListener("click", () => this.#deeds.toggle());
    const pips = [...ask.questions.keys()].map((step) => {
      const mark = ask.marks.get(step);
      const here = step === at - 1 && ask.on;
      const kind = mark ? `vt-was-${mark.how}` : here ? "vt-asks" : "";
      return el(`span.vt-pip${kind ? `.${kind}` : ""}` as "span", { title: `step ${step + 1}${mark ? `: ${HINTS[mark.how]}${mark.hint ? ", with the hint" : ""}` : ""}` }, mark ? sign(mark.how) : String(step + 1));
    });
    const { right, answered, hints } = ask.score;
    const said = !ask.on ? "" : answered ? ` of ${answered} right` : `${ask.questions.size} question${ask.questions.size > 1 ? "s" : ""}`;
    this.bar.replaceChildren(
      toggle,
      ...(ask.on ? [el("span.vt-pips", { role: "img", "aria-label": "answers by step" }, ...pips)] : []),
      el("span", { role: "status" }, answered && ask.on ? el("b", { text: String(right) }) : null, said),
      el("span.vt-note", { text: ask.on && hints ? `${hints} hint${hints > 1 ? "s" : ""}` : ask.on ? "" : "guess what leaves each node, then see it" }),
    );
  }

  #open(question: Question, at: number): HTMLElement[] {
    const ask = this.#ask;
    const parts: HTMLElement[] = [el("p.vt-question", { text: minus(question.asks) })];
    if (question.knows.length) parts.push(el("div.vt-know", {}, ...question.knows.flatMap(known)));
    const give = (typed: string): void => {
      const wants = ask.answer(typed);
      if (!wants) return this.#deeds.again();
      if (this.#input) {
        this.#input.value = "";
        this.#input.placeholder = wants;
        this.#input.focus({ preventScroll: true });
      }
    };
    if (question.kind === "sign") {
      const names: Record<string, string> = { "−": "negative", "0": "zero", "+": "positive" };
      const buttons = question.choices.map((choice) => {
        const made = el("button", { type: "button", "data-answer": choice }, el("b", { text: choice }), ` ${names[choice] ?? ""}`);
        on(made, "click", () => give(choice), this.#signal);
        return made;
      });
      parts.push(el("div.vt-signs", {}, ...buttons));
    } else {
      const input = el("input", { type: "text", "aria-label": "your answer", placeholder: question.kind === "shape" ? "a shape: 32 × 120" : "a number", autocomplete: "off", spellcheck: "false" });
      this.#input = input;
      const answers = el("button.vt-run", { type: "button" }, "Answer ", el("span.vt-key", { text: "↵" }));
      on(answers, "click", () => give(input.value), this.#signal);
      on(
        input,
        "keydown",
        (e) => {
          if (e.altKey || e.ctrlKey || e.metaKey || e.shiftKey) return;
          if (e.key === "Enter") give(input.value);
          else if (input.value) return e.stopPropagation();
          else if (e.key === "h") this.#hint();
          else if (e.key === "a") this.#deeds.toggle();
          else if (e.key === "ArrowRight") this.#skip();
          else return e.stopPropagation();
          e.preventDefault();
          e.stopPropagation();
        },
        this.#signal,
      );
      parts.push(el("div.vt-answer-line", {}, input, answers));
    }
    const hinted = ask.hinted.has(at - 1);
    if (hinted) parts.push(el("div.vt-working", {}, el("span", { text: minus(question.hint) })));
    const key = (text: string, said: string, does: (() => void) | null): HTMLElement => {
      const made = el(does ? "button.vt-quiet" : "span", does ? { type: "button" } : {}, el("span.vt-key", { text }), ` ${said}`);
      if (does) on(made as HTMLElement, "click", does, this.#signal);
      return made;
    };
    parts.push(
      el(
        "div.vt-hints",
        {},
        hinted ? el("span", { text: "hint shown: it counts as half" }) : key("h", question.kind === "number" ? "hint: the formula" : "hint", () => this.#hint()),
        key("→", "skip", () => this.#skip()),
        key("a", "ask no more", () => this.#deeds.toggle()),
      ),
    );
    return parts;
  }

  #hint(): void {
    this.#ask.hint();
    this.#deeds.again();
  }

  #skip(): void {
    this.#ask.skip();
    this.#deeds.again();
  }

  #answered(question: Question, mark: Mark): HTMLElement[] {
    const is = answerOf(question);
    const said = mark.how === "right" ? `Right: ${is}.` : mark.how === "skipped" ? `Skipped. It is ${is}.` : `You said ${mark.said}. It is ${is}.`;
    const half = mark.how === "right" && mark.hint ? " With the hint: half a point." : "";
    const next = el("button.vt-quiet", { type: "button" }, el("span.vt-key", { text: "↵" }), " step on");
    on(next, "click", () => this.#deeds.next(), this.#signal);
    this.#next = next;
    return [
      el("p.vt-mark", { role: "status" }, sign(mark.how), said + half),
      el("div.vt-note", { text: minus(question.asks) }),
      el("div.vt-working", {}, el("code", { text: minus(question.working) }), el("span", { text: question.why })),
      el("div.vt-hints", {}, next),
    ];
  }
}

