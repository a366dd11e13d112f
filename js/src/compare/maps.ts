// The first difference in three pictures with one cursor: the reference, the other run, and how far they lie apart.

import { css } from "../shared/colour";
import { el, on, onWidth, prepare, ratio } from "../shared/dom";
import { num } from "../shared/format";
import type { Theme } from "../shared/theme";
import { type Cells, cellOf, cells, code, elementOf, most, written } from "./cells";
import type { First, Value } from "./types";

interface Sheet {
  name: string;
  value: Value;
  cells: Cells;
  high: number;
  canvas: HTMLCanvasElement;
  readout: HTMLElement;
  width: number;
}

export interface Maps {
  root: HTMLElement;
  repaint(): void;
}

export function maps(first: First, [a, b]: readonly [string, string], theme: Theme, signal: AbortSignal): Maps | null {
  const BRIEF = { a, b, difference: `${b} − ${a}` };
  const found = (["a", "b", "difference"] as const).flatMap((name) => {
    const value = first[name];
    const sheet = value && cells(value);
    return value && sheet ? [{ name, value, cells: sheet }] : [];
  });
  const lead = found.at(-1);
  if (!lead) return null;
  const shared = most(...found.filter((one) => one.name !== "difference").map((one) => one.cells));
  const own = most(lead.cells);
  const sheets: Sheet[] = found.map((one) => ({
    ...one,
    name: BRIEF[one.name],
    high: one.name === "difference" ? own : shared,
    canvas: el("canvas", { "aria-hidden": "true" }),
    readout: el("b"),
    width: 0,
  }));
  let at = elementOf(cellOf(first.at, lead.value), lead.value);
  let start = first.at.length > 0;
  const place = el("span.vt-cm-place");

  function update(): void {
    place.textContent = start
      ? `[${first.at.join(", ")}], where it is largest`
      : written(cellOf(at, lead!.value), lead!.value);
    for (const one of sheets) {
      // A cell of an overview need not show the entry that differs most: that one is known exactly.
      const { a, b, difference } = BRIEF;
      const known = { [a]: first.values[0], [b]: first.values[1], [difference]: first.apart || undefined };
      const exact = start ? known[one.name] : undefined;
      one.readout.textContent =
        exact?.replace("-", "−") ?? num(one.cells.values[cellOf(at, one.value)] as number);
    }
  }

  function paint(one: Sheet): void {
    if (!one.width) return;
    const { rows, columns, values } = one.cells;
    const side = Math.min(22, one.width / columns);
    const high = Math.max(6, Math.min(120, rows * side));
    const wide = Math.min(one.width, columns * side);
    const pen = prepare(one.canvas, wide, high, ratio());
    if (!pen) return;
    const colours = theme.palette("tide", true);
    const image = new ImageData(one.canvas.width, one.canvas.height);
    const pixels = new Uint32Array(image.data.buffer);
    for (let y = 0; y < image.height; y++) {
      const row = Math.floor((y * rows) / image.height) * columns;
      for (let x = 0; x < image.width; x++)
        pixels[y * image.width + x] = colours[
          code(values[row + Math.floor((x * columns) / image.width)] as number, one.high)
        ] as number;
    }
    pen.putImageData(image, 0, 0);
    const cell = cellOf(at, one.value);
    const [w, h] = [wide / columns, high / rows];
    pen.strokeStyle = theme.token("accent");
    pen.lineWidth = 2;
    const [x, y] = [(cell % columns) * w, Math.floor(cell / columns) * h];
    const grow = Math.max(0, 6 - Math.min(w, h)) / 2;
    pen.strokeRect(
      Math.max(1, x - grow),
      Math.max(1, y - grow),
      Math.min(wide - 2, w + 2 * grow),
      Math.min(high - 2, h + 2 * grow),
    );
  }

  function go(to: number[]): void {
    start = to === first.at && to.length > 0;
    at = to.map((i, axis) => Math.max(0, Math.min((lead!.value.shape[axis] ?? 1) - 1, i)));
    update();
    sheets.forEach(paint);
  }

  function move(down: number, across: number): void {
    const { rows, columns } = lead!.cells;
    const cell = cellOf(at, lead!.value);
    const row = Math.max(0, Math.min(rows - 1, Math.floor(cell / columns) + down));
    const column = Math.max(0, Math.min(columns - 1, (cell % columns) + across));
    go(elementOf(row * columns + column, lead!.value));
  }

  const parts = sheets.map((one) => {
    const view = el("div.vt-cm-map", {}, one.canvas);
    onWidth(
      view,
      (width) => {
        one.width = width;
        paint(one);
      },
      signal,
    );
    on(
      one.canvas,
      "pointermove",
      (e) => {
        const box = one.canvas.getBoundingClientRect();
        const { rows, columns } = one.cells;
        const row = Math.min(rows - 1, Math.floor(((e.clientY - box.top) / box.height) * rows));
        const column = Math.min(columns - 1, Math.floor(((e.clientX - box.left) / box.width) * columns));
        go(elementOf(Math.max(0, row) * columns + Math.max(0, column), one.value));
      },
      signal,
    );
    const ramp = el("span.vt-cm-ramp");
    return {
      ramp,
      root: el(
        "div",
        {},
        el("div.vt-rp-line", {}, el("span", { text: one.name }), el("span.vt-space"), one.readout),
        view,
        el(
          "div.vt-cm-scale",
          {},
          el("span", { text: num(-one.high, 3) }),
          ramp,
          el("span", { text: num(one.high, 3) }),
          el("span.vt-space"),
          el("span", { text: one.name === BRIEF.difference ? "linear, to ±max" : "linear, both runs alike" }),
        ),
      ),
    };
  });
  const block = lead.value.block.join(" × ");
  const note = lead.value.block.some((n) => n > 1)
    ? [el("div.vt-note", { text: `each cell is ${block} values, drawn by the one furthest from their mean` })]
    : [];
  const root = el(
    "div.vt-cm-maps",
    {
      tabindex: 0,
      role: "group",
      "aria-label": "values of both runs where they first differ; arrows move the cursor",
    },
    el("div.vt-rp-line", { "aria-live": "polite" }, el("span", { text: "at" }), place),
    ...parts.map((one) => one.root),
    ...note,
  );
  on(
    root,
    "keydown",
    (e) => {
      const by = { ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1] }[e.key];
      if (e.key === "Home") go(first.at);
      else if (by) move(...(by as [number, number]));
      else return;
      e.preventDefault();
      e.stopPropagation();
    },
    signal,
  );
  update();
  return {
    root,
    repaint() {
      const stops = theme.ramp("tide", true, 9).map(css);
      for (const one of parts) one.ramp.style.background = `linear-gradient(90deg, ${stops.join(", ")})`;
      sheets.forEach(paint);
    },
  };
}
