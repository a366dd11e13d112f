// One way of looking at an array: roles, cursor, zoom. Shared by the pictures that are linked. No page in it.

import { type Frame, firstRoles, frameOf, imageRoles, setRole, settled } from "./axes";
import { type Camera, type Box, held, revealed, scaleX, scaleY, start, zoomed } from "./camera";
import { type Fit, fit, locate, placeIn } from "./mosaic";
import type { Item, Role } from "./types";

const clamp = (v: number, lo: number, hi: number): number => Math.max(lo, Math.min(hi, v));

export class Pose {
  readonly shape: number[];
  readonly block: number[];
  readonly grid: number[];
  roles: Role[];
  frame: Frame;
  image: boolean;
  /** The element that stands chosen, one number for each axis; sliders are part of it. */
  cursor: number[];
  /** The element under the pointer. */
  hover: number[] | null = null;
  camera: Camera = start();
  box: Box = { width: 600, height: 400 };
  fit: Fit;
  /** Single elements of a pooled array can be reached: the kernel answers for them. */
  readonly fine: boolean;
  #item: Item;
  #plain: Role[];

  constructor(item: Item, fine: boolean) {
    this.#item = item;
    this.shape = item.shape;
    this.block = item.block;
    this.grid = item.grid;
    this.fine = fine;
    this.#plain = this.roles = firstRoles(item);
    this.image = Boolean(item.image?.shown);
    if (this.image) this.roles = imageRoles(item, this.#plain);
    this.frame = frameOf(this.roles);
    this.cursor = item.shape.map(() => 0);
    this.fit = this.#refit();
  }

  get size(): number {
    return this.shape.reduce((n, k) => n * k, 1);
  }

  get tiled(): boolean {
    return this.fit.mosaic.x.tiles * this.fit.mosaic.y.tiles > 1;
  }

  get sx(): number {
    return scaleX(this.fit, this.camera.zoom);
  }

  get sy(): number {
    return scaleY(this.fit, this.camera.zoom);
  }

  /** The element that the readout speaks of. */
  get index(): number[] {
    return this.hover ?? this.cursor;
  }

  /** Axes that a slider moves. */
  get sliders(): number[] {
    return this.roles.flatMap((role, axis) => (role === "slider" ? [axis] : []));
  }

  setBox(width: number, height: number): void {
    this.box = { width, height };
    this.fit = this.#refit();
    // The box is as high as the picture when all of it is in view, and stays so at every zoom.
    const { mosaic, sx, sy } = this.fit;
    this.box = { width: Math.min(width, mosaic.x.length * sx), height: Math.min(height, mosaic.y.length * sy) };
    this.camera = held(this.camera, this.fit, this.box);
  }

  setRole(axis: number, role: Role): void {
    this.roles = setRole(this.roles, axis, role);
    if (!this.image) this.#plain = this.roles;
    this.#reframe();
  }

  setImage(on: boolean): void {
    this.image = on && this.#item.image !== null;
    this.roles = this.image ? imageRoles(this.#item, this.#plain) : settled(this.#plain);
    this.#reframe();
  }

  #reframe(): void {
    this.frame = frameOf(this.roles);
    this.hover = null;
    this.camera = start();
    this.fit = this.#refit();
  }

  #refit(): Fit {
    const inside = (axis: number): number => (this.fine && axis >= 0 ? (this.block[axis] ?? 1) : 1);
    return fit(this.grid, this.frame, {
      ...this.box,
      square: this.image,
      inX: inside(this.frame.cols),
      inY: inside(this.frame.rows),
    });
  }

  blockOf(axis: number): number {
    return axis < 0 ? 1 : (this.block[axis] ?? 1);
  }

  /** Move an index onto the grid that can be read: its block's first element where only blocks are known. */
  snapped(index: readonly number[]): number[] {
    return index.map((i, axis) => {
      const at = clamp(Math.round(i), 0, Math.max(0, (this.shape[axis] as number) - 1));
      return this.fine ? at : Math.floor(at / this.blockOf(axis)) * this.blockOf(axis);
    });
  }

  /** The element under a point of the picture (pixels from its top left corner). */
  at(px: number, py: number): number[] | null {
    const { mosaic } = this.fit;
    const x = locate(mosaic.x, this.camera.x + px / this.sx);
    const y = locate(mosaic.y, this.camera.y + py / this.sy);
    if (!x || !y || px < 0 || py < 0 || px >= this.box.width || py >= this.box.height) return null;
    const index = [...this.cursor];
    const { rows, cols, across, down } = this.frame;
    const put = (axis: number, cell: number): void => {
      if (axis >= 0) index[axis] = Math.min((this.shape[axis] as number) - 1, Math.floor(cell * this.blockOf(axis)));
    };
    put(rows, y.cell);
    put(cols, x.cell);
    const tile = mosaic.wrap ? y.tile * mosaic.wrap + x.tile : x.tile;
    if (mosaic.wrap && tile >= mosaic.count) return null;
    put(across, tile);
    if (!mosaic.wrap) put(down, y.tile);
    return this.snapped(index);
  }

