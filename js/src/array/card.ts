// One array (or one parameter with its gradient and update) as a card: the parts, and what keys and pointer do to them.

import { copy, el, on, onWidth, painter, ratio } from "../shared/dom";
import type { Theme } from "../shared/theme";
import { indexText } from "./axes";
import { AxesBar } from "./axesbar";
import { nextBad, whichAt } from "./bad";
import type { CardContext } from "./context";
import { gestures } from "./gestures";
import { Head } from "./head";
import { type Command, commandOf, HELP } from "./keys";
import { Legend } from "./legend";
import { type Lens, lens } from "./lens";
import { planned } from "./plan";
import { Pose } from "./pose";
import { crowded } from "./raster";
import { type Line, readLine } from "./readout";
import { Sheet } from "./sheet";
import { factList, factTable } from "./stats";
import { margins, type Surface, surface } from "./surface";
import { covers, type Kernel, roomy, TileRequests, view } from "./tiles";
import type { Item } from "./types";

export interface Setting {
  theme: Theme;
  signal: AbortSignal;
  kernel: Kernel | null;
  size: number;
  /** The number of the first item in the record. */
  first: number;
  /** The head carries the name (not in an unfolded strip, whose row has it already). */
  named: boolean;
}

const HINT = "click copies the index · wheel zooms · drag pans";

export class Card implements CardContext {
  readonly root: HTMLElement;
  readonly pose: Pose;
  readonly sheets: readonly Sheet[];
  readonly theme: Theme;
  readonly signal: AbortSignal;
  #asks: boolean;
  readonly repaint: () => void;
  #setting: Setting;
  #linked: boolean;
  #head: Head;
  #axes: AxesBar | null = null;
  #lens: Lens | null = null;
  #surfaces: Surface[] = [];
  #legends: Legend[] = [];
  #titles: HTMLElement[] = [];
  #facts: HTMLElement[] = [];
  #line: Line;
  #views: HTMLElement;
  #notes = el("div.vt-note");
  #status = el("span.vt-hidden", { role: "status", "aria-live": "polite" });
  #table = el("div.vt-hidden");
  #help: HTMLElement | null = null;
  #tiles: TileRequests | null = null;
  #width = 640;
  #tableKey = "";

