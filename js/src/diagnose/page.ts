// What is wrong with a training: a row for each finding, the first one open, with its lines and its proof.

import { el, on } from "../shared/dom";
import { type Frame, page } from "../shared/frame";
import report from "../shared/report.css";
import { card, foot } from "../shared/report";
import css from "./diagnose.css";
import { check, type State } from "./types";
import { CERTAIN, SIGNS, plural } from "./words";

type Found = State["findings"][number];

/** The lines of the user's that belong to a finding. */
function source(one: Found): HTMLElement | null {
  if (!one.source.length) return null;
  return el(
    "div.vt-dg-source",
    { role: "list", "aria-label": "lines" },
    ...one.source.map((line) =>
      el(
        "div.vt-dg-line",
        { role: "listitem", "data-role": line.role || null },
        el("span.vt-dg-number", { text: String(line.line) }),
        el("code", { text: line.text }),
        el("span.vt-dg-label", { text: line.label }),
      ),
    ),
  );
}

function part(name: string, ...inside: (Node | string)[]): HTMLElement {
  return el("div.vt-dg-part", {}, el("h4", { text: name }), ...inside);
}

/** What a finding holds below its sentence. */
function body(one: Found): HTMLElement {
  const code = (text: string): HTMLElement => el("code", { text });
  const cure = one.cure.map(([number, sign, text]) =>
    el(
      "div.vt-dg-cure",
      { "data-sign": sign },
      el("span", { text: sign === "-" ? "−" : sign }),
      el("span.vt-dg-number", { text: String(number) }),
      code(text),
    ),
  );
  return el(
    "div.vt-dg-body",
    {},
    el("div.vt-dg-left", {}, source(one), ...(one.cure.length || one.advice ? [part("cure", ...cure, one.advice)] : [])),
    el(
      "div.vt-dg-right",
      {},
      ...(one.layer ? [part("layer", code(one.layer))] : []),
      part(
        "proof",
        el("table", {}, ...one.proof.map(([name, value]) => el("tr", {}, el("th", { scope: "row", text: name }), el("td", { text: value })))),
      ),
      ...(one.confirm ? [part("confirm", code(one.confirm), el("span.vt-dg-gives", { text: ` gives ${one.gives}` }))] : []),
      ...(one.unless ? [part("not a fault if", one.unless)] : []),
    ),
  );
}

function show(state: State, { root, signal }: Frame): () => void {
  const facts = [plural(state.steps, "step"), plural(state.rules.length, "rule")];
  const { root: box } = card("diagnose", state.title, facts, state.report, signal);
  const heads: HTMLButtonElement[] = [];
  const bodies: HTMLElement[] = [];
  const set = (i: number, open: boolean): void => {
    (bodies[i] as HTMLElement).hidden = !open;
    (heads[i] as HTMLElement).setAttribute("aria-expanded", String(open));
  };
  state.findings.forEach((one, i) => {
    const inside = body(one);
    const head = el(
      "button.vt-dg-head",
      { type: "button", "aria-expanded": String(!i) },
      el("span.vt-dg-sign", { text: SIGNS[one.severity] ?? "", "aria-hidden": "true" }),
      el("span.vt-dg-text", { text: one.text }),
      el("span.vt-dg-chip", { text: CERTAIN[one.certainty] ?? one.certainty }),
      el("span.vt-dg-where", { text: one.where }),
    );
    heads.push(head);
    bodies.push(inside);
    inside.hidden = i > 0;
    on(head, "click", () => set(i, inside.hidden), signal);
    box.append(el("section.vt-dg-one", { "data-severity": one.severity }, head, inside));
  });
  if (!state.findings.length) {
    box.append(el("div.vt-rp-verdict.vt-rp-good", { text: state.says }));
    const group = (name: string, looked: boolean): HTMLElement | null => {
      const mine = state.rules.filter((rule) => rule.looked === looked);
      if (!mine.length) return null;
      return el(
        "details.vt-dg-rules",
        {},
        el("summary", { text: `${plural(mine.length, "rule")} ${name}` }),
        el("ul", {}, ...mine.map((rule) => el("li", { text: rule.title }))),
      );
    };
    for (const one of [group("looked and found nothing", true), group("had nothing to look at", false)]) if (one) box.append(one);
  }
  if (state.count > state.findings.length)
    box.append(el("div.vt-rp-more", { text: `${state.count - state.findings.length} more wait until these are mended.` }));
  const keys: [string, string][] = state.findings.length ? [["1 2 3", "open one"], ["o", "open all"], ["c", "copy as text"]] : [["c", "copy as text"]];
  box.append(foot([], keys));
  box.tabIndex = 0;
  on(
    box,
    "keydown",
    (e) => {
      if (e.ctrlKey || e.metaKey || e.altKey || (e.target as HTMLElement).closest("input, textarea")) return;
      const at = Number(e.key) - 1;
      if (e.key === "o") {
        const open = bodies.some((one) => one.hidden);
        bodies.forEach((_, i) => set(i, open));
      } else if (bodies[at]) set(at, (bodies[at] as HTMLElement).hidden);
      else return;
      e.preventDefault();
      e.stopPropagation();
    },
    signal,
  );
  root.append(box);
  return () => {};
}

export default page(check, report + css, show);
