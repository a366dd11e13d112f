// The alarm where the controls were: what is not finite, since when, and the ways on. Nothing below it moves.

import { el, on } from "../shared/dom";
import { count } from "../shared/format";
import { icon } from "./icons";
import { type Part, put, unchanged, type View } from "./view";

export interface Warning extends Part {
  /** Whether it stands in the place of the controls. */
  shown(): boolean;
  /** A key of it; whether it was one. */
  key(key: string): boolean;
}

/** Whether the alarm is what the panel is about: the loop is held by it, or the run ended with it. */
export function isUp(view: View): boolean {
  const { alarm, status } = view.state.head;
  if (!alarm?.now) return false;
  return (status === "paused" && alarm.how === "paused") || !["running", "paused", "waiting"].includes(status);
}

export function warning(view: View): Warning {
  const { signal } = view;
  const [say, cause, way] = [el("b"), el("span"), el("small")];
  const box = el("div.vt-w-alarmsay", {}, icon("alarm"), el("div", {}, say, " ", cause, way));
  const make = (key: string, does: () => void): { root: HTMLButtonElement; put(text: string, why: string): void } => {
    const label = el("span");
    const root = el(
      "button.vt-w-do",
      { type: "button", "aria-keyshortcuts": key || null },
      label,
      key ? el("kbd", { text: key, "aria-hidden": "true" }) : null,
    );
    let reason = "";
    on(
      root,
      "click",
      () => {
        if (!reason) does();
      },
      signal,
    );
    return {
      root,
      put(text, why) {
        reason = why;
        put(label, text);
        root.setAttribute("aria-disabled", String(Boolean(why)));
        root.title = why;
      },
    };
  };
  const good = (): number | null => view.state.head.alarm?.snapshot ?? null;
  const back = make("r", () => view.ask("rewind", { step: good() }));
  const trace = make("t", () => view.ask("trace"));
  const into = make("i", () => view.ask("into"));
  const onward = make("g", () => view.ask("resume"));
  const stop = make("", () => {
    if (good() !== null) view.ask("rewind", { step: good() });
    view.ask("stop");
  });
  back.root.classList.add("vt-w-main");
  const row = el("div.vt-w-alarmdo", {}, back.root, trace.root, into.root, onward.root, el("span.vt-space"), stop.root);
  const root = el("div.vt-w-alarm", { hidden: true }, box, row);
  const same = unchanged();

  return {
    root,
    shown: () => isUp(view),
    key(key) {
      if (!isUp(view) || !view.live) return false;
      const press = { r: back, t: trace, i: into, g: onward }[key];
      if (!press || press.root.hidden) return false;
      press.root.click();
      return true;
    },
    paint() {
      const { head } = view.state;
      const { alarm } = head;
      root.hidden = !isUp(view);
      if (!alarm || root.hidden) {
        box.removeAttribute("role");
        return;
      }
      if (!box.hasAttribute("role")) box.setAttribute("role", "alert"); // it may be the same alarm that came again
      const held = head.status === "paused";
      if (same(alarm.say, alarm.rest, alarm.way, head.status, head.why["rewind"], head.why["trace"])) return;
      put(say, alarm.say);
      put(cause, alarm.cause);
      put(way, `${alarm.way} ${alarm.rest}`);
      row.hidden = !view.live;
      const why = alarm.snapshot === null ? alarm.way || "There is no snapshot to go back to." : "";
      back.put(alarm.snapshot === null ? "Rewind" : `Rewind to ${count(alarm.snapshot)}`, why);
      for (const one of [trace, into, onward, stop]) one.root.hidden = !held;
      trace.put("Trace that step", head.why["trace"] ?? "");
      into.put("Step into it", head.why["into"] ?? "");
      onward.put("Go on anyway", head.why["resume"] ?? "");
      stop.put(alarm.snapshot === null ? "Stop" : `Stop, keep ${count(alarm.snapshot)}`, head.why["stop"] ?? "");
    },
  };
}
