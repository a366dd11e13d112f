// Another page's module, which came as bytes with a message: the table itself stays small until a row is opened.

import type { Stage } from "../shared/model";
import type { Raw } from "../shared/payload";

export interface Widget {
  render(stage: Stage): unknown;
}

const known = new Map<string, Promise<Widget>>();

/** Enough to tell two builds of a page apart. */
function mark(bytes: Raw): string {
  const view = ArrayBuffer.isView(bytes)
    ? new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    : new Uint8Array(bytes);
  return `${view.length} ${view.reduce((sum, byte) => (Math.imul(sum, 31) + byte) | 0, 7)}`;
}

/** Import a module from its bytes; the same module once. */
export function load(bytes: Raw): Promise<Widget> {
  const key = mark(bytes);
  let page = known.get(key);
  if (!page) {
    const url = URL.createObjectURL(new Blob([bytes as BlobPart], { type: "text/javascript" }));
    page = (import(url) as Promise<{ default: Widget }>)
      .then((module) => module.default)
      .finally(() => URL.revokeObjectURL(url));
    known.set(key, page);
  }
  return page;
}
