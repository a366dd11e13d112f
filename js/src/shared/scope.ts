// A style sheet that holds for one kind of page only. Pages of several kinds stand in one notebook, each with its own
// sheet, and the same class means other things in them.

/** The end of the block that begins at the brace `from`, strings left out. */
function closing(css: string, from: number): number {
  let deep = 0;
  let quote = "";
  for (let i = from; i < css.length; i++) {
    const c = css[i] as string;
    if (quote) {
      if (c === "\\") i++;
      else if (c === quote) quote = "";
    } else if (c === '"' || c === "'") quote = c;
    else if (c === "{") deep++;
    else if (c === "}" && --deep === 0) return i;
  }
  return css.length;
}

/** Where `what` stands next, brackets and strings left out; the end where it does not. */
function next(text: string, what: string, from: number): number {
  let deep = 0;
  let quote = "";
  for (let i = from; i < text.length; i++) {
    const c = text[i] as string;
    if (quote) quote = c === quote ? "" : quote;
    else if (c === '"' || c === "'") quote = c;
    else if (c === "(" || c === "[") deep++;
    else if (c === ")" || c === "]") deep--;
    else if (deep === 0 && text.startsWith(what, i)) return i;
  }
  return text.length;
}

function selectors(prelude: string, within: string): string {
  const found: string[] = [];
  for (let at = 0; at < prelude.length; ) {
    const end = next(prelude, ",", at);
    const one = prelude.slice(at, end).trim();
    const old = one.search(/:(?:before|after|first-line|first-letter)$/); // how a minifier writes ::before
    const pseudo = Math.min(next(one, "::", 0), old < 0 ? one.length : old);
    found.push(one.slice(0, pseudo) + within + one.slice(pseudo));
    at = end + 1;
  }
  return found.join(",");
}

/** The sheet, each rule matching only `.mark` and what stands in it; no rule becomes stronger by that. */
export function scoped(css: string, mark: string): string {
  const within = `:where(.${mark},.${mark} *)`;
  let out = "";
  let at = 0;
  const plain = css.replace(/\/\*[^]*?\*\//g, "");
  while (at < plain.length) {
    const open = next(plain, "{", at);
    if (open === plain.length) break;
    const end = closing(plain, open);
    const prelude = plain.slice(at, open).trim();
    const inside = plain.slice(open + 1, end);
    if (/^@(media|container|supports)\b/.test(prelude)) out += `${prelude}{${scoped(inside, mark)}}`;
    else out += `${prelude.startsWith("@") ? prelude : selectors(prelude, within)}{${inside}}`;
    at = end + 1;
  }
  return out;
}

/** A class for all pages with this sheet, whichever bundle brought them. */
export function markOf(css: string): string {
  let hash = 0;
  for (let i = 0; i < css.length; i++) hash = (Math.imul(hash, 31) + css.charCodeAt(i)) | 0;
  return `vt-of-${(hash >>> 0).toString(36)}`;
}
