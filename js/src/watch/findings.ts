// What is wrong with the run: the alarm first, then what the rules that look on have found.

import { button, el } from "../shared/dom";
import { finding } from "../shared/finding";
import { plural } from "../shared/findingwords";
import { type Part, unchanged, type View } from "./view";

export interface FindingsPart extends Part {
  /** How many there are, and whether one is an alarm. */
  badge(): [count: number, bad: boolean];
}

export function findings(view: View): FindingsPart {
  const root = el("div.vt-w-findings");
  const same = unchanged();
  let one: AbortController | null = null;
  view.signal.addEventListener("abort", () => one?.abort(), { once: true });
  return {
    root,
    badge() {
      const items = view.state.findings?.items ?? [];
      return [items.length, items.some((each) => each.severity === "bad")];
    },
    paint() {
      const { findings: found } = view.state;
      if (same(JSON.stringify(found?.items), found?.withdrawn, found?.rules.length, view.live)) return;
      one?.abort();
      const { signal } = (one = new AbortController());
      const opened = root.querySelector('[aria-expanded="true"] .vt-dg-text')?.textContent;
      const items = found?.items ?? [];
      const kept = items.findIndex((each) => each.text === opened);
      root.replaceChildren(
        ...items.map((each, i) => {
          const meant = button("button", "It is meant", "Say nothing more of it", () => view.ask("meant", { number: i }), signal);
          const mine = finding(each, i + 1, signal, view.live && each.rule !== "alarm" ? [meant] : []);
          mine.open(i === Math.max(kept, 0));
          return mine.root;
        }),
      );
      const rules = found?.rules ?? [];
      const looked = rules.filter((rule) => rule.looked);
      if (!items.length) {
        const say = rules.length
          ? `Nothing found: ${plural(looked.length, "rule")} looked, ${rules.length - looked.length} had nothing to look at.`
          : "No rule has looked yet.";
        root.append(el("div.vt-w-none", { text: say, title: looked.map((rule) => rule.title).join("\n") }));
      }
      if (found && found.count > items.length)
        root.append(el("div.vt-w-none", { text: `${found.count - items.length} more wait until these are mended.` }));
      if (found?.withdrawn)
        root.append(el("div.vt-w-none", { text: `${plural(found.withdrawn, "finding")} withdrawn: the log says which.` }));
    },
  };
}
