// The controls: each asks the kernel at once, and one line says what was asked and what became of it. What cannot act
// now stays where it is and says why.

import { el, on } from "../shared/dom";
import { count } from "../shared/format";
import { type Icon, icon } from "./icons";
import { rate } from "./numbers";
import type { Part, View } from "./view";
import { unchanged } from "./view";

const IDLE = "Controls act at the next step boundary.";

interface Control {
  root: HTMLButtonElement;
  /** What it is called, and why it cannot act; "" where it can. */
  set(name: string, text: string, sign: Icon | "", why: string): void;
}

export interface Controls extends Part {
  /** A key of the panel; whether it was one. */
  key(key: string): boolean;
  /** What the kernel answered. */
  answered(word: string, say: string, refused: boolean): void;
  asked(word: string): void;
}

export function controls(view: View, keys: () => void): Controls {
  const { signal } = view;
  const said = el("span.vt-said", { role: "status" });
  let held = ""; // what was asked, until something new is known
  let heldAt = "";

  /** What an answer stands for as long as it stays the same: what was done last, and the status. */
  const mark = (): string => {
    const { head, log } = view.state;
    return `${log.items[log.items.length - 1]?.number ?? 0} ${head.status}`;
  };
  const report = (text: string, kind: "" | "wait" | "bad" | "done" | "note"): void => {
    const bold = kind === "done" || kind === "bad" ? (/^[^.]*?(?=[,.;:]\s|[.]?$)/.exec(text)?.[0] ?? "") : "";
    if (said.textContent === text && said.dataset["kind"] === kind) return;
    said.dataset["kind"] = kind;
    said.title = text;
    said.replaceChildren(...(bold ? [el("b", { text: bold }), text.slice(bold.length)] : [text]));
  };
  const why = (word: string): string =>
    view.live ? (view.state.head.why[word] ?? "") : "No kernel answers: this is what was stored.";

  function control(key: string, does: () => void): Control {
    const [drawing, label] = [el("span.vt-w-mark"), el("span")];
    const root = el("button.vt-w-do", { type: "button", "aria-keyshortcuts": key || null }, drawing, label);
    const same = unchanged();
    let reason = "";
    on(
      root,
      "click",
      () => {
        if (!reason) return does();
        held = "";
        report(`Not now. ${reason}`, "bad");
        heldAt = mark();
      },
      signal,
    );
    return {
      root,
      set(name, text, sign, given) {
        reason = given;
        if (same(name, text, sign, given)) return;
        root.setAttribute("aria-label", name);
        root.setAttribute("aria-disabled", String(Boolean(given)));
        root.title = given || (key ? `${name}  ${key}` : name);
        label.textContent = text;
        drawing.replaceChildren(...(sign ? [icon(sign)] : []));
        drawing.hidden = !sign;
      },
    };
  }

  const pause = control("p", () => view.ask(view.state.head.status === "paused" ? "resume" : "pause"));
  const step = control("s", () => view.ask("step"));
  const stop = control("", () => view.ask("stop"));
  const snapshot = control("", () => view.ask("snapshot"));
  const stepper = control("b", () => view.ask("stepper"));
  const set = control("", () => setRate());
  const back = control("", () => view.ask("rewind", choice.value ? { step: Number(choice.value) } : {}));

  // the learning rate
  const field = el("input", { type: "text", inputmode: "decimal", autocomplete: "off", spellcheck: "false" });
  const group = el("select", { "aria-label": "parameter group" });
  const refused = el("span.vt-refused", { role: "alert" });
  let dirty = false;
  const refuse = (text: string): void => {
    refused.textContent = text;
    field.setAttribute("aria-invalid", String(Boolean(text)));
  };
  function setRate(): void {
    const value = Number(field.value.trim().replace("−", "-"));
    if (why("lr")) return report(`Not now. ${why("lr")}`, "bad");
    if (!field.value.trim() || !Number.isFinite(value) || value <= 0) return refuse("needs a positive number");
    refuse("");
    dirty = false;
    view.ask("lr", group.value ? { value, group: Number(group.value) } : { value });
  }
  on(
    field,
    "input",
    () => {
      dirty = true;
      refuse("");
    },
    signal,
  );
  on(
    field,
    "keydown",
    (e) => {
      if (e.key === "Enter") setRate();
      else if (e.key === "Escape") {
        dirty = false;
        refuse("");
        paint();
        (root.closest(".vt-watch") as HTMLElement | null)?.focus();
      } else return;
      e.preventDefault();
      e.stopPropagation();
    },
    signal,
  );
  const choice = el("select", { "aria-label": "snapshot to go back to" });
  const label = el("label.vt-w-lr", {}, el("span", { text: "learning rate" }), field);
  const hints = el(
    "span.vt-w-hints",
    { "aria-hidden": "true" },
    ...[
      ["p", "pause"],
      ["s", "step"],
      ["?", "keys"],
    ].flatMap(([key, text]) => [el("kbd", { text: key as string }), el("span", { text: text as string })]),
  );
  const bar = el(
    "div.vt-w-controls",
    { role: "toolbar", "aria-label": "controls of the run" },
    el("span.vt-w-group", {}, pause.root, step.root, stop.root),
    el("span.vt-w-group", {}, label, group, set.root),
    el("span.vt-w-group", {}, back.root, choice, snapshot.root),
    el("span.vt-w-group.vt-w-last", {}, stepper.root),
  );
  const root = el("div.vt-w-hands", {}, bar, el("div.vt-w-line", {}, said, refused, hints));
  if (!view.live) bar.hidden = hints.hidden = true;
  for (const join of [set.root, choice]) join.classList.add("vt-w-joined");
  for (const join of [field, back.root]) join.classList.add("vt-w-joins");
  const sameSteps = unchanged();
  const sameGroups = unchanged();

  function paint(): void {
    const { head, snapshots, log } = view.state;
    hints.hidden = !view.live;
    if (!view.live) held = ""; // what was asked is never answered now
    const paused = head.status === "paused";
    if (paused) pause.set("resume", "Resume", "resume", why("resume"));
    else pause.set("pause", "Pause", "pause", why("pause"));
    pause.root.classList.toggle("vt-w-main", paused && view.live);
    step.set("one step", "Step", "step", why("step"));
    stop.set("stop and keep", "Stop and keep", "stop", why("stop"));
    set.set("set the learning rate", "Set", "", why("lr"));
    field.disabled = Boolean(why("lr"));
    field.title = why("lr") || "learning rate  l";
    snapshot.set("snapshot", "Snapshot", "", why("snapshot"));
    back.set("rewind", "Rewind to", "rewind", why("rewind"));
    stepper.set("open the stepper", "Stepper", "stepper", why("stepper"));
    const rates = head.lr ?? [];
    if (!sameGroups(rates.length)) {
      group.hidden = rates.length < 2;
      group.replaceChildren(
        el("option", { value: "", text: "all groups" }),
        ...rates.map((_, i) => el("option", { value: String(i), text: `group ${i}` })),
      );
    }
    if (!dirty && document.activeElement !== field) field.value = head.lr ? rate(rates[Number(group.value) || 0]) : "";
    const steps = snapshots?.steps ?? [];
    if (!sameSteps(String(steps))) {
      const before = choice.value;
      const newest = before === choice.options[0]?.value;
      choice.replaceChildren(
        ...[...steps].reverse().map((at) => el("option", { value: String(at), text: `step ${count(at)}` })),
      );
      if (!steps.length) choice.append(el("option", { value: "", text: "none yet" }));
      if (!newest && steps.map(String).includes(before)) choice.value = before;
    }
    choice.disabled = !steps.length || !view.live;
    choice.title = why("rewind") || "snapshots  r";
    // an answer stays until the loop has done something
    const last = log.items[log.items.length - 1];
    if (heldAt === mark() && !view.cut) {
      if (held) return report(held, "wait");
      if (said.dataset["kind"] === "bad") return;
    }
    held = "";
    if (view.cut) return report(view.cut.sentence, "note");
    const bad = head.status === "error" || Boolean(head.alarm?.now) || /refused$/.test(last?.what ?? "");
    let text = "";
    if (head.status !== "running") text = head.say;
    else if (head.alarm) text = `${head.alarm.say} ${head.alarm.way}`;
    else if (last) {
      const what = `${last.what[0]?.toUpperCase() ?? ""}${last.what.slice(1)}`;
      const where = last.what.startsWith("rewound") ? "" : ` at step ${count(last.step)}`;
      text = `${what}${where}${last.effect ? `; ${last.effect}` : ""}.`;
    }
    // What hinders the panel has its place in this line: a block of its own would move all that is below.
    const also = head.says.join(" ");
    if (text) report(also ? `${text} ${also}` : text, bad ? "bad" : "done");
    else report(also || (view.live ? IDLE : ""), also ? "note" : "");
  }

  function key(name: string): boolean {
    const press = { p: pause, s: step, b: stepper }[name];
    if (press) press.root.click();
    else if (name === "l") {
      if (why("lr")) report(`Not now. ${why("lr")}`, "bad");
      field.focus();
      field.select();
    } else if (name === "r") {
      if (why("rewind")) report(`Not now. ${why("rewind")}`, "bad");
      choice.focus();
    } else if (name === "?") keys();
    else return false;
    return true;
  }

  return {
    root,
    paint,
    key,
    asked(word) {
      held = `${word}: asked …`;
      heldAt = mark();
      report(held, "wait");
    },
    answered(word, say, no) {
      if (!no) {
        if (held) report((held = say || "asked; acts at the next step"), "wait");
        return;
      }
      held = "";
      heldAt = mark();
      if (word === "lr") refuse(say.replace(/^lr: /, ""));
      report(say.replace(/^\w+: /, ""), "bad");
    },
  };
}
