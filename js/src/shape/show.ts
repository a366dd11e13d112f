// A shape error: the sentence, the user's line, and the operands as boxes whose unequal sides are marked.

import { el } from "../shared/dom";
import type { Frame } from "../shared/frame";
import { card, sentence } from "../shared/report";
import { draw } from "./draw";
import type { State } from "./types";

export function show(state: State, { root, signal }: Frame): () => void {
  const facts = [state.place, state.module].filter(Boolean);
  const made = card("shape", state.title, facts, state.report, signal);
  made.root.append(
    el(
      "div.vt-rp-verdict.vt-rp-bad",
      { role: "status" },
      ...sentence(
        state.sentence,
        state.operands.map((one) => one.name),
      ),
    ),
  );
  if (state.source.length)
    made.root.append(
      el(
        "div.vt-sh-source",
        {},
        ...state.source.map(([number, text, role]) =>
          el(
            "div.vt-sh-row",
            { class: `vt-sh-row${role ? " vt-sh-hit" : ""}` },
            el("i", { text: String(number) }),
            el("span", { text }),
            role ? el("em", { text: "stops here" }) : null,
          ),
        ),
      ),
    );
  const picture = el("div.vt-sh-picture", { tabindex: 0, role: "group", "aria-label": "the operands" });
  picture.append(draw(state));
  made.root.append(picture, el("div.vt-rp-foot.vt-sh-foot", { text: state.error }));
  root.append(made.root);
  return () => {};
}
