// The kernel follows the page: it is sent where the page stands, one message at a time, the newest place only.

import { type Kernel, refused } from "../graph/kernel";

export class Follow {
  #kernel: Kernel;
  #wanted = -1;
  #busy = false;
  over = "";
  #stood: (frames: number, why: string) => void;

  constructor(kernel: Kernel, stood: (frames: number, why: string) => void) {
    this.#kernel = kernel;
    this.#stood = stood;
  }

  get live(): boolean {
    return this.#kernel.live && !this.over;
  }

  go(frames: number): void {
    this.#wanted = frames;
    this.#send();
  }

  #send(): void {
    if (this.#busy || this.#wanted < 0 || !this.live) return;
    const to = this.#wanted;
    this.#wanted = -1;
    this.#busy = true;
    this.#kernel.ask({ type: "go", to }, (answer) => {
      this.#busy = false;
      const why = refused(answer);
      if (why && this.#wanted < 0) this.#stood(typeof answer.at === "number" ? answer.at : to, why);
      this.#send();
    });
  }

  leave(how: "finish" | "undo", off: boolean, done: (why: string) => void): void {
    if (!this.live) return;
    this.#kernel.ask({ type: "leave", how, off }, (answer) => {
      const why = refused(answer);
      if (!why) this.over = how;
      done(why);
    });
  }
}
