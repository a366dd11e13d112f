// What a finding looks like: a head with facts and "Copy as text", one sentence with a sign, and tables of rows that
// are walked by keys. The pages of traces, comparisons and memory are made of these.

import { atEnd, button, copy, el, on, painter } from "./dom";
import { sourceChip } from "./source_chip";
import { type Sign, sign } from "./signs";

export { type Sign, sign };

export interface Card {
  root: HTMLElement;
  /** Where buttons of one page go, before "Copy as text". */
  tools: HTMLElement;
}

/** The card of a finding, with its head; `c` anywhere in it copies. */
export function card(kind: string, title: string, facts: string[], report: string, signal: AbortSignal, libraries: string[] = []): Card {
  const status = el("span.vt-rp-status", { role: "status" });
  const tools = el("span.vt-rp-tools");
  const take = el("textarea.vt-rp-take", { readonly: true, hidden: true, "aria-label": "the report as text" });
  take.value = report;
  let late: ReturnType<typeof setTimeout> | undefined;
  atEnd(signal, () => clearTimeout(late));
  const copied = async (): Promise<void> => {
    const done = await copy(report, root);
    status.textContent = done ? "copied" : "press Ctrl+C";
    take.hidden = done;
    if (!done) take.select();
    clearTimeout(late);
    late = setTimeout(() => (status.textContent = ""), 2500);
  };
  const root = el(
    `div.vt-card.vt-rp.vt-rp-${kind}`,
    { "data-lm-suppress-shortcuts": "true" },
    el(
      "div.vt-head",
      {},
      el("span.vt-name", { text: title }),
      ...libraries.map((library) => sourceChip(library, "whose ops these are")),
      el("span.vt-meta", {}, ...facts.map((text) => el("span", { text }))),
      el("span.vt-space"),
      status,
      tools,
      button("button", "Copy as text", "Copy as text  c", () => void copied(), signal),
    ),
    take,
  );
  // Jupyter takes a key whose target matches one of its shortcuts before it looks for this mark further up.
  on(
    root,
    "focusin",
    (e) => {
      if (e.target instanceof HTMLElement) e.target.setAttribute("data-lm-suppress-shortcuts", "true");
    },
    signal,
  );
  on(
    root,
    "keydown",
    (e) => {
      if (e.key !== "c" || e.ctrlKey || e.metaKey || e.altKey || (e.target as HTMLElement).closest("input,textarea"))
        return;
      e.preventDefault();
      e.stopPropagation();
      void copied();
    },
    signal,
  );
  return { root, tools };
}

/** A sentence whose `bold` parts, whole words in their order, stand out; what is not found in it is left as it is. */
export function sentence(text: string, bold: string[] = []): (Node | string)[] {
  const out: (Node | string)[] = [];
  let at = 0;
  for (const part of bold) {
    let found = part ? text.indexOf(part, at) : -1;
    while (found >= 0 && /\w/.test(`${text[found - 1] ?? ""}${text[found + part.length] ?? ""}`))
      found = text.indexOf(part, found + 1);
    if (found < 0) continue;
    out.push(text.slice(at, found), el("b", { text: part }));
    at = found + part.length;
  }
  out.push(text.slice(at));
  return out;
}

/** Infinities with a real minus sign, which also keeps them in one line. */
export const typeset = (text: string): string => text.replace(/-inf\b/g, "−inf");

/** A layer's name after "in", where an index alone needs a noun: "in head[5]", "in layer [0]". */
export const within = (module: string): string =>
  module ? `in ${module.startsWith("[") ? "layer " : ""}${module}` : "";

/** What a row is called: its layer as in a graph, with class and size, and the op second; an op outside of all layers alone. */
export function called(row: { module: string; layer: string }, op: string, ...more: Node[]): Node[] {
  if (!row.module) return [el("b", { text: op }), ...more];
  return [
    el("b", { text: row.module }),
    ...(row.layer ? [el("span.vt-rp-layer", { text: row.layer })] : []),
    el("span.vt-rp-second", {}, el("span.vt-rp-op", { text: op }), ...more),
  ];
}

export interface Column<Row> {
  name: string;
  /** A track of the grid; "" leaves the column out. */
  width: string;
  end?: boolean;
  fill(row: Row): (Node | string)[];
}

export interface Listing {
  root: HTMLElement;
  /** Mark a row, without calling back. */
  choose(index: number): void;
  /** Show only these rows, in this order. */
  show(indices: number[]): void;
}

