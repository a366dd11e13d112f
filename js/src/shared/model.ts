// What a front end hands to a widget: the part of anywidget's model that the pages use.

export interface Model {
  get(name: string): unknown;
  on(event: string, heard: (...given: never[]) => void): void;
  off(event: string, heard: (...given: never[]) => void): void;
  send?(message: unknown): void;
}

export interface Stage {
  model: Model;
  el: HTMLElement;
  signal?: AbortSignal;
}

/** Listen to the model until the signal ends it. */
export function hear(model: Model, event: string, heard: (...given: never[]) => void, signal: AbortSignal): void {
  if (signal.aborted) return;
  model.on(event, heard);
  signal.addEventListener("abort", () => model.off(event, heard), { once: true });
}