  constructor(items: readonly Item[], setting: Setting) {
    const item = items[0] as Item;
    this.#setting = setting;
    this.theme = setting.theme;
    this.signal = setting.signal;
    this.#asks = setting.kernel !== null && items.some((one) => one.block.some((k) => k > 1));
    this.#linked = items.length > 1;
    this.pose = new Pose(item, this.#asks);
    this.sheets = items.map((one) => new Sheet(one));
    this.repaint = painter(() => this.#paint(), setting.signal);
    this.#line = readLine(this.sheets);
    this.#head = new Head(
      this,
      {
        zoom: (by) => this.obey({ do: "zoom", by }),
        whole: () => this.obey({ do: "fit" }),
        bad: (step) => this.obey({ do: "bad", step }),
        layer: (which) => this.#setLayer(which),
        image: (on) => this.#setImage(on),
        help: () => this.obey({ do: "help" }),
        more: () => this.root.classList.toggle("vt-more"),
      },
      setting.named,
    );
    if (item.shape.length > 2) this.#axes = new AxesBar(this, item.dims);
    if (!this.#linked && item.shape.length > 1) this.#lens = lens(this, this.sheets[0] as Sheet);
    this.#views = el(
      "div",
      { class: this.#linked ? "vt-views vt-three" : "vt-views" },
      ...this.sheets.map((sheet) => this.#view(sheet)),
    );
    this.root = el(
      "div",
      {
        class: "vt-card",
        role: "group",
        "aria-label": `array view of ${item.name || item.index}`,
      },
      this.#head.box,
      this.#axes?.box ?? null,
      el("div.vt-body", {}, this.#views, this.#side(), this.#line.box, ...this.#foot()),
      this.#notes,
      this.#status,
      this.#table,
    );
    if (setting.kernel && this.#asks) this.#tiles = new TileRequests(setting.kernel, setting.signal);
    on(this.root, "keydown", (e) => this.#key(e), setting.signal);
    onWidth(
      this.root,
      (width) => {
        this.#width = width;
        this.arranged();
      },
      setting.signal,
    );
    this.#line.hint(HINT);
  }

  #view(sheet: Sheet): HTMLElement {
    const canvas = el("canvas");
    const picture = surface(canvas, sheet, this.pose, this.theme, {
      part: this.#linked ? "linked" : "main",
      labels: !this.#linked,
      lens: null,
    });
    gestures(this, picture, {
      clicked: (index) => {
        box.focus({ preventScroll: true });
        this.chose(index);
        this.copied(index);
      },
      labelled: (index, open) => this.copied(index, open),
    });
    this.#surfaces.push(picture);
    const { item } = sheet;
    const box = el("div.vt-view", { tabindex: 0, role: "application", "aria-roledescription": "heatmap" }, canvas);
    box.setAttribute(
      "aria-label",
      `${item.role || "heatmap"}, ${item.shape.join(" by ")}; arrow keys move the cursor, ? shows the keys`,
    );
    if (!this.#linked) return box;
    const legend = new Legend(this, sheet, 24);
    this.#legends.push(legend);
    const title = el(
      item.role === "gradient" ? "div.vt-sub.vt-gradc" : "div.vt-sub.vt-valuec",
      { role: "heading", "aria-level": 3 },
      item.role || item.name,
      el("span"),
    );
    this.#titles.push(title.lastChild as HTMLElement);
    legend.say.classList.add("vt-hidden");
    return el("div.vt-one", {}, title, box, legend.box, el("div.vt-sayrow", {}, legend.select, legend.say));
  }

  #side(): HTMLElement | null {
    return this.#lens ? el("div.vt-side", {}, this.#lens.box) : null;
  }

  #foot(): HTMLElement[] {
    if (this.#linked) return [];
    const sheet = this.sheets[0] as Sheet;
    const legend = new Legend(this, sheet);
    this.#legends.push(legend);
    const stats = el("div.vt-statbox");
    this.#facts.push(stats);
    return [legend.box, stats, el("div.vt-sayrow", {}, legend.select, legend.say)];
  }

  changed(): void {
    this.repaint();
  }

  arranged(): void {
    const { pose, root } = this;
    const narrow = this.#width < 600;
    const { left } = margins(pose, !this.#linked);
    const plan = planned(pose, {
      width: this.#width - 26,
      narrow,
      size: this.#setting.size,
      left,
      linked: this.sheets.length,
      lens: this.#lens !== null,
      pooled: this.#item.pooled !== "",
    });
    root.dataset.plan = plan.name;
    root.classList.toggle("vt-narrow", narrow);
    root.style.setProperty("--vt-picture", `${Math.ceil(pose.box.width + left + 1)}px`);
    root.style.setProperty("--vt-lens", `${plan.lens}px`);
    this.#lens?.resize(plan.lens);
    this.#axes?.show();
    this.repaint();
  }

  /** The kernel answers: what is missing can be asked for. */
  get live(): boolean {
    return this.#asks && Boolean(this.#setting.kernel?.live()) && !this.#tiles?.refusal;
  }

  get #item(): Item {
    return (this.sheets[0] as Sheet).item;
  }

  chose(index: readonly number[]): void {
    this.pose.go(index);
    this.#line.hint(HINT);
    this.repaint();
  }

  copied(index: readonly number[], open: readonly number[] = []): void {
    const { pose } = this;
    const { channels } = pose.frame;
    const block = pose.fine ? [] : this.#item.block;
    const text = indexText(
      this.#item.index || "x",
      index,
      pose.shape,
      block,
      channels >= 0 ? [...open, channels] : open,
    );
    void copy(text, this.root).then((done) => {
      if (!this.signal.aborted) this.#line.copied(text, done);
    });
  }

  #setLayer(which: number): void {
    for (const sheet of this.sheets) sheet.layer = which % sheet.item.layers.length;
    this.repaint();
  }

  #setImage(on: boolean): void {
    if (!this.#item.image || on === this.pose.image) return;
    this.pose.setImage(on);
    this.arranged();
  }

  #walk(step: 1 | -1): void {
    const found = nextBad(this.#item, this.pose.cursor, step);
    if (found) this.chose(found.index);
  }

  #key(event: KeyboardEvent): void {
    const target = event.target as HTMLElement;
    if (event.key === "Escape" && this.#help) {
      this.#toggleHelp();
      event.preventDefault();
      return;
    }
    // Selects, sliders and buttons keep the keys that are theirs.
    if (!target.closest(".vt-view")) return;
    const command = commandOf(event);
    if (!command || !this.obey(command)) return;
    event.preventDefault();
    event.stopPropagation();
    this.#speak();
  }

  /** Carry out a command; false where it means nothing here. */
  obey(command: Command): boolean {
    const { pose } = this;
    switch (command.do) {
      case "move":
        pose.move(command.x, command.y);
        break;
      case "leap":
        pose.leap(command.x, command.y);
        break;
      case "zoom": {
        const at = pose.rect(pose.cursor);
        pose.zoomBy(command.by, at.x + at.w / 2, at.y + at.h / 2);
        pose.reveal();
        break;
      }
      case "fit":
        pose.whole();
        break;
      case "bad":
        this.#walk(command.step);
        break;
      case "turn": {
        const axis = this.#axes?.slider() ?? -1;
        if (axis >= 0) pose.turn(axis, command.by);
        else pose.leap(0, command.by);
        break;
      }
      case "edge":
        pose.go(
          pose.cursor.map((i, axis) => (axis === pose.frame.cols ? command.to * (pose.shape[axis] as number) : i)),
        );
        break;
      case "copy":
        this.copied(pose.cursor);
        return true;
      case "scale":
        for (const sheet of this.sheets) sheet.setScale((sheet.chosen[sheet.layer] as number) + 1);
        break;
      case "layer":
        if (this.#item.layers.length < 2) return false;
        this.#setLayer((this.sheets[0] as Sheet).layer + 1);
        break;
      case "image":
        if (!this.#item.image) return false;
        this.#setImage(!pose.image);
        break;
      case "play":
        if (!this.#axes) return false;
        this.#axes.toggle();
        break;
      case "help":
        this.#toggleHelp();
        return true;
      case "leave":
        pose.hover = null;
        break;
    }
    this.repaint();
    return true;
  }

  #toggleHelp(): void {
    if (this.#help) {
      this.#help.remove();
      this.#help = null;
      return;
    }
    const rows = HELP.flatMap(([keys, does]) => [el("span", {}, el("span.vt-key", { text: keys })), el("span", { text: does })]);
    this.#help = el("div.vt-help", { role: "group", "aria-label": "keys" }, ...rows);
    this.root.append(this.#help);
  }

  /** Say where the cursor stands, for who listens. */
  #speak(): void {
    const { pose } = this;
    const words = this.sheets.map(
      (sheet) => `${this.#linked ? `${sheet.item.role} ` : ""}${sheet.words(pose.cursor, pose).text}`,
    );
    this.#status.textContent = `${indexText(this.#item.index || "x", pose.cursor, pose.shape)} ${words.join(", ")}`;
  }

  #paint(): void {
    const glass = this.#lens;
    const { pose } = this;
    for (const picture of this.#surfaces) {
      picture.look.lens = glass?.window() ?? null;
      picture.draw();
    }
    for (const legend of this.#legends) legend.draw();
    glass?.draw();
    this.#head.show();
    this.#axes?.show();
    this.#line.show(this, whichAt(this.#item, pose.index));
    this.#numbers();
    this.#ask();
  }

  /** Numbers that change with the layer or the scale only. */
  #numbers(): void {
    const key = this.sheets.map((sheet) => `${sheet.layer} ${sheet.chosen[sheet.layer]}`).join();
    const note = [this.#item.pooled, this.#linked ? "" : crowded(this.pose, this.#item.pooled !== "", ratio()), this.#tiles ? this.#tiles.refusal : ""].filter(Boolean).join(" · ");
    this.#notes.hidden = !note;
    if (this.#notes.textContent !== note) this.#notes.textContent = note;
    if (key === this.#tableKey) return;
    this.#tableKey = key;
    this.#table.replaceChildren(factTable(this.sheets));
    this.#facts.forEach((box) => box.replaceChildren(factList(this.sheets[0] as Sheet)));
    this.#titles.forEach((title, i) => {
      const fact = factList(this.sheets[i] as Sheet).querySelectorAll("b")[3];
      title.textContent = `std ${fact?.textContent ?? ""}`;
    });
  }

  /** Ask the kernel for what the overview cannot show. */
  #ask(): void {
    const tiles = this.#tiles;
    const setting = this.#setting;
    const { pose } = this;
    if (!tiles) return;
    this.sheets.forEach((sheet, i) => {
      const want = { item: setting.first + i, layer: sheet.layer };
      const arrived =
        (layer: number) =>
        (source: Parameters<Sheet["add"]>[1]): void => {
          sheet.add(layer, source);
          this.repaint();
        };
      const windows = [this.#lens ? this.#lens.wish() : null, view(pose)];
      windows.forEach((region, slot) => {
        if (region && !sheet.sources().some((s) => !s.whole && covers(s, region))) {
          const wider = roomy(region, pose.shape, [pose.frame.rows, pose.frame.cols]);
          tiles.want(`${i} ${slot}`, { ...want, ...wider }, arrived(sheet.layer), () => this.repaint());
        }
      });
    });
  }
}
