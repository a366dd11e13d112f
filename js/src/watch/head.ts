// The head: where the run is, in a word with a sign and seven numbers, and how far it has come.

import { el } from "../shared/dom";
import { bytes, count } from "../shared/format";
import { sourceChip } from "../shared/source_chip";
import { icon } from "./icons";
import { clock, NONE, one, ordinal, speed } from "./numbers";
import type { Part, View } from "./view";
import { unchanged } from "./view";

/** A label over a number; the number is strong, what stands after it is not. */
function stat(
  label: string,
  name = "",
): { root: HTMLElement; put(strong: string, rest?: string): void; call(label: string): void } {
  const [a, b, above] = [el("b"), el("span"), el("div.vt-w-label", { text: label })];
  const value = el("div", { class: name ? `vt-w-value ${name}` : "vt-w-value" }, a, b);
  return {
    root: el("div.vt-w-stat", {}, above, value),
    put(strong, rest = "") {
      if (a.textContent !== strong) a.textContent = strong;
      if (b.textContent !== rest) b.textContent = rest;
    },
    call(text) {
      if (above.textContent !== text) above.textContent = text;
    },
  };
}

export function head(view: View): Part {
  const word = el("span.vt-status");
  const sign = el("span.vt-w-sign");
  const pill = el("div.vt-w-pill", { role: "status" }, sign, word);
  const [step, epoch, pace, left, over, device] = [
    stat("step", "vt-step"),
    stat("epoch"),
    stat("speed"),
    stat("time left"),
    stat("overhead", "vt-overhead"),
    stat("device, memory"),
  ];
  const done = el("i");
  const marks = el("span.vt-w-marks");
  const bar = el("div.vt-w-progress", { "aria-hidden": "true" }, done, marks);
  const title = el("span");
  const whose = el("span");
  const name = el("div.vt-w-title", {}, title, whose);
  const stats = [step, epoch, pace, left, over, device].map((one) => one.root);
  const root = el("div.vt-w-top", {}, name, el("div.vt-w-head", {}, pill, ...stats), bar);
  const sameStatus = unchanged();
  const sameMarks = unchanged();
  const sameLibrary = unchanged();

  function paint(): void {
    const { head: h } = view.state;
    const { cut } = view;
    if (!sameStatus(h.status, h.alarm?.kind, cut?.word)) {
      sign.replaceChildren(icon(cut ? "interrupted" : h.status));
      word.textContent = cut ? cut.word : h.status === "ended" && h.alarm ? `ended, ${h.alarm.kind}` : h.status;
    }
    const over100 = h.overhead;
    title.textContent = view.state.title;
    const library = h.library ?? "vistorch";
    name.hidden = !view.state.title && library === "vistorch";
    if (!sameLibrary(library)) whose.replaceChildren(sourceChip(library, "whose model this is"));
    const nth = h.tries > 1 ? `, ${ordinal(h.tries)} try` : "";
    step.call(`step${nth}`);
    step.put(count(h.step), h.steps ? ` of ${count(h.steps)}` : "");
    step.root.title = nth ? "steps of the weights; a rewind took back those that were undone" : "";
    epoch.put(h.epoch ? count(h.epoch) : NONE, h.epoch && h.epochs ? ` of ${count(h.epochs)}` : "");
    pace.put(speed(h.speed), h.speed === null ? "" : " steps/s");
    if (cut) left.put(NONE);
    else if (h.status === "running" || h.status === "waiting") left.put(h.left === null ? NONE : clock(h.left));
    else if (h.status === "paused") left.put("paused");
    else left.put("took", ` ${clock(h.seconds)}`);
    over.put(h.step || over100 ? one(over100) : NONE);
    over.root.title = Object.entries(h.cost)
      .map(([name, ms]) => `${name} ${Number(ms).toFixed(1)} ms`)
      .join("\n");
    device.put(h.device, h.memory ? ` ${bytes(h.memory[0] ?? 0)} of ${bytes(h.memory[1] ?? 0)}` : "");
    const said = h.parameters ? `${device.root.lastChild?.textContent}, ${count(h.parameters)} parameters` : "";
    if (device.root.title !== said) device.root.title = said;
    const whole = h.status === "finished" && h.step > 0;
    done.style.transform = `scaleX(${whole ? 1 : h.steps ? Math.min(1, h.step / h.steps) : 0})`;
    bar.hidden = false;
    if (!sameMarks(h.steps, h.epoch_steps, h.tries)) {
      const inner = h.steps && h.epoch_steps && h.tries <= 1 ? Math.ceil(h.steps / h.epoch_steps) - 1 : 0;
      marks.replaceChildren();
      if (inner > 0 && inner < 50) {
        for (let k = 1; k <= inner; k++) {
          const mark = el("b");
          mark.style.left = `${(100 * k * (h.epoch_steps ?? 0)) / (h.steps ?? 1)}%`;
          marks.append(mark);
        }
      }
    }
  }
  return { root, paint };
}
