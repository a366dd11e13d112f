import { describe, expect, it } from "vitest";
import { markOf, scoped } from "../src/shared/scope";

const w = ":where(.k,.k *)";

describe("a sheet for one kind of page", () => {
  it("holds each selector to the marked root and what stands in it", () => {
    expect(scoped(".vt{--a:1}.vt .x>a:hover , .y{color:red}", "k")).toBe(
      `.vt${w}{--a:1}.vt .x>a:hover${w},.y${w}{color:red}`,
    );
  });

  it("leaves commas and colons in brackets alone, and puts itself before a pseudo-element", () => {
    expect(scoped(`.a:is(.b, .c):not([x="::,{"])::after{content:"}"}`, "k")).toBe(
      `.a:is(.b, .c):not([x="::,{"])${w}::after{content:"}"}`,
    );
  });

  it("knows a pseudo-element as a minifier writes it", () => {
    expect(scoped(".a:first-child:after,.b:before{x:y}", "k")).toBe(`.a:first-child${w}:after,.b${w}:before{x:y}`);
  });

  it("goes into media and container queries, not into key frames", () => {
    expect(scoped("@container (max-width:7px){.a{b:c}.d{e:f}}@keyframes t{from{x:0}to{x:1}}.z{}", "k")).toBe(
      `@container (max-width:7px){.a${w}{b:c}.d${w}{e:f}}@keyframes t{from{x:0}to{x:1}}.z${w}{}`,
    );
  });

  it("drops remarks, braces in them too", () => {
    expect(scoped("/* { */.a{b:c}/* end */", "k")).toBe(`.a${w}{b:c}`);
  });

  it("is the same for the same sheet and another for another", () => {
    expect(markOf(".a{}")).toBe(markOf(".a{}"));
    expect(markOf(".a{}")).not.toBe(markOf(".b{}"));
    expect(markOf(".a{}")).toMatch(/^vt-of-[0-9a-z]+$/);
  });
});
