import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { CLOSED, GONE, listen, Line, meet, offer, UNANSWERED, RESTARTED, UNMET } from "../src/shared/model";
import { any } from "../src/shared/check";
import { page } from "../src/shared/frame";
import { fakeModel, pack } from "./make";

const view = (key: string, live = true) => {
  const model = fakeModel(pack("array", {}), live);
  const { get } = model;
  return { ...model, get: (name: string) => (name === "key" ? key : get(name)) };
};

beforeEach(() => vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  document.body.replaceChildren();
});

describe("a line to the kernel", () => {
  const open = (model = view("k")) => {
    const ended = new AbortController();
    const line = new Line(model, ended.signal);
    const changed = vi.fn();
    listen(line, "change:live", changed, ended.signal);
    return { model, line, changed, ended };
  };

  it.each([
    ["comm_live_update", RESTARTED],
    ["comm:close", CLOSED],
  ])("ends by %s: not live, says why once, and sends nothing more", (event, why) => {
    const { model, line, changed } = open();
    line.send({ type: "go" });
    model.fire(event);
    model.fire(event);
    expect([line.lost, line.get("live"), changed.mock.calls.length]).toEqual([why, false, 1]);
    line.send({ type: "go" });
    expect(model.send).toHaveBeenCalledTimes(1);
  });

  it("ends where sending throws, and lets no error out", () => {
    const { model, line, changed } = open();
    model.send.mockImplementation(() => {
      throw new Error("Cannot send");
    });
    line.send({ type: "go" });
    expect([line.lost, changed.mock.calls.length]).toEqual([GONE, 1]);
  });

  it("says that an answer is late, and takes it back when one comes", () => {
    const { model, line } = open();
    const waits = vi.fn();
    line.waits = waits;
    line.send({ type: "go" });
    vi.advanceTimersByTime(2900);
    expect(waits).not.toHaveBeenCalled();
    vi.advanceTimersByTime(200);
    expect(waits).toHaveBeenLastCalledWith(UNANSWERED);
    model.fire("msg:custom", {}, []);
    expect(waits).toHaveBeenLastCalledWith("");
    expect(line.get("live")).toBe(true);
  });

  it("listens to nothing where nobody ever answered, and to nothing after its end", () => {
    const still = open(view("k", false));
    expect(still.model.listeners()).toBe(0);
    const { model, ended } = open();
    expect(model.listeners()).toBeGreaterThan(0);
    ended.abort();
    expect(model.listeners()).toBe(0);
  });
});

describe("a page and its model", () => {
  const ended = () => new AbortController().signal;

  it("meet whichever comes first, and the newest model of a key is met", () => {
    const met = vi.fn();
    meet("first", met, ended());
    const gone = new AbortController();
    const early = view("first");
    offer(early, gone.signal);
    expect(met).toHaveBeenCalledExactlyOnceWith(early);
    const late = vi.fn();
    meet("first", late, ended());
    expect(late).toHaveBeenCalledWith(early);
    const newer = view("first");
    offer(newer, ended());
    gone.abort(); // the older one's end takes nothing from the newer
    meet("first", late, ended());
    expect(late).toHaveBeenLastCalledWith(newer);
  });

  it("do not meet where there is no key", () => {
    const met = vi.fn();
    meet("", met, ended());
    offer(view(""), ended());
    expect(met).not.toHaveBeenCalled();
  });

  const one = page<object>(any, "", (_, { root, model }) => {
    const said = document.createElement("i");
    const update = () => (said.textContent = String(model.get("live")));
    update();
    listen(model, "change:live", update, ended());
    root.append(said);
    return () => {};
  });
  const shown = (key: string, host = document.createElement("div")) => {
    document.body.append(host);
    const el = document.createElement("div");
    host.append(el);
    one.render({ model: view(key, false), el, signal: ended() });
    const note = () => el.querySelector<HTMLElement>(".vt-lost");
    return { el, live: () => el.querySelector("i")?.textContent, note: () => (note()?.hidden ? "" : note()?.textContent) };
  };

  it("become one live view, which says what became of its kernel and keeps what it shows", () => {
    const { el, live, note } = shown("page");
    expect([live(), note()]).toEqual(["false", ""]);
    const model = view("page");
    one.initialize({ model, signal: ended() });
    expect([live(), note()]).toEqual(["true", ""]);
    model.fire("comm_live_update");
    expect([live(), note()]).toEqual(["false", RESTARTED]);
    expect(el.querySelector("i")).not.toBeNull();
  });

  it("say so in a notebook where they do not meet, and nowhere else", () => {
    const notebook = document.createElement("div");
    notebook.className = "lm-Widget";
    const [inside, outside] = [shown("never", notebook), shown("never")];
    vi.advanceTimersByTime(3100);
    expect([inside.note(), outside.note()]).toEqual([UNMET, ""]);
  });

  it("that fails still tells its text, and says to what stands around it that it failed", () => {
    const bad = page<object>(any, "", () => {
      throw new Error("no such field");
    });
    const el = document.createElement("div");
    bad.render({ model: fakeModel(pack("array", { text: "tensor([1., <b>2.</b>])" })), el, signal: ended() });
    expect(el.textContent).toContain("This cannot be shown: no such field");
    expect(el.querySelector(".vt-text")?.textContent).toBe("tensor([1., <b>2.</b>])");
    expect(el.dataset["failed"]).toBe("no such field");
  });
});
