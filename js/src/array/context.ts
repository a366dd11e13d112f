// What the parts of one card share: the pose, the sheets, and the ways to say that something has changed.

import type { Theme } from "../shared/theme";
import type { Pose } from "./pose";
import type { Sheet } from "./sheet";

export interface CardContext {
  readonly pose: Pose;
  readonly sheets: readonly Sheet[];
  readonly theme: Theme;
  readonly signal: AbortSignal;
  readonly live: boolean;
  /** Paint again: cursor, zoom, colours. */
  changed(): void;
  /** Lay out again: roles, mode, width. */
  arranged(): void;
  /** The cursor was put somewhere by a person. */
  chose(index: readonly number[]): void;
  copied(index: readonly number[], open?: readonly number[]): void;
}