/** A table of rows: arrows, Home and End walk it, and choosing is by click, Enter or walking. */
export function listing<Row>(
  name: string,
  columns: Column<Row>[],
  rows: Row[],
  chosen: (row: Row, index: number) => void,
  signal: AbortSignal,
): Listing {
  const cell = (column: Column<Row>, ...inside: (Node | string)[]): HTMLElement =>
    el(
      "div.vt-rp-cell",
      { role: "gridcell", "data-head": column.name, class: `vt-rp-cell${column.end ? " vt-rp-end" : ""}` },
      ...inside,
    );
  const lines = rows.map((row, i) => {
    const line = el(
      "div.vt-rp-row",
      { role: "row", tabindex: i ? -1 : 0, "aria-selected": "false" },
      ...columns.map((column) => cell(column, ...column.fill(row))),
    );
    on(line, "click", () => pick(i), signal);
    on(
      line,
      "keydown",
      (e) => {
        const seen = [...body.children] as HTMLElement[];
        const at = seen.indexOf(line);
        const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: seen.length - 1 }[e.key];
        if (e.key === "Enter" || e.key === " ") pick(i);
        else if (to !== undefined) {
          const next = seen[Math.max(0, Math.min(seen.length - 1, to))] as HTMLElement;
          pick((lines as HTMLElement[]).indexOf(next));
          next.focus();
        } else return;
        e.preventDefault();
        e.stopPropagation();
      },
      signal,
    );
    return line;
  });
  const body = el("div.vt-rp-body", { role: "rowgroup" }, ...lines);
  const head = el(
    "div.vt-rp-row.vt-rp-heads",
    { role: "row" },
    ...columns.map((column) =>
      el(column.end ? "div.vt-rp-cell.vt-rp-end" : "div.vt-rp-cell", { role: "columnheader", text: column.name }),
    ),
  );
  const root = el("div.vt-rp-list", { role: "grid", "aria-label": name }, head, body);
  root.style.gridTemplateColumns = columns.map((column) => column.width).join(" ");
  const mark = (index: number): void =>
    lines.forEach((line, i) => {
      line.setAttribute("aria-selected", String(i === index));
      line.tabIndex = i === index ? 0 : -1;
    });
  // Only the table's own box scrolls: the page stays where it is. No row is left cut below the head: where the rows that
  // follow do not fill the box, there is room below them.
  const reveal = painter(() => {
    const line = lines.find((one) => one.isConnected && one.getAttribute("aria-selected") === "true");
    root.style.paddingBottom = "";
    if (!line || root.scrollHeight <= root.clientHeight) return;
    const seen = [...body.children] as HTMLElement[];
    const [top, high] = [head.offsetHeight, root.clientHeight];
    const end = root.scrollHeight;
    const first = seen.find((one) => one.offsetTop >= Math.min(line.offsetTop - high / 2, end - high) + top) ?? line;
    const to = first.offsetTop - top;
    root.style.paddingBottom = `${Math.max(0, to + high - end)}px`;
    root.scrollTop = to;
  }, signal);
  function pick(index: number): void {
    mark(index);
    chosen(rows[index] as Row, index);
  }
  return {
    root,
    choose(index) {
      mark(index);
      reveal();
    },
    show(indices) {
      body.replaceChildren(...indices.map((i) => lines[i] as HTMLElement));
      const seen = indices.find((i) => lines[i]?.tabIndex === 0) ?? indices[0] ?? -1;
      lines.forEach((line, i) => (line.tabIndex = i === seen ? 0 : -1));
      reveal();
    },
  };
}

/** A switch between all rows and the few that someone looks for; a long table begins with these. */
export function only(words: string, wanted: boolean[], rows: Listing, signal: AbortSignal): HTMLElement {
  const all = wanted.map((_, i) => i);
  const few = all.filter((i) => wanted[i]);
  let short = wanted.length > 40;
  const apply = (): void => {
    turn.setAttribute("aria-pressed", String(short));
    rows.show(short ? few : all);
  };
  const turn = button("button", words, "", () => {
    short = !short;
    apply();
  }, signal);
  apply();
  return turn;
}

/** What the signs mean, and the keys. */
export function foot(signs: [Sign, string][], keys: [string, string][]): HTMLElement {
  return el(
    "div.vt-rp-foot",
    {},
    ...signs.map(([name, text]) => el("span", {}, sign(name), text)),
    el("span.vt-space"),
    ...keys.map(([key, text]) => el("span.vt-rp-keys", {}, el("span.vt-key", { text: key }), text)),
  );
}
