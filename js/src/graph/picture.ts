// One layout as a drawing: frames, edges, boxes, pills. It is drawn once for a fold state; what changes from step to
// step (states of nodes, widths of edges, marks) is painted onto what stands there.

import { bytes, num, shapeText } from "../shared/format";
import { cut, dress, found, SAID, type Stand } from "./dress";
import { beside, inside, together } from "./flows";
import type { Deeds, Look } from "./look";
import { type Graph, GROUP, NODE, ROOT, rows } from "./model";
import { COLUMN, type Layout, SMALL } from "./types";
import { head, headAcross, svg, way, widthOf } from "./svg";

interface Line {
  path: SVGPathElement;
  tip: SVGPathElement | null;
  label: SVGTextElement | null;
  points: number[][];
  edges: number[];
  root: boolean;
  shape: string;
  space: number;
  shared: boolean;
}

interface Mark {
  element: SVGGElement;
  members: number[];
  group: number;
  sign: SVGPathElement;
  diamond: SVGPathElement;
}

interface Pin {
  element: SVGGElement;
  node: number;
  path: SVGPathElement;
  tip: SVGPathElement | null;
  value: SVGTextElement;
  bend: (wide: number) => [string, string];
}

export class Picture {
  readonly root: SVGSVGElement;
  readonly layout: Layout;
  /** Everything that can have the focus, with its place. */
  readonly stops: { element: SVGGElement; x: number; y: number; node: number; group: number }[] = [];
  #graph: Graph;
  #deeds: Deeds;
  #lines: Line[] = [];
  #marks: Mark[] = [];
  #pins: Pin[] = [];
  #row = new Map<number, number>();

