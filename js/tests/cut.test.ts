import { describe, expect, it } from "vitest";
import { CLOSED, GONE, RESTARTED } from "../src/shared/model";
import { cutOff } from "../src/watch/cut";
import { head } from "./watching";

describe("a run that no kernel answers for", () => {
  it("is never said to run, wait or be paused", () => {
    for (const status of ["waiting", "running", "paused"] as const) {
      const now = head({ status, step: 1234 });
      expect(cutOff(now, true, "")).toBeNull();
      for (const lost of [RESTARTED, GONE])
        expect(cutOff(now, false, lost)).toEqual({
          word: "cut off",
          sentence: "The training ended with its kernel, after step 1,234.",
        });
      expect(cutOff(now, false, CLOSED)?.sentence).toContain("it may go on");
      expect(cutOff(now, false, "")).toEqual({
        word: "recorded",
        sentence: `Recorded while the training was ${status}, at step 1,234.`,
      });
    }
    expect(cutOff(head({ step: 0 }), false, RESTARTED)?.sentence).toContain("before its first step");
  });

  it("keeps an end that is known", () => {
    for (const status of ["finished", "stopped", "interrupted", "error", "ended"] as const)
      expect(cutOff(head({ status }), false, RESTARTED)).toBeNull();
  });
});
