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
import css from "./diagnose.css";
import { check, type State } from "./types";

/** Operands that do not fit, as boxes. */
function boxes(one: State["findings"][number]): HTMLElement | null {
  if (!one.shapes) return null;
  const picture = el("div.vt-sh-picture", { tabindex: 0, role: "group", "aria-label": "the operands" });
  picture.append(draw(one.shapes));
  return picture;
}

function show(state: State, { root, signal }: Frame): () => void {
  const facts = [plural(state.steps, "step"), plural(state.rules.length, "rule")];
  const { root: box } = card("diagnose", state.title, facts, state.report, signal);
  const each = state.findings.map((one, i) => finding(one, i + 1, signal, [], boxes(one)));
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