  constructor(graph: Graph, layout: Layout, deeds: Deeds) {
    this.#graph = graph;
    this.layout = layout;
    this.#deeds = deeds;
    const { width, height } = layout;
    this.root = svg("svg", {
      viewBox: `-16 -6 ${width + 32} ${height + 12}`,
      width: width + 32,
      height: height + 12,
      role: "group",
      "aria-label": `${graph.state.title}: ${graph.state.meta.join(", ")}`,
    });
    this.root.classList.add("vt-graph");
    const boxes = rows(layout.boxes);
    this.#place(boxes);
    const [frames, lines, words, nodes] = [svg("g"), svg("g"), svg("g"), svg("g")];
    this.root.append(frames, lines, nodes, words);
    const areas = rows(layout.frames).sort((a, b) => (b[3] ?? 0) * (b[4] ?? 0) - (a[3] ?? 0) * (a[4] ?? 0));
    for (const row of areas) this.#frame(row, frames);
    this.#edges(boxes, areas, lines, words);
    boxes.forEach((row, i) => this.#box(row, i, nodes));
    for (const row of rows(layout.pills)) this.#pill(row, boxes, lines, nodes);
    this.stops.sort((a, b) => a.y - b.y || a.x - b.x);
  }

  /** In which row of the boxes each node is seen. */
  #place(boxes: number[][]): void {
    const [of, groups] = [new Map<number, number>(), new Map<number, number>()];
    boxes.forEach(([what, number], row) => {
      if (what === NODE) of.set(number as number, row);
      else if (what === GROUP) groups.set(number as number, row);
    });
    for (let i = 0; i < this.#graph.count; i++) {
      let row = of.get(i);
      if (row === undefined && this.#graph.isOp(i)) {
        for (const g of this.#graph.around(i)) row = groups.get(g) ?? row;
      }
      if (row !== undefined && !this.#graph.word(i, "chip")) this.#row.set(i, row);
    }
  }

  /** The element that shows a node: its box, its pill, or the closed group it is in. */
  shows(node: number): SVGGElement | null {
    const pin = this.#pins.find((one) => one.node === node);
    if (pin) return pin.element;
    return this.#marks.find((mark) => mark.members.includes(node))?.element ?? null;
  }

  /** The line that an edge is part of; null where it is within a closed group. */
  way(edge: number): SVGPathElement | null {
    const line = this.#lines.find((one) => one.edges.includes(edge));
    if (line) return line.path;
    const target = this.#graph.edges[edge]?.target;
    return this.#pins.find((one) => one.node === target)?.path ?? null;
  }

  /** The closed group that hides a node, -1 if it is seen. */
  hides(node: number): number {
    return this.#marks.find((mark) => mark.group >= 0 && mark.members.includes(node))?.group ?? -1;
  }

  #stop(element: SVGGElement, row: number[], node: number, group: number): void {
    const [x, y, w, h] = row.slice(-4) as [number, number, number, number];
    element.setAttribute("tabindex", "-1");
    element.setAttribute("role", "button");
    this.stops.push({ element, x: x + w / 2, y: y + h / 2, node, group });
    element.addEventListener("click", () => (group >= 0 ? this.#deeds.toggle(group) : this.#deeds.choose(node)));
  }

  #frame(row: number[], into: SVGGElement): void {
    const [g, x, y, w, h] = row as [number, number, number, number, number];
    const group = this.#graph.state.groups[g];
    if (!group) return;
    const parameters = group.parameters ? ` · ${group.parameters} parameter${group.parameters > 1 ? "s" : ""}` : "";
    const detail = [group.about, `${group.ops} op${group.ops > 1 ? "s" : ""}${parameters}`].filter(Boolean).join(" · ");
    const title = cut(group.name, Math.floor((w - 40 - detail.length * 6.1) / 7.2));
    into.append(svg("rect", { class: "vt-frame", x, y, width: w, height: h, rx: 6 }));
    const bar = svg(
      "g",
      { class: "vt-bar", "aria-expanded": "true", "aria-label": `${group.name}, open, ${detail}` },
      svg("title", { text: [group.path, group.kind, "closes"].filter(Boolean).join("\n") }),
      svg("rect", { x: x + 2, y: y + 2, width: w - 4, height: 21, rx: 4 }),
      svg("path", { class: "vt-fold", d: `M${x + 10} ${y + 9}h7l-3.5 5z` }),
      svg("text", { x: x + 22, y: y + 16, text: title }),
      svg("text", { class: "vt-small", x: x + w - 12, y: y + 16, "text-anchor": "end", text: detail }),
    );
    this.#stop(bar, [0, x, y, w, 26], -1, g);
    into.append(bar);
  }

  #edges(boxes: number[][], areas: number[][], into: SVGGElement, words: SVGGElement): void {
    const { layout } = this;
    const all = rows(layout.edges);
    const points = rows(layout.points);
    const between = new Map<string, number[]>();
    for (const e of this.#graph.edges) {
      const [a, b] = [this.#row.get(e.source), this.#row.get(e.target)];
      if (a === undefined || b === undefined || a === b) continue;
      const key = `${a} ${b}`;
      const found = between.get(key);
      if (found) found.push(e.number);
      else between.set(key, [e.number]);
    }
    const upright = new Map<number, [number, number][]>();
    const paths = all.map((row, i) => points.slice(row[4], all[i + 1]?.[4] ?? points.length));
    const [ins, outs] = [new Map<number, number>(), new Map<number, number>()];
    all.forEach(([a, b], i) => {
      outs.set(a as number, (outs.get(a as number) ?? 0) + 1);
      ins.set(b as number, (ins.get(b as number) ?? 0) + 1);
      const path = paths[i] as number[][];
      for (let k = 1; k < path.length; k++) {
        const [[ax, ay], [bx, by]] = [path[k - 1], path[k]] as [[number, number], [number, number]];
        if (ax === bx) upright.set(ax, [...(upright.get(ax) ?? []), [Math.min(ay, by), Math.max(ay, by)]]);
      }
    });
    const taken = new Set<string>();
    all.forEach(([a, b, first], i) => {
      const path = paths[i] as number[][];
      if (path.length < 2) return;
      const edges = (between.get(`${a} ${b}`) ?? []).filter((e) => (first as number) >= 0 && e >= 0);
      const dead = edges.length > 0 && edges.every((e) => this.#graph.edges[e]?.dead);
      const root = boxes[a as number]?.[0] === ROOT;
      const drawn = svg("path", { class: "vt-edge", d: way(path, dead ? 0 : 6) });
      const tip = dead ? null : svg("path", { class: "vt-tip" });
      if (dead) drawn.classList.add("vt-never");
      into.append(drawn, ...(tip ? [tip] : []));
      const shapes = new Set(edges.map((e) => shapeText(this.#graph.edges[e]?.shape ?? [])));
      const shape = edges.length ? (shapes.size === 1 ? [...shapes][0] : `${edges.length} tensors`) : "";
      const line: Line = { path: drawn, tip, label: null, points: path, edges, root, shape: shape ?? "", space: (boxes[b as number]?.[4] ?? 0) / 2 + 34, shared: false };
      const place =
        shape && !dead ? beside(path, areas, ins.get(b as number) === 1, outs.get(a as number) === 1) : null;
      if (place && !taken.has(place.join())) {
        taken.add(place.join());
        const [x, y] = place;
        line.shared = (upright.get(x) ?? []).filter(([top, low]) => top <= y && y <= low).length > 1;
        line.label = svg("text", { class: "vt-flow", x: x + 11, y });
        if (areas.some(([, fx, fy, fw, fh]) => inside(x + 11, y, fx, fy, fw, fh))) line.label.classList.add("vt-in");
        words.append(line.label);
      }
      this.#lines.push(line);
    });
  }

  #box(row: number[], at: number, into: SVGGElement): void {
    const [what, number, x, y, w, h] = row as [number, number, number, number, number, number];
    const { state } = this.#graph;
    if (what === ROOT) {
      const root = state.roots[number];
      into.append(svg("text", { class: "vt-root-name", x: x + w / 2, y: y + 10, text: root?.text ?? "" }));
      return;
    }
    const closed = what === GROUP;
    const group = closed ? state.groups[number] : null;
    const op = closed || this.#graph.isOp(number);
    const element = svg("g", { class: op ? "vt-node" : "vt-node vt-leaf" });
    if (this.#graph.kind(number) === "failed" && !closed) element.classList.add("vt-failed");
    const members = [...this.#row].filter(([, row]) => row === at).map(([node]) => node);
    const steps = members.map((node) => this.#graph.number(node, "step")).filter(Boolean);
    const [low, high] = [Math.min(...steps), Math.max(...steps)];
    const run = !steps.length || group?.synthetic ? "" : high > low ? `${low}–${high}` : `${low}`;
    const right = closed ? run : this.#graph.word(number, "right");
    let [bold, plain] = closed
      ? [group?.name ?? "", [group?.about, `${group?.ops} op${group?.ops === 1 ? "" : "s"}`].filter(Boolean).join(" · ")]
      : [this.#graph.word(number, "bold"), this.#graph.word(number, "plain")];
    const caption = closed ? [group?.path, group?.kind, "opens"] : this.#about(number);
    element.append(svg("title", { text: caption.filter(Boolean).join("\n") }));
    const size = { width: w, height: h, rx: op ? 5 : h / 2 };
    let [left, wide] = [x, w];
    if (!op) {
      const text = cut(`${bold}  ${plain}`, Math.floor((w - 16) / SMALL));
      wide = Math.min(w, text.length * SMALL + 28);
      left = x + Math.round((w - wide) / 2);
    }
    if (closed) element.append(svg("rect", { class: "vt-under", ...size, x: x + 3, y: y + 3 }));
    element.append(svg("rect", { class: "vt-face", ...size, x: left, width: wide, y }));
    const sign = svg("path", { class: "vt-sign", d: "" });
    sign.dataset.x = String(x);
    const middle = y + h / 2;
    sign.dataset.y = String(middle - 12);
    const diamond = svg("path", { class: "vt-diamond", d: `M${x - 13} ${middle - 7}l7 7-7 7-7-7z` });
    diamond.append(svg("title", { text: "breakpoint" }));
    if (op) {
      const space = Math.floor((w - 30) / COLUMN) - (right ? right.length + 2 : 0);
      plain = cut(plain, bold ? Math.max(3, space - bold.length - 1) : space);
      bold = cut(bold, plain ? space - plain.length - 1 : space);
      const text = svg("text", { x: x + 22, y: middle + 4 });
      if (bold) text.append(svg("tspan", { class: "vt-bold", text: bold }));
      if (plain) text.append(svg("tspan", { class: bold ? "vt-faint" : "", dx: bold ? 7 : null, text: plain }));
      element.append(text);
      if (closed) element.append(svg("path", { class: "vt-fold", d: `M${x + 9} ${middle - 3.5}v7l5-3.5z` }));
      element.append(
        svg("text", { class: "vt-small vt-faint", x: x + w - 8, y: middle + 4, "text-anchor": "end", text: right }),
        sign,
        diamond,
        ...found(Math.max(0, ...members.map((node) => this.#graph.number(node, "mark") || 0)), x, middle),
      );
    } else {
      const text = cut(`${bold}  ${plain}`, Math.floor((w - 16) / SMALL));
      element.append(svg("text", { class: "vt-small", x: x + w / 2, y: y + 14, "text-anchor": "middle", text }));
      if (this.#graph.word(number, "says") || this.#graph.kind(number) === "constant")
        element.classList.add("vt-never");
    }
    this.#stop(element, row, closed ? -1 : number, closed ? number : -1);
    if (closed) element.setAttribute("aria-expanded", "false");
    this.#marks.push({ element, members, group: closed ? number : -1, sign, diamond });
    into.append(element);
  }

  #about(i: number): string[] {
    const g = this.#graph;
    const saved = g.number(i, "saved");
    return [
      g.isOp(i) ? g.word(i, "name") || g.word(i, "op") : g.kind(i),
      g.path(i),
      [g.word(i, "label"), shapeText(g.shape(i)), g.word(i, "dtype"), g.word(i, "device")].filter(Boolean).join(" "),
      saved ? `saved ${bytes(saved)}` : "",
      g.word(i, "line"),
      g.word(i, "says"),
    ];
  }

  #pill(row: number[], boxes: number[][], lines: SVGGElement, into: SVGGElement): void {
    const [node, owner, ride, x, y, w, h] = row as [number, number, number, number, number, number, number];
    const g = this.#graph;
    const box = boxes[owner] as number[];
    const [ox, oy, ow, oh] = box.slice(2) as [number, number, number, number];
    const [x0, y0, x1, y1] = [ox + ow, oy + oh / 2, x, y + h / 2];
    const bend = (wide: number): [string, string] => [
      `M${x0} ${y0}C${x0 + (x1 - x0) * 0.55} ${y0} ${x1 - (x1 - x0) * 0.6} ${y1} ${x1 - 6} ${y1}`,
      headAcross(x1, y1, wide),
    ];
    const dead = g.kind(node) === "constant" || Boolean(g.word(node, "says"));
    const path = svg("path", { class: `vt-edge${dead ? " vt-never" : ""}`, d: bend(1.25)[0] });
    const tip = dead ? null : svg("path", { class: "vt-tip" });
    lines.append(path, ...(tip ? [tip] : []));
    let name = g.word(node, "label") || g.kind(node);
    // Below the module that stands in the box beside it, a parameter goes by its last name.
    const near = box[0] === NODE ? g.path(box[1] as number) : "";
    if (near && name.startsWith(`${near}.`)) name = name.slice(near.length + 1);
    const element = svg("g", { class: `vt-node vt-pill${dead ? " vt-never" : ""}` });
    const space = Math.floor((w - 20) / SMALL) - (Number.isNaN(g.number(node, "grad")) ? 0 : 6);
    const detail = g.shape(node).join("×") || "scalar";
    name = cut(name, Math.max(4, space - detail.length - 1));
    const text = svg("text", { class: "vt-small", x: x + 10, y: y + 13 }, svg("tspan", { text: name }));
    text.append(svg("tspan", { class: "vt-faint", dx: 6, text: cut(detail, space - name.length - 1) }));
    const value = svg("text", { class: "vt-small vt-norm", x: x + w - 10, y: y + 13, "text-anchor": "end" });
    element.append(
      svg("title", { text: this.#about(node).filter(Boolean).join("\n") }),
      svg("rect", { class: "vt-face", x, y, width: w, height: h, rx: 9 }),
      text,
      value,
    );
    into.append(element);
    if (ride >= 0) {
      const sign = g.word(ride, "chip");
      const wide = Math.max(14, sign.length * 5.8 + 7);
      const [cx, cy] = [(x0 + x1) / 2 - 1, (y0 + y1) / 2];
      into.append(
        svg(
          "g",
          { class: "vt-chip" },
          svg("title", { text: this.#about(ride).filter(Boolean).join("\n") }),
          svg("rect", { x: cx - wide / 2, y: cy - 7, width: wide, height: 14, rx: 7 }),
          svg("text", { x: cx, y: cy + 3.3, "text-anchor": "middle", text: sign }),
        ),
      );
    }
    this.#stop(element, row, node, -1);
    this.#pins.push({ element, node, path, tip, value, bend });
  }

  /** Show how things stand now. */
  paint(look: Look): void {
    for (const mark of this.#marks) {
      const stands = mark.members.map((node) => look.stand(node));
      const stand: Stand = stands.includes("here")
        ? "here"
        : stands.length && stands.every((s) => s === "done")
          ? "done"
          : stands.includes("pending") || stands.includes("done")
            ? "pending"
            : (stands[0] ?? "");
      const has = (set: ReadonlySet<number>): boolean => mark.members.some((node) => set.has(node));
      dress(mark.element, stand, mark.group < 0 && has(new Set([look.chosen])), has(look.hits));
      const [x, y] = [Number(mark.sign.dataset.x), Number(mark.sign.dataset.y)];
      const ticked = stand === "done" && mark.group < 0;
      mark.sign.setAttribute(
        "d",
        stand === "here" && mark.group < 0
          ? `M${x + 8} ${y + 6.5}l8.5 5.5-8.5 5.5z`
          : ticked
            ? `M${x + 8} ${y + 12}l3 3.5 5.5-7`
            : "",
      );
      mark.diamond.style.display = has(look.breaks) ? "" : "none";
      const name = mark.group >= 0 ? this.#graph.state.groups[mark.group]?.name : this.#graph.called(mark.members[0] ?? 0);
      const step = mark.group < 0 && this.#graph.number(mark.members[0] ?? 0, "step");
      const said = [step ? `step ${step}` : "", name, mark.group >= 0 ? "closed" : "", SAID[stand]];
      mark.element.setAttribute("aria-label", said.filter(Boolean).join(", "));
    }
    for (const pin of this.#pins) {
      const norm = look.grad(pin.node);
      const old = norm !== null && look.received?.(pin.node) === false;
      dress(pin.element, norm === null || old ? "" : "done", look.chosen === pin.node, look.hits.has(pin.node));
      const wide = widthOf(old ? null : norm, look.scale);
      pin.value.classList.toggle("vt-old", old);
      const asked = this.#graph.edges.some((e) => e.target === pin.node && look.asked?.(e.number));
      for (const part of [pin.path, pin.tip]) part?.classList.toggle("vt-asked", asked);
      this.#ink(pin.path, pin.tip, old ? null : norm, wide, pin.bend(wide)[1]);
      const value = look.gradValue?.(pin.node) ?? null;
      pin.value.textContent = norm === null ? "" : num(value ?? norm, 2);
      const caption = norm === null ? "" : `, ${old ? "not yet reached, from before this pass: " : ""}${value === null ? "norm of its gradient" : "its gradient"} ${num(value ?? norm, 2)}`;
      pin.element.setAttribute("aria-label", this.#graph.called(pin.node) + caption);
    }
    for (const line of this.#lines) {
      const norm = line.root ? (look.scale ? 1 : null) : together(line.edges.map((e) => look.flow(e)));
      const wide = line.root && norm !== null ? 3 : widthOf(norm, look.scale);
      const [last, before] = [line.points.at(-1), line.points.at(-2)] as [number[], number[]];
      const up = (last[1] as number) < (before[1] as number);
      this.#ink(line.path, line.tip, norm, wide, head(last[0] as number, last[1] as number, wide, up));
      const asked = line.edges.some((e) => look.asked?.(e));
      for (const part of [line.path, line.tip, line.label]) part?.classList.toggle("vt-asked", asked);
      if (!line.label) continue;
      if (asked) {
        line.label.classList.remove("vt-on");
        line.label.replaceChildren(svg("tspan", { class: "vt-bold", text: "?" }));
        continue;
      }
      const value = line.edges.length === 1 ? look.value?.(line.edges[0] as number) : null;
      const caption = norm !== null && !line.shared ? num(value ?? norm, 2) : "";
      // A long shape must not run into what stands beside the next box.
      const space = line.space - (caption ? caption.length * SMALL + 8 : 0);
      const shape = line.shape.length * SMALL < space ? line.shape : line.shape.replaceAll(" × ", "×");
      line.label.classList.toggle("vt-on", norm !== null);
      line.label.replaceChildren(
        svg("tspan", { text: shape }),
        ...(caption ? [svg("tspan", { class: "vt-bold", dx: 8, text: caption })] : []),
      );
    }
  }

  #ink(path: SVGPathElement, tip: SVGPathElement | null, norm: number | null, wide: number, end: string): void {
    const bad = norm !== null && !Number.isFinite(norm);
    for (const part of [path, tip]) {
      part?.classList.toggle("vt-on", norm !== null);
      part?.classList.toggle("vt-wrong", bad);
    }
    path.setAttribute("stroke-width", wide.toFixed(2));
    tip?.setAttribute("d", end);
  }
}