  /** The tile of an index: column and row of tiles. */
  tileOf(index: readonly number[]): { tx: number; ty: number } {
    const { across, down } = this.frame;
    const of = (axis: number): number => (axis < 0 ? 0 : Math.floor((index[axis] ?? 0) / this.blockOf(axis)));
    const { wrap } = this.fit.mosaic;
    if (wrap) return { tx: of(across) % wrap, ty: Math.floor(of(across) / wrap) };
    return { tx: of(across), ty: of(down) };
  }

  /** Where an index is drawn: pixels from the top left corner of the picture, `whole` for its block. */
  rect(index: readonly number[], whole = !this.fine): { x: number; y: number; w: number; h: number } {
    const { mosaic } = this.fit;
    const { rows, cols } = this.frame;
    const { tx, ty } = this.tileOf(index);
    const cell = (axis: number): number => {
      if (axis < 0) return 0;
      const place = (index[axis] ?? 0) / this.blockOf(axis);
      return whole ? Math.floor(place) : place;
    };
    return {
      x: (placeIn(mosaic.x, tx, cell(cols)) - this.camera.x) * this.sx,
      y: (placeIn(mosaic.y, ty, cell(rows)) - this.camera.y) * this.sy,
      w: this.sx / (whole ? 1 : this.blockOf(cols)),
      h: this.sy / (whole ? 1 : this.blockOf(rows)),
    };
  }

  /** True where the element lies in the slice that is shown. */
  shows(index: readonly number[]): boolean {
    return this.sliders.every(
      (axis) =>
        Math.floor((index[axis] ?? 0) / this.blockOf(axis)) ===
        Math.floor((this.cursor[axis] ?? 0) / this.blockOf(axis)),
    );
  }

  go(index: readonly number[]): void {
    this.cursor = this.snapped(index);
    this.hover = null;
    this.reveal();
  }

  reveal(): void {
    const { mosaic } = this.fit;
    const { tx, ty } = this.tileOf(this.cursor);
    const cell = (axis: number): number => (axis < 0 ? 0 : (this.cursor[axis] ?? 0) / this.blockOf(axis));
    const x = placeIn(mosaic.x, tx, cell(this.frame.cols));
    const y = placeIn(mosaic.y, ty, cell(this.frame.rows));
    this.camera = revealed(this.camera, this.fit, this.box, x, y);
  }

  /** Move the cursor by cells; out of one tile and into the next. */
  move(dx: number, dy: number): void {
    const { rows, cols, across, down } = this.frame;
    const next = [...this.cursor];
    const step = (axis: number, over: number, by: number): void => {
      if (!by) return;
      if (axis < 0) {
        this.#stride(next, over, by);
        return;
      }
      const unit = this.fine ? 1 : this.blockOf(axis);
      const to = (next[axis] as number) + by * unit;
      const last = (this.shape[axis] as number) - 1;
      if (to >= 0 && to <= last) next[axis] = to;
      else if (over >= 0 && this.#stride(next, over, Math.sign(by))) next[axis] = to < 0 ? last : 0;
      else next[axis] = clamp(to, 0, last);
    };
    step(cols, across, dx);
    step(rows, this.fit.mosaic.wrap ? -1 : down, dy);
    this.go(next);
  }

  /** Move the cursor by whole tiles (by ten cells where there are none). */
  leap(dx: number, dy: number): void {
    if (!this.tiled) return this.move(dx * 10, dy * 10);
    const next = [...this.cursor];
    const { across, down } = this.frame;
    const { wrap } = this.fit.mosaic;
    this.#stride(next, across, dx + (wrap ? dy * wrap : 0));
    if (!wrap) this.#stride(next, down, dy);
    this.go(next);
  }

  #stride(index: number[], axis: number, by: number): boolean {
    if (axis < 0) return false;
    const to = (index[axis] as number) + by * this.blockOf(axis);
    if (to < 0 || to >= (this.shape[axis] as number)) return false;
    index[axis] = to;
    return true;
  }

  /** Turn a slider by so many steps; at the end it stays, or begins again. */
  turn(axis: number, by: number, round = false): void {
    const unit = this.fine ? 1 : this.blockOf(axis);
    const size = this.shape[axis] as number;
    let to = (this.cursor[axis] as number) + by * unit;
    if (round && to >= size) to = 0;
    this.cursor = this.snapped(this.cursor.map((i, a) => (a === axis ? clamp(to, 0, size - 1) : i)));
  }

  zoomBy(factor: number, px: number, py: number): void {
    this.camera = zoomed(this.camera, this.fit, this.box, factor, px, py);
  }

  panTo(x: number, y: number): void {
    this.camera = held({ ...this.camera, x, y }, this.fit, this.box);
  }

  whole(): void {
    this.camera = start();
  }

  /** True where there is more picture than view. */
  get roams(): boolean {
    const { mosaic } = this.fit;
    return mosaic.x.length * this.sx > this.box.width + 0.5 || mosaic.y.length * this.sy > this.box.height + 0.5;
  }
}
