// A run that was under way when its kernel went: what the panel last received says "running", and nobody knows it is.

import { count } from "../shared/format";
import { CLOSED, GONE, RESTARTED } from "../shared/model";
import { type Head, OPEN } from "./types";

export interface Cut {
  /** In place of the status. */
  word: string;
  sentence: string;
}

const ENDED: readonly string[] = [RESTARTED, GONE];

/** What is said of a run that no kernel answers for; null where its status is true. `lost` says why, "" in a file. */
export function cutOff(head: Head, live: boolean, lost: string): Cut | null {
  if (live || !(OPEN as readonly string[]).includes(head.status)) return null;
  const at = head.step ? `step ${count(head.step)}` : "its first step";
  if (ENDED.includes(lost))
    return { word: "cut off", sentence: `The training ended with its kernel, ${head.step ? "after" : "before"} ${at}.` };
  if (lost === CLOSED)
    return { word: "unknown", sentence: `This panel followed the training up to ${at}; it may go on.` };
  return { word: "recorded", sentence: `Recorded while the training was ${head.status}, at ${at}.` };
}
