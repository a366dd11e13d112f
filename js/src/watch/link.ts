// The way to the kernel and back: commands with a number and their answers, deltas, and asking for everything where the
// page has missed one.

import { answers, listen, type Model } from "../shared/model";
import { type Raw, unpack } from "../shared/payload";
import { checkDelta, type Delta, fits } from "./merge";
import type { State } from "./types";

const PATIENCE = 1000; // between two questions for everything

interface Message {
  type?: unknown;
  id?: unknown;
  say?: unknown;
  why?: unknown;
}

export interface Link {
  readonly live: boolean;
  /** Send a command; its answer comes as a sentence. */
  send(word: string, fields: Record<string, unknown>, answered: (say: string, refused: boolean) => void): void;
}

/** Listen to the kernel; `came` gets each delta that fits onto the state of the moment, `failed` why one cannot be read. */
export function link(
  model: Model,
  state: () => State,
  came: (delta: Delta) => void,
  failed: (error: Error) => void,
  signal: AbortSignal,
): Link {
  const waiting = new Map<number, (say: string, refused: boolean) => void>();
  let number = 1;
  let asked = -PATIENCE;
  const everything = (): void => {
    if (performance.now() - asked < PATIENCE) return;
    asked = performance.now();
    model.send?.({ type: "all", id: number++ });
  };
  const receive = (message: Message | null, buffers?: Raw[]): void => {
    if (!message || typeof message !== "object") return;
    if (message.type === "delta" && buffers?.[0]) {
      let delta: unknown;
      try {
        delta = unpack(buffers[0]).state;
        checkDelta(delta, "delta");
      } catch (error) {
        return failed(error as Error);
      }
      if (fits(state(), delta as Delta)) came(delta as Delta);
      else everything();
      return;
    }
    if (message.type === "there") {
      model.send?.({ type: "here", id: number++ });
      return;
    }
    if (message.type !== "asked" && message.type !== "refused") return;
    const refused = message.type === "refused";
    waiting.get(message.id as number)?.(String((refused ? message.why : message.say) ?? ""), refused);
    waiting.delete(message.id as number);
  };
  listen(model, "msg:custom", receive as (...given: never[]) => void, signal);
  // What the model holds is as old as its first payload; a view that is opened later has missed what came since.
  if (answers(model)) everything();
  return {
    get live() {
      return answers(model);
    },
    send(word, fields, answered) {
      const id = number++;
      waiting.set(id, answered);
      model.send?.({ type: "do", id, do: word, ...fields });
    },
  };
}
