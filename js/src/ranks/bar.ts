// What can be asked of all ranks: pause, a step, stop, another learning rate. One bar for as long as the panel is open,
// since what shows the run is drawn anew several times a second.

import { el } from "../shared/dom";
import { listen, type Model } from "../shared/model";
import type { State } from "./types";

export interface Controls {
  root: HTMLElement;
  /** Follow the run. */
  update(state: State, live: boolean): void;
  /** Ask for something, if it is offered. */
  ask(word: string): void;
  /** Move to the model of the page as it is now. */
  meet(model: Model, signal: AbortSignal): void;
}

export function controls(): Controls {
  let model: Model | null = null;
  let number = 0;
  let refused = ""; // stays until the next thing that is asked or typed
  const words = new Map<string, HTMLButtonElement>();
  const send = (word: string, value?: number): void => {
    refused = "";
    model?.send?.({ type: "do", id: ++number, do: word, ...(value === undefined ? {} : { value }) });
  };
  const button = (text: string, does: () => void): HTMLButtonElement => {
    const one = el("button", { type: "button", text });
    // The press, not the click: between press and release the bar may be put into another drawing of the run.
    one.addEventListener("pointerdown", (e) => e.button === 0 && !one.disabled && does());
    one.addEventListener("click", (e) => e.detail === 0 && !one.disabled && does());
    return one;
  };
  const pause = button("Pause", () => send(pause.dataset["do"] ?? "pause"));
  const step = button("Step", () => send("step"));
  const stop = button("Stop and keep", () => send("stop"));
  for (const [word, one] of [["pause", pause], ["step", step], ["stop", stop]] as const) {
    one.dataset["do"] = word;
    words.set(word, one);
  }
  const rate = el("input", { type: "text", inputmode: "decimal", "aria-label": "learning rate", spellcheck: "false" });
  const set = (): void => {
    const value = rate.value.trim() === "" ? NaN : Number(rate.value.trim());
    if (Number.isFinite(value) && value >= 0) {
      send("rate", value);
      typed = false;
    } else say((refused = `A learning rate is a number from 0 on, not “${rate.value.slice(0, 40)}”.`));
  };
  let typed = false;
  rate.addEventListener("input", () => {
    typed = true;
    refused = "";
  });
  rate.addEventListener("keydown", (e) => e.key === "Enter" && set());
  const give = button("Set", set);
  const note = el("span.vt-note", { role: "status" });
  const root = el(
    "div.vt-rk-bar0",
    { role: "toolbar", "aria-label": "all ranks" },
    pause,
    step,
    stop,
    el("label", {}, "Learning rate ", rate),
    give,
    note,
  );
  const say = (text: string): void => void (note.textContent = text);
  function update(state: State, live: boolean): void {
    const bar = state.bar;
    root.hidden = !bar || !live;
    if (!bar) return;
    const paused = bar.paused;
    if (pause.dataset["do"] !== (paused ? "resume" : "pause")) {
      pause.dataset["do"] = paused ? "resume" : "pause";
      pause.textContent = paused ? "Resume" : "Pause";
    }
    pause.disabled = stop.disabled = give.disabled = rate.disabled = !bar.on;
    step.disabled = !bar.on || !paused;
    if (!typed && bar.rate !== null && document.activeElement !== rate) rate.value = String(+bar.rate.toPrecision(6));
    say(refused || bar.say || "Controls act on all ranks at the end of the same step.");
  }
  return {
    root,
    update,
    ask(word) {
      const one = words.get(word);
      if (one && !one.disabled && !root.hidden) send(one.dataset["do"] ?? word);
    },
    meet(to, signal) {
      model = to;
      listen(
        to,
        "msg:custom",
        ((message: { type?: unknown; why?: unknown } | null) => {
          if (message?.type === "refused") say((refused = `${String(message.why).replace(/\.$/, "")}.`));
        }) as (...given: never[]) => void,
        signal,
      );
    },
  };
}
