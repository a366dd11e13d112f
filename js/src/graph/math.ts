// The LaTeX of formulas as readable HTML: the part of LaTeX in which the engine's formulas are written. What is not
// known is shown as it stands, as text.

import { el } from "../shared/dom";

const SIGNS: Record<string, string> = {
  cdot: "·", times: "×", star: "⋆", odot: "⊙", le: "≤", ge: "≥", ne: "≠", neg: "¬", in: "∈", ni: "∋", mid: "|",
  sum: "Σ", prod: "Π", partial: "∂", pi: "π", alpha: "α", beta: "β", gamma: "γ", delta: "δ", lambda: "λ", mu: "μ",
  sigma: "σ", varphi: "φ", phi: "φ", psi: "ψ", zeta: "ζ", epsilon: "ε", varepsilon: "ε", theta: "θ", Gamma: "Γ",
  langle: "⟨", rangle: "⟩", lfloor: "⌊", rfloor: "⌋", lceil: "⌈", rceil: "⌉", dots: "…", ldots: "…", top: "⊤",
  infty: "∞", pm: "±", to: "→",
}; // prettier-ignore
const NAMES = new Set(["ln", "log", "exp", "cos", "sin", "tan", "cosh", "sinh", "tanh", "max", "min", "arg", "det"]);
const SPACES: Record<string, string> = { ",": " ", " ": " ", ";": " ", ":": " ", "!": "", quad: "  " };
const SILENT = new Set(["left", "right", "bigl", "bigr", "Bigl", "Bigr", "textstyle", "displaystyle", "mathrel"]);
const DEPTH = 24;

const TOKEN = /\\([A-Za-z]+)|\\(.)|([{}^_&])|([^\\{}^_&])/gu;

type Token = { command?: string; mark?: string; text?: string };

function tokens(latex: string): Token[] {
  const found: Token[] = [];
  for (const [, command, sign, mark, text] of latex.matchAll(TOKEN)) {
    if (command) found.push({ command });
    else if (sign) found.push(sign in SPACES ? { command: sign } : { text: sign === "\\" ? "; " : sign });
    else if (mark) found.push({ mark });
    else found.push({ text: text as string });
  }
  return found;
}

class Reader {
  #at = 0;

  constructor(
    private readonly list: Token[],
    /** What stands for a gradient that comes in: "g" where there is one only, "" to write each with its bar. */
    private readonly incoming: string,
  ) {}

