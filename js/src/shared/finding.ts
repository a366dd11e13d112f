// A finding: a row with its sentence, and below it the lines, the proof, what would mend it and what would confirm it.
// The page of a diagnosis and the tab of a training run are made of these.

import { button, copy, el, on } from "./dom";
import { CERTAIN, SIGNS } from "./findingwords";

export interface Found {
  severity: string;
  certainty: string;
  text: string;
  where: string;
  cell: number | null;
  line: number | null;
  layer: string;
  source: { line: number; text: string; role: string; label: string }[];
  proof: [string, string][];
  confirm: string;
  gives: string;
  unless: string;
  cure: [number, string, string][];
  advice: string;
  tree?: [number, string, string, string][];
}

export interface Shown {
  root: HTMLElement;
  open(now: boolean): void;
  readonly isOpen: boolean;
  /** Go to its line. */
  go(): void;
  /** Copy what mends it. */
  cure(): void;
}

/** The line of a cell, where the notebook that this page stands in has it. */
export function lineOf(cell: number | null, line: number | null): HTMLElement | null {
  if (cell === null || line === null) return null;
  for (const prompt of document.querySelectorAll(".jp-InputPrompt, .jp-InputArea-prompt, .prompt.input_prompt")) {
    if (!new RegExp(`\\[${cell}\\]:?\\s*$`).test(prompt.textContent ?? "")) continue;
    const input = prompt.closest(".jp-Cell, .jp-InputArea, .cell") ?? prompt.parentElement;
    return input?.querySelectorAll<HTMLElement>(".cm-line")[line - 1] ?? (input as HTMLElement | null);
  }
  return null;
}

const part = (name: string, ...inside: (Node | string)[]): HTMLElement =>
  el("div.vt-dg-part", {}, el("h4", { text: name }), ...inside);
// no <code>: the host gives that a ground of its own
const code = (text: string): HTMLElement => el("span.vt-dg-code", { text });

function lines(one: Found): HTMLElement {
  return el(
    "div.vt-dg-source",
    { role: "list", "aria-label": "lines" },
    ...one.source.map((line) =>
      el(
        "div.vt-dg-line",
        { role: "listitem", "data-role": line.role || null },
        el("span.vt-dg-number", { text: String(line.line) }),
        code(line.text),
        el("span.vt-dg-label", { text: line.label }),
      ),
    ),
  );
}

/** Modules two levels deep, the guilty one on colour. */
function tree(rows: [number, string, string, string][]): HTMLElement {
  const made = rows.map(([depth, name, note, role]) => {
    const row = el("div", { "data-role": role || null }, el("span", { text: name }), el("small", { text: note }));
    row.style.setProperty("--depth", String(depth));
    return row;
  });
  return el("div.vt-dg-tree", { "aria-label": "modules" }, ...made);
}

/** One finding; `more` stands at the end of what is below its sentence, `picture` before the numbers that prove it. */
export function finding(one: Found, nth: number, signal: AbortSignal, more: Node[] = [], picture: Node | null = null): Shown {
  const cures = one.cure.map(([number, sign, text]) =>
    el(
      "div.vt-dg-cure",
      { "data-sign": sign },
      el("span.vt-dg-number", { text: String(number) }),
      el("span", { text: sign === "-" ? "−" : sign }),
      code(text),
    ),
  );
  const take = (text: string, from: HTMLElement): void => {
    void copy(text, from).then((done) => {
      from.dataset["said"] = done ? "copied" : "";
      if (done && from.tagName === "BUTTON") from.textContent = "Copied";
    });
  };
  const copying = button("button", "Copy", "Copy this line", () => take(one.confirm, copying), signal);
  const below = el(
    "div.vt-dg-body",
    {},
    el(
      "div.vt-dg-left",
      {},
      one.source.length ? lines(one) : null,
      picture,
      one.proof.length
        ? part(
            "Proof",
            el(
              "table",
              {},
              ...one.proof.map(([name, value]) =>
                el("tr", {}, el("th", { scope: "row", text: name }), el("td", { text: value })),
              ),
            ),
          )
        : null,
      one.cure.length || one.advice ? part("Cure", ...cures, one.advice) : null,
    ),
    el(
      "div.vt-dg-right",
      {},
      one.tree?.length ? tree(one.tree) : one.layer ? part("Layer", code(one.layer)) : null,
      one.confirm
        ? part("Confirm it yourself", el("div.vt-dg-confirm", {}, code(one.confirm), copying), el("div", { text: `gives ${one.gives}` }))
        : null,
      one.unless ? part("Not a fault if", one.unless) : null,
      ...more,
    ),
  );
  const head = el(
    "button.vt-dg-head",
    { type: "button", "aria-expanded": "true" },
    el("span.vt-dg-nth", { text: String(nth) }),
    el("span.vt-dg-sign", { text: SIGNS[one.severity] ?? "", "aria-hidden": "true" }),
    el("span.vt-dg-text", { text: one.text }),
  );
  const linked = one.cell !== null && one.line !== null;
  const where = linked
    ? button("button.vt-dg-where", one.where, "Go to the line  g", () => go(), signal)
    : el("span.vt-dg-where", { text: one.where });
  if (linked) where.setAttribute("aria-label", `${one.where}, go to the line`);
  const root = el(
    "section.vt-dg-one",
    { "data-severity": one.severity },
    el("div.vt-dg-row", {}, head, el("span.vt-dg-chip", { text: CERTAIN[one.certainty] ?? one.certainty }), where),
    below,
  );
  const open = (now: boolean): void => {
    below.hidden = !now;
    head.setAttribute("aria-expanded", String(now));
  };
  function go(): void {
    const to = lineOf(one.cell, one.line);
    if (!to) {
      where.title = "That cell is not in this notebook any more.";
      return;
    }
    to.scrollIntoView({ block: "center" });
    to.style.animation = "none";
    to.getBoundingClientRect(); // so that it begins again
    to.style.animation = "vt-dg-flash 2s";
  }
  on(head, "click", () => open(below.hidden), signal);
  return {
    root,
    open,
    get isOpen() {
      return !below.hidden;
    },
    go,
    cure() {
      const added = one.cure.filter(([, sign]) => sign !== "-").map(([, , text]) => text);
      take(added.join("\n") || one.advice || one.text, root);
    },
  };
}
