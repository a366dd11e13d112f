// A card for each axis: its name and size, the part it plays, and a slider for what it chooses.

import { atEnd, button, el, glyph, on } from "../shared/dom";
import { still } from "../shared/theme";
import { ROLE_NAMES } from "./axes";
import type { CardContext } from "./context";
import type { Role } from "./types";

const PACE = 160;

interface Part {
  axis: number;
  role: HTMLSelectElement;
  range: HTMLInputElement;
  fixed: HTMLElement;
  at: HTMLElement;
  play: HTMLButtonElement;
}

export class AxesBar {
  readonly box = el("div.vt-axes");
  /** The slider that keys turn. */
  active = -1;
  #context: CardContext;
  #parts: Part[];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #playing = -1;

  constructor(context: CardContext, dims: readonly string[]) {
    this.#context = context;
    this.#parts = dims.map((name, axis) => this.#part(name, axis));
    atEnd(context.signal, () => clearTimeout(this.#timer));
    this.show();
  }

  #part(name: string, axis: number): Part {
    const { pose, signal } = this.#context;
    const size = pose.shape[axis] as number;
    const options = ROLE_NAMES.map(([role, text]) => el("option", { value: role, text }));
    const role = el(
      "select",
      { "aria-label": `role of axis ${name}` },
      ...options,
      el("option", { value: "play", text: "animation" }),
    );
    const unit = pose.fine ? 1 : (pose.block[axis] as number);
    const range = el("input", { type: "range", min: 0, max: Math.max(0, size - 1), step: unit, "aria-label": name });
    const at = el("span.vt-at");
    const fixed = el("span.vt-fixed");
    const play = button(
      "button.vt-ic",
      "",
      `${still() ? "step" : "play"} ${name}  ( p )`,
      () => this.toggle(axis),
      signal,
    );
    const label = el("span.vt-axname", {}, el("b", { text: name, title: name }), String(size));
    const turn = el("span.vt-turn", {}, play, range, at, fixed);
    this.box.append(el("div.vt-ax", {}, label, role, turn));
    on(
      role,
      "change",
      () => {
        const animate = role.value === "play";
        pose.setRole(axis, animate ? "slider" : (role.value as Role));
        this.#stop();
        this.#context.arranged();
        if (animate) this.toggle(axis);
      },
      signal,
    );
    on(
      range,
      "input",
      () => {
        this.active = axis;
        this.#context.chose(pose.cursor.map((i, a) => (a === axis ? range.valueAsNumber : i)));
        this.#stop(); // after the choice: it puts the slider where the cursor is
      },
      signal,
    );
    return { axis, role, range, fixed, at, play };
  }

  /** Start or stop the animation of a slider (the active one where none is named). */
  toggle(axis = this.slider()): void {
    if (axis < 0) return;
    const was = this.#playing;
    this.#stop();
    if (was === axis) return;
    this.active = axis;
    // With reduced motion there is one step for each press.
    if (still()) return this.#step(axis);
    this.#playing = axis;
    const tick = (): void => {
      this.#step(axis);
      this.#timer = setTimeout(tick, PACE);
    };
    this.#timer = setTimeout(tick, PACE);
    this.show();
  }

  slider(): number {
    const { sliders } = this.#context.pose;
    return sliders.includes(this.active) ? this.active : (sliders[0] ?? -1);
  }

  #step(axis: number): void {
    const { pose } = this.#context;
    pose.turn(axis, 1, true);
    this.#context.changed();
  }

  #stop(): void {
    clearTimeout(this.#timer);
    this.#playing = -1;
    this.show();
  }

  show(): void {
    const { pose } = this.#context;
    for (const { axis, role, range, fixed, at, play } of this.#parts ?? []) {
      const now = pose.roles[axis] as Role;
      const moves = now === "slider" || now === "across" || now === "down";
      if (now !== "channels") role.value = now;
      role.disabled = now === "channels" || (pose.image && (now === "rows" || now === "cols"));
      role.hidden = now === "channels";
      range.hidden = !moves;
      fixed.hidden = moves;
      at.hidden = !moves;
      fixed.textContent = now === "channels" ? "colour channels" : "shown whole";
      range.value = String(pose.cursor[axis]);
      at.textContent = moves ? String(pose.cursor[axis]) : "";
      play.hidden = now !== "slider";
      const running = this.#playing === axis;
      if (play.dataset.on !== String(running)) {
        play.dataset.on = String(running);
        play.setAttribute("aria-pressed", String(running));
        play.replaceChildren(glyph(running ? "pause" : "play"));
      }
    }
  }
}
