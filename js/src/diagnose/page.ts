// What is wrong with a training: a row for each finding, the first one open, with its lines and its proof.

import { el } from "../shared/dom";
import { finding } from "../shared/finding";
import look from "../shared/finding.css";
import { plural } from "../shared/findingwords";
import { type Frame, page } from "../shared/frame";
import report from "../shared/report.css";
import { card, foot } from "../shared/report";
import { draw } from "../shape/draw";
import shape from "../shape/shape.css";
import type { Real } from "../shared/payload";
import { short } from "./short";
import css from "./diagnose.css";
import { check, type State } from "./types";

/** Operands that do not fit, as boxes. */
function boxes(one: State["findings"][number]): HTMLElement | null {
  if (!one.shapes) return null;
  const picture = el("div.vt-sh-picture", { tabindex: 0, role: "group", "aria-label": "the operands" });
  picture.append(draw(one.shapes));
  return picture;
}

type Found = State["findings"][number];

/** Numbers beside their baselines, on one scale. */
function pair(one: Found): HTMLElement | null {
  if (!one.bars.length) return null;
  const rows = one.bars.map((bar) => {
    const ink = el("i", { "data-role": bar.role });
    ink.style.left = `${100 * bar.start}%`;
    ink.style.width = `max(2px, ${100 * (bar.end - bar.start)}%)`;
    return el("div", { role: "listitem" }, el("span", { text: bar.name }), el("b", {}, ink), el("span", { text: bar.text }));
  });
  const label = one.bars.some((bar) => bar.log) ? "what was seen, beside its baseline; the scale is logarithmic" : "what was seen, beside its baseline";
  const note = one.bars.some((bar) => bar.log) ? el("small", { text: "logarithmic" }) : null;
  return el("div.vt-dg-bars", { role: "list", "aria-label": label }, ...rows, note);
}

/** The samples around the first that does not fit. */
function samples(one: Found): HTMLElement | null {
  if (!one.samples.length) return null;
  return el(
    "div.vt-dg-samples",
    { role: "list", "aria-label": "the first sample that does not fit, and its neighbours" },
    ...one.samples.map((at) =>
      el(
        "div",
        { role: "listitem", "data-bad": at.bad ? "yes" : null },
        el("small", { text: String(at.index) }),
        el("b", { text: String(at.label) }),
      ),
    ),
  );
}

/** What came of trying the cure: losses with it over those without. */
export function tried(one: Found): HTMLElement | null {
  const of = one.tried;
  if (!of) return null;
  const title = el("h4", { text: of.refused ? "Not tried" : "Tried" });
  if (of.refused) return el("div.vt-dg-part.vt-dg-tried", {}, title, `${of.refused}.`);
  const row = (name: string, losses: readonly Real[]): HTMLElement | null =>
    losses.length
      ? el("tr", { "data-of": name }, el("th", { scope: "row", text: name }), ...losses.map((x) => el("td", { text: short(x) })))
      : null;
  return el(
    "div.vt-dg-part.vt-dg-tried",
    {},
    title,
    el("div", { text: of.label }),
    el("table", { "aria-label": of.label }, row("with it", of.with_it), row("as it is", of.without)),
    el("div", { text: of.after }),
  );
}

function show(state: State, { root, signal }: Frame): () => void {
  const facts = [plural(state.steps, "step"), plural(state.rules.length, "rule")];
  const { root: box } = card("diagnose", state.title, facts, state.report, signal);
  const each = state.findings.map((one, i) => {
    const made = finding(one, i + 1, signal, [], boxes(one) ?? samples(one) ?? pair(one));
    const outcome = tried(one);
    if (outcome) made.root.querySelector(".vt-dg-left")?.append(outcome);
    return made;
  });
  each.forEach((one, i) => {
    one.open(!i);
    box.append(one.root);
  });
  /** The finding that has the focus; else the first that is open. */
  const chosen = () => each.find((one) => one.root.contains(document.activeElement)) ?? each.find((one) => one.isOpen);
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
  const keys: [string, string][] = each.length
    ? [
        ["1 2 3", "open one"],
        ["o", "open all"],
        ["g", "to the line"],
        ["c", "copy the cure"],
      ]
    : [["c", "copy as text"]];
  box.append(foot([], keys));
  box.tabIndex = 0;
  box.addEventListener(
    "keydown",
    (e) => {
      if (e.ctrlKey || e.metaKey || e.altKey || (e.target as HTMLElement).closest("input, textarea")) return;
      const at = each[Number(e.key) - 1];
      const one = chosen();
      if (e.key === "o") {
        const open = each.some((other) => !other.isOpen);
        for (const other of each) other.open(open);
      } else if (at) at.open(!at.isOpen);
      else if (e.key === "g" && one) one.go();
      else if (e.key === "c" && one) one.cure();
      else return;
      e.preventDefault();
      e.stopImmediatePropagation();
    },
    { signal, capture: true },
  );
  root.append(box);
  return () => {};
}

export default page(check, report + look + shape + css, show);
