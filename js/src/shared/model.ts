// What a front end hands to a widget: the part of anywidget's model that the pages use. A page that stands in the
// notebook as HTML finds the model of its view by the key that both carry, whichever of them comes first.

export interface Model {
  get(name: string): unknown;
  on(event: string, listener: (...given: never[]) => void): void;
  off(event: string, listener: (...given: never[]) => void): void;
  send?(message: unknown): void;
}

export interface Stage {
  model: Model;
  el: HTMLElement;
  signal?: AbortSignal;
}

/** Why no kernel answers, as a page says it. */
export const RESTARTED = "The kernel was restarted: this shows what was recorded. Run the cell again to go on.";
export const GONE = "The kernel is gone: this shows what was recorded. Run the cell again to go on.";
export const UNANSWERED = "The kernel has not answered yet: it is busy, or was restarted. What was recorded is shown.";
export const CLOSED = "This view no longer asks the kernel: it shows what was recorded. Run the cell again to go on.";
export const UNMET = "No kernel answers for this view: it shows what was recorded. Run the cell again to go on.";

const PATIENCE = 3000; // from a question to the remark that nobody has answered

/** Listen to the model until the signal ends it. */
export function listen(model: Model, event: string, listener: (...given: never[]) => void, signal: AbortSignal): void {
  if (signal.aborted) return;
  model.on(event, listener);
  signal.addEventListener("abort", () => model.off(event, listener), { once: true });
}

/** True where a kernel answers; ask each time, for it may be gone since. */
export const answers = (model: Model): boolean => model.get("live") === true && Boolean(model.send);

interface Meeting {
  models: Map<string, Model>;
  arrivals: EventTarget;
}

// One for the whole window: each kind of page is a module of its own.
const meeting = (): Meeting =>
  ((globalThis as { vistorchMeeting?: Meeting }).vistorchMeeting ??= { models: new Map(), arrivals: new EventTarget() });

/** Make a model known to the page that carries its key. */
export function offer(model: Model, signal: AbortSignal): void {
  const key = model.get("key");
  if (typeof key !== "string" || !key) return;
  const { models, arrivals } = meeting();
  models.set(key, model);
  signal.addEventListener("abort", () => models.get(key) === model && models.delete(key), { once: true });
  arrivals.dispatchEvent(new Event(key));
}

/** Call back with the model of a key, at once or when it arrives; until the signal. */
export function meet(key: string, met: (model: Model) => void, signal: AbortSignal): void {
  const { models, arrivals } = meeting();
  const found = models.get(key);
  if (found) met(found);
  else arrivals.addEventListener(key, () => met(models.get(key) as Model), { once: true, signal });
}

/**
 * A model that reports the end of its connection: `live` is then false, what is sent goes nowhere, and the listeners
 * of "change:live" are called. `own` are values that stand in place of the model's.
 */
export class Line implements Model {
  /** Why no kernel answers; "" while one may. */
  lost = "";
  /** Said while a question waits for too long, and "" once an answer came. */
  waits: (why: string) => void = () => {};
  #late: ReturnType<typeof setTimeout> | undefined;
  #model: Model;
  #own: Record<string, unknown>;
  #listeners = new Set<() => void>();

  constructor(model: Model, signal: AbortSignal, own: Record<string, unknown> = {}) {
    this.#model = model;
    this.#own = own;
    if (!answers(model)) return;
    // The front end lets go of every comm when its kernel restarts; a kernel that closes a view says so first.
    listen(model, "comm_live_update", () => this.end(RESTARTED), signal);
    listen(model, "change:live", () => model.get("live") !== true && this.end(CLOSED), signal);
    listen(model, "comm:close", () => this.end(CLOSED), signal);
    listen(model, "msg:custom", () => this.#answered(), signal);
    signal.addEventListener("abort", () => clearTimeout(this.#late), { once: true });
  }

  /** No kernel answers from now on. */
  end(why: string): void {
    if (this.lost) return;
    this.lost = why;
    clearTimeout(this.#late);
    for (const listener of [...this.#listeners]) listener();
  }

  #answered(): void {
    clearTimeout(this.#late);
    this.#late = undefined;
    if (!this.lost) this.waits("");
  }

  get(name: string): unknown {
    if (name === "live" && this.lost) return false;
    return name in this.#own ? this.#own[name] : this.#model.get(name);
  }

  on(event: string, listener: (...given: never[]) => void): void {
    if (event === "change:live") this.#listeners.add(listener as () => void);
    else this.#model.on(event, listener);
  }

  off(event: string, listener: (...given: never[]) => void): void {
    if (event === "change:live") this.#listeners.delete(listener as () => void);
    else this.#model.off(event, listener);
  }

  send(message: unknown): void {
    if (this.lost) return;
    this.#late ??= setTimeout(() => this.waits(UNANSWERED), PATIENCE);
    try {
      this.#model.send?.(message);
    } catch {
      this.end(GONE);
    }
  }
}
