import { describe, expect, it, vi } from "vitest";
import { painter } from "../src/shared/dom";
import { isDark, Theme, watchTheme } from "../src/shared/theme";

const frames = () => new Promise((done) => setTimeout(done, 60));

function root(): HTMLElement {
  const element = document.createElement("div");
  document.body.replaceChildren(element);
  for (const name of [...document.body.attributes]) document.body.removeAttribute(name.name);
  return element;
}

describe("the theme", () => {
  it("follows the root first, then the host, then the system", () => {
    const element = root();
    vi.stubGlobal("matchMedia", () => ({ matches: true }));
    expect(isDark(element)).toBe(true);
    document.body.className = "vscode-light";
    expect(isDark(element)).toBe(false);
    document.body.className = "vscode-high-contrast";
    expect(isDark(element)).toBe(true);
    document.body.className = "vscode-high-contrast-light";
    expect(isDark(element)).toBe(false);
    document.body.dataset.jpThemeLight = "false";
    expect(isDark(element)).toBe(true);
    element.dataset.theme = "light";
    expect(isDark(element)).toBe(false);
    vi.unstubAllGlobals();
  });

  it("reads its colours again when the host changes, until the signal", async () => {
    const element = root();
    const theme = new Theme(element);
    const ended = new AbortController();
    const changed = vi.fn();
    element.style.setProperty("--vt-bad", "#aa0000");
    watchTheme(theme, element, changed, ended.signal);
    expect(theme.token("bad")).toBe("#aa0000");
    element.style.setProperty("--vt-bad", "#bb0000");
    expect(theme.token("bad")).toBe("#aa0000");
    document.body.dataset.jpThemeLight = "false";
    await frames();
    expect(theme.token("bad")).toBe("#bb0000");
    ended.abort();
    const calls = changed.mock.calls.length;
    document.body.dataset.jpThemeLight = "true";
    await frames();
    expect(changed.mock.calls.length).toBe(calls);
  });

  it("keeps nothing that was read off the page", () => {
    const element = document.createElement("div");
    const theme = new Theme(element);
    expect(theme.token("bad")).toBe("");
    element.style.setProperty("--vt-bad", "#cc0000");
    document.body.replaceChildren(element);
    expect(theme.token("bad")).toBe("#cc0000");
  });
});

describe("the painter", () => {
  it("paints once a frame, and not after the end", async () => {
    const ended = new AbortController();
    const paint = vi.fn();
    const soon = painter(paint, ended.signal);
    soon();
    soon();
    await frames();
    expect(paint).toHaveBeenCalledTimes(1);
    soon();
    ended.abort();
    soon();
    await frames();
    expect(paint).toHaveBeenCalledTimes(1);
  });
});
