// Questions to the kernel: each has a number, and the answer with that number ends it. Without a kernel nothing is asked.

import { answers, listen, type Model } from "../shared/model";
import type { Raw } from "../shared/payload";

export interface Answer {
  type: string;
  id: number;
  why?: unknown;
  [more: string]: unknown;
}

export class Kernel {
  #model: Model;
  #next = 1;
  #waiting = new Map<number, (answer: Answer, buffers: Raw[]) => void>();
  /** What comes unasked. */
  onAnswer: (message: Answer) => void = () => {};

  constructor(model: Model, signal: AbortSignal) {
    this.#model = model;
    const receive = (message: Answer | null, buffers?: Raw[]): void => {
      if (!message || typeof message !== "object") return;
      if (message.type === "there") {
        model.send?.({ type: "here", id: this.#next++ });
        return;
      }
      const waiting = this.#waiting.get(message.id);
      this.#waiting.delete(message.id);
      if (waiting) waiting(message, buffers ?? []);
      else if (message.type !== "tile") this.onAnswer(message);
    };
    listen(model, "msg:custom", receive as (...given: never[]) => void, signal);
    listen(model, "change:live", () => this.lost(), signal);
  }

  /** Called when nobody answers any more. */
  lost: () => void = () => {};

  get live(): boolean {
    return answers(this.#model);
  }

  get model(): Model {
    return this.#model;
  }

  /** Ask; false where nobody answers. */
  ask(message: Record<string, unknown>, answered: (answer: Answer, buffers: Raw[]) => void): boolean {
    if (!this.live) return false;
    const id = this.#next++;
    this.#waiting.set(id, answered);
    this.#model.send?.({ ...message, id });
    return true;
  }
}

/** A refusal in words, or "" where it is none. */
export const refused = (answer: Answer): string => (answer.why ? String(answer.why) : "");
