import { beforeEach, describe, expect, it, vi } from "vitest";
import array from "../src/array/page";
import widget from "../src/vars/page";
import { COLUMNS, ordered } from "../src/vars/order";
import type { RowState as Row } from "../src/vars/types";
import { fakeModel, item, nd, pack, state } from "./make";

// Node imports no module from bytes: the page that would come is the one of the sources.
vi.mock("../src/vars/load", () => ({ load: async () => array }));

const row = (name: string, over: Partial<Row> = {}): Row => ({
  name,
  kind: "tensor",
  shape: [2, 3],
  dtype: "float32",
  device: "cpu",
  nbytes: 24,
  requires_grad: false,
  grad_norm: null,
  thumb: { codes: nd(Uint8Array.from([0, 126, 255, 252]), [1, 4]), map: "tide", centre: true },
  says: "",
  number: "",
  ...over,
});

const rows = [
  row("w10", { nbytes: 400, grad_norm: 0.5, requires_grad: true }),
  row("net", { kind: "module", shape: null, dtype: "", nbytes: 9000, thumb: null }),
  row("w2", { nbytes: 24, grad_norm: "nan" }),
];
const names = (column: string, reverse = false): string[] =>
  ordered(rows, COLUMNS.find((one) => one.name === column) as (typeof COLUMNS)[0], reverse).map(
    (i) => rows[i]?.name ?? "",
  );

describe("the order of rows", () => {
  it("is natural for names, largest first for numbers", () => {
    expect(names("name")).toEqual(["net", "w2", "w10"]);
    expect(names("name", true)).toEqual(["w10", "w2", "net"]);
    expect(names("bytes")).toEqual(["net", "w10", "w2"]);
    expect(names("bytes", true)).toEqual(["w2", "w10", "net"]);
  });

  it("puts NaN before the largest and what is not there last, either way", () => {
    expect(names("grad norm")).toEqual(["w2", "w10", "net"]);
    expect(names("grad norm", true)).toEqual(["w10", "w2", "net"]);
    expect(names("dtype", true)).toEqual(["w10", "w2", "net"]);
  });
});

describe("the table of names", () => {
  beforeEach(() => {
    HTMLCanvasElement.prototype.getContext = (() => null) as never;
  });
  const frames = () => new Promise((done) => setTimeout(done, 80));
  function shown(live: boolean) {
    const model = fakeModel(pack("vars", { title: "3 names, 9.2 kB", rows }), live);
    const ended = new AbortController();
    const el = document.createElement("div");
    document.body.replaceChildren(el);
    widget.render({ model, el, signal: ended.signal });
    return {
      model,
      el,
      ended,
      lines: () => [...el.querySelectorAll<HTMLElement>("tbody tr")],
      note: () => el.querySelector(".vt-opened .vt-note")?.textContent,
    };
  }

  it("sorts by its heads and says so", () => {
    const { el, lines } = shown(false);
    const head = el.querySelectorAll<HTMLElement>("th button")[5] as HTMLElement;
    head.click();
    expect(lines().map((line) => line.children[1]?.textContent)).toEqual(["net", "w10", "w2"]);
    expect(head.parentElement?.getAttribute("aria-sort")).toBe("descending");
    head.click();
    expect(lines()[0]?.children[1]?.textContent).toBe("w2");
  });

  it("has a column of notes where a row has one", () => {
    expect(shown(false).el.querySelector(".vt-says")).toBeNull();
    const model = fakeModel(pack("vars", { title: "", rows: [row("x"), row("y", { says: "view of x" })] }));
    const el = document.createElement("div");
    widget.render({ model, el, signal: new AbortController().signal });
    expect([...el.querySelectorAll("th.vt-says")].map((one) => one.textContent)).toEqual(["note"]);
    expect([...el.querySelectorAll("td.vt-says")].map((one) => one.textContent)).toEqual(["", "view of x"]);
  });

  it("without a kernel says what to type", () => {
    const { lines, note, model } = shown(false);
    lines()[2]?.click();
    expect(note()).toBe("To look at it, type %vt show w2");
    expect(model.send).not.toHaveBeenCalled();
  });

  it("opens a row by Enter, takes the answer that it waits for, and lets go at the end", async () => {
    const { lines, model, el, ended } = shown(true);
    lines()[0]?.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowDown", bubbles: true }));
    expect(document.activeElement).toBe(lines()[1]);
    lines()[0]?.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
    expect(model.send).toHaveBeenCalledWith({ type: "open", row: 0 });
    const bytes = (name: string) => [
      new DataView(pack("array", state([item([3, 4], { name })])).buffer),
      new Uint8Array(8),
    ];
    model.fire("msg:custom", { type: "opened", row: 2 }, bytes("late"));
    expect(el.querySelector(".vt-opened .vt-card")).toBeNull();
    model.fire("msg:custom", { type: "opened", row: 0 }, bytes("w10"));
    await frames();
    expect(el.querySelector(".vt-opened .vt-head")?.textContent).toMatch(/w10/);
    model.fire("msg:custom", { type: "opened", row: 0, why: "it is gone" }, []);
    expect(el.querySelector(".vt-opened .vt-note")?.textContent).toBe("it is gone");
    ended.abort();
    expect(model.listeners()).toBe(0);
  });

  it("keeps names text", () => {
    const evil = "<img src=x onerror=alert(1)>";
    const model = fakeModel(
      pack("vars", { title: evil, rows: [row(evil, { says: evil, dtype: evil, device: evil })] }),
    );
    const el = document.createElement("div");
    widget.render({ model, el, signal: new AbortController().signal });
    expect(el.querySelector("img")).toBeNull();
    expect(el.querySelector("td:nth-child(2)")?.textContent).toBe(evil);
  });
});
