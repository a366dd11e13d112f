// The table of names: sorted by its heads, walked by keys; Enter or a click opens the array view of a row below.

import { el, on, prepare, ratio } from "../shared/dom";
import type { Theme } from "../shared/theme";
import { COLUMNS, ordered } from "./order";
import type { RowState as Row, State } from "./types";

const THUMB = { width: 72, height: 20 };

export interface Table {
  root: HTMLElement;
  repaint(): void;
}

function thumb(canvas: HTMLCanvasElement, row: Row, theme: Theme): void {
  if (!row.thumb) return;
  const pen = prepare(canvas, THUMB.width, THUMB.height, ratio());
  const [h, w] = row.thumb.codes.shape as [number, number];
  if (!pen || !w || !h) return;
  const colours = theme.palette(row.thumb.map, row.thumb.centre);
  const image = new ImageData(canvas.width, canvas.height);
  const pixels = new Uint32Array(image.data.buffer);
  for (let y = 0; y < canvas.height; y++) {
    for (let x = 0; x < canvas.width; x++) {
      const code = row.thumb.codes.data[
        Math.floor((y * h) / canvas.height) * w + Math.floor((x * w) / canvas.width)
      ] as number;
      pixels[y * canvas.width + x] = colours[code] as number;
    }
  }
  pen.putImageData(image, 0, 0);
}

export function table(state: State, theme: Theme, signal: AbortSignal, open: (row: number) => void): Table {
  let sorted = -1;
  let reverse = false;
  const heads = COLUMNS.map((column, i) => {
    const button = el("button", { type: "button", text: column.name });
    on(
      button,
      "click",
      () => {
        reverse = sorted === i && !reverse;
        sorted = i;
        arrange();
      },
      signal,
    );
    return el("th", { scope: "col", class: column.number ? "vt-num" : null }, button);
  });
  const canvases: [HTMLCanvasElement, Row][] = [];
  const noted = state.rows.some((row) => row.says); // such as "view of x"
  const rows = state.rows.map((row, i) => {
    const canvas = row.thumb ? el("canvas", { "aria-hidden": "true" }) : null;
    if (canvas) canvases.push([canvas, row]);
    const cells = COLUMNS.map((column) => el("td", { text: column.text(row), class: column.number ? "vt-num" : null }));
    if (noted) cells.push(el("td.vt-says", { text: row.says }));
    const line = el("tr", { tabindex: i ? -1 : 0, title: row.says || null }, el("td", {}, canvas ?? (row.number ? el("span.vt-scalar", { text: row.number.replace("-", "−") }) : null)), ...cells);
    on(line, "click", () => choose(line, i), signal);
    on(
      line,
      "keydown",
      (e) => {
        const all = [...body.children] as HTMLElement[];
        const at = all.indexOf(line);
        const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[e.key];
        if (e.key === "Enter" || e.key === " ") choose(line, i);
        else if (to !== undefined) all[Math.max(0, Math.min(all.length - 1, to))]?.focus();
        else return;
        e.preventDefault();
        e.stopPropagation();
      },
      signal,
    );
    on(line, "focus", () => rows.forEach((one) => (one.tabIndex = one === line ? 0 : -1)), signal);
    return line;
  });
  const body = el("tbody", {}, ...rows);

  function choose(line: HTMLElement, i: number): void {
    for (const one of rows) one.setAttribute("aria-selected", String(one === line));
    open(i);
  }

  function arrange(): void {
    const column = COLUMNS[sorted];
    if (!column) return;
    body.append(...ordered(state.rows, column, reverse).map((i) => rows[i] as HTMLElement));
    const up = Boolean(column.number) === reverse;
    heads.forEach((head, i) =>
      head.setAttribute("aria-sort", i === sorted ? (up ? "ascending" : "descending") : "none"),
    );
  }

  const top = el("tr", {}, el("th"), ...heads, noted ? el("th.vt-says", { scope: "col", text: "note" }) : null);
  const root = el(
    "div.vt-card.vt-vars",
    {},
    el(
      "div.vt-scroll",
      {},
      el("table", {}, el("caption", { text: state.title }), el("thead", {}, top), body),
    ),
  );
  return { root, repaint: () => canvases.forEach(([canvas, row]) => thumb(canvas, row, theme)) };
}