  /** Everything up to the end, or to the brace that closes. */
  run(depth = 0): Node[] {
    const out: Node[] = [];
    while (this.#at < this.list.length) {
      const token = this.list[this.#at] as Token;
      if (token.mark === "}") break;
      out.push(...this.one(depth));
    }
    return out;
  }

  one(depth: number): Node[] {
    while (this.list[this.#at]?.text?.trim() === "") this.#at++;
    const token = this.list[this.#at++];
    if (!token || depth > DEPTH) return [];
    if (token.mark === "}") {
      this.#at--; // it closes what is around this
      return [];
    }
    if (token.mark === "{") {
      const inside = this.run(depth + 1);
      this.#at++;
      return inside;
    }
    if (token.mark === "^" || token.mark === "_") {
      return [el(token.mark === "^" ? "sup" : "sub", {}, ...this.one(depth + 1))];
    }
    if (token.mark) return [document.createTextNode(token.mark === "&" ? " " : "")];
    if (token.command !== undefined) return this.command(token.command, depth + 1);
    return [this.letters(token.text as string)];
  }

  letters(text: string): Node {
    if (/[A-Za-z]/.test(text)) return el("i", { text });
    return document.createTextNode(/[-+=<>?:]/.test(text) ? ` ${text.replace("-", "−")} ` : text === "," ? ", " : text);
  }

  command(name: string, depth: number): Node[] {
    if (name in SPACES) return [document.createTextNode(SPACES[name] as string)];
    if (SILENT.has(name)) return [];
    if (name === "frac" || name === "tfrac") {
      const [top, low] = [this.one(depth), this.one(depth)];
      return [el("span.vt-frac", {}, el("span", {}, ...top), el("span", {}, ...low))];
    }
    if (name === "sqrt") return [document.createTextNode("√"), el("span.vt-root", {}, ...this.one(depth))];
    if (name === "bar" || name === "overline" || name === "hat") {
      const inside = this.one(depth);
      if (name === "bar" && this.incoming) return [el("i.vt-gradc", { text: this.incoming })];
      return [el(name === "hat" ? "span.vt-hat" : "span.vt-over", {}, ...inside)];
    }
    if (name === "text" || name === "mathrm" || name === "mathsf" || name === "mathcal") {
      return [el("span.vt-roman", { text: this.words() })];
    }
    if (name === "begin" || name === "end") {
      this.words();
      return [document.createTextNode(name === "begin" ? "(" : ")")];
    }
    const sign = SIGNS[name];
    if (sign !== undefined) return [document.createTextNode(/[≤≥≠∈∋·×⋆⊙]/.test(sign) ? ` ${sign} ` : sign)];
    return [el("span.vt-roman", { text: NAMES.has(name) ? `${name} ` : name })];
  }

  /** The letters of the group that follows, as they stand. */
  words(): string {
    if (this.list[this.#at]?.mark !== "{") return this.list[this.#at++]?.text ?? "";
    let said = "";
    for (this.#at++; this.#at < this.list.length; this.#at++) {
      const token = this.list[this.#at] as Token;
      if (token.mark === "}") break;
      said += token.text ?? token.mark ?? SPACES[token.command ?? ""] ?? token.command ?? "";
    }
    this.#at++;
    return said;
  }
}

const bars = (latex: string): Set<string> =>
  new Set([...latex.matchAll(/\\bar\s*(\{[^}]*\}|\\?[A-Za-z]+?(?![a-z])|\w)/g)].map((found) => found[1] as string));

/** LaTeX as nodes; `incoming` stands for the one gradient that comes in. */
export function math(latex: string, incoming = ""): Node[] {
  return new Reader(tokens(latex), incoming).run();
}

/** The right side of a vjp: the gradient that comes in is called g, where that is not taken and there is only one. */
export function vjp(latex: string): Node[] {
  const right = latex.slice(latex.indexOf("=") + 1);
  const plain = right.replace(/\\[A-Za-z]+/g, " ");
  const one = bars(right).size === 1 && !/\\bar\s*\{/.test(right) && !/(^|[^A-Za-z])g(?![A-Za-z])/.test(plain);
  return math(right, one ? "g" : "");
}

type Said = { input: string; latex: string };

/** What each letter of some formulas stands for: [letter, "g", "y", or the input's name]; `all` names the inputs. */
export function letters(rules: Said[], all: Said[] = rules): [string, string][] {
  const sides = all.map(({ input, latex }) => {
    const at = latex.indexOf("=");
    const left = at < 0 ? null : /^\\bar\s*\{?\s*(\\?[A-Za-z]+)\s*\}?\s*$/.exec(latex.slice(0, at).trim());
    return { input, left: left?.[1] ?? "" };
  });
  const lefts = new Set(sides.map((side) => side.left));
  const found = new Map<string, string>();
  for (const { latex } of rules) {
    const right = latex.slice(latex.indexOf("=") + 1);
    const incoming = [...bars(right)].map((one) => one.replace(/[{}]/g, "")).filter((one) => !lefts.has(one));
    const plain = right.replace(/\\bar\s*(\{[^}]*\}|\\?[A-Za-z]+?(?![a-z])|\w)/g, " ").replace(/\\(text|mathrm)\{[^}]*\}/g, " ");
    const has = (letter: string): boolean =>
      new RegExp(`(^|[^A-Za-z\\\\])${letter.replace("\\", "\\\\")}(?![A-Za-z])`).test(plain);
    if (incoming.length === 1) found.set("g", "g");
    for (const one of incoming) if (has(one)) found.set(one, "y");
    for (const side of sides) if (side.left && has(side.left)) found.set(side.left, side.input);
  }
  return [...found];
}

/** ∂L/∂x. */
export function partial(of: string, by: string): HTMLElement {
  return el(
    "span.vt-frac",
    {},
    el("span", {}, "∂", el("i", { text: of })),
    el("span", {}, "∂", el("i", { text: by })),
  );
}
