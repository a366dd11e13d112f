import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Pose } from "../src/array/pose";
import { Sheet } from "../src/array/sheet";
import { piece, type Source } from "../src/array/source";
import { cellsOf, type Kernel, MOST, roomy, TileRequests, view } from "../src/array/tiles";
import { item } from "./make";

const pooled = { block: [5, 5], grid: [200, 200] };

describe("what a view asks for", () => {
  it("nothing while the overview is enough", () => {
    const pose = new Pose(item([1000, 1000], { block: [2, 2], grid: [500, 500] }), true);
    pose.setBox(400, 400);
    expect(view(pose)).toBeNull();
  });

  it("the part in view, in single values when zoomed, within the limit", () => {
    const pose = new Pose(item([1000, 1000], pooled), true);
    pose.setBox(400, 400);
    for (let i = 0; i < 40; i++) pose.zoomBy(1.5, 200, 200);
    const region = view(pose);
    expect(region?.block).toEqual([1, 1]);
    const middle = pose.at(200, 200) as number[];
    middle.forEach((i, axis) =>
      expect(i >= (region?.start[axis] as number) && i < (region?.stop[axis] as number)).toBe(true),
    );
    for (let zoom = 1; zoom < 300; zoom *= 1.4) {
      pose.whole();
      pose.zoomBy(zoom, 100, 300);
      const one = view(pose);
      if (one) {
        expect(cellsOf(one)).toBeLessThanOrEqual(MOST);
        one.start.forEach((from, axis) =>
          expect(from >= 0 && (one.stop[axis] as number) <= 1000 && (one.stop[axis] as number) > from).toBe(true),
        );
      }
    }
  });

  it("one slice of sliders, all tiles that are in view", () => {
    const pose = new Pose(
      item([6, 64, 60, 60], {
        block: [1, 1, 3, 3],
        grid: [6, 64, 20, 20],
        roles: ["slider", "across", "rows", "cols"],
      }),
      true,
    );
    pose.setBox(600, 400);
    pose.turn(0, 3);
    for (let i = 0; i < 40; i++) pose.zoomBy(1.5, 10, 10);
    const region = view(pose);
    expect(region?.start.slice(0, 2)).toEqual([3, 0]);
    expect(region?.stop.slice(0, 2)).toEqual([4, 1]);
  });

  it("air around it, inside the array and the limit", () => {
    const region = { start: [0, 100], stop: [10, 110], block: [1, 1] };
    expect(roomy(region, [1000, 1000], [0, 1])).toEqual({ start: [0, 95], stop: [15, 115], block: [1, 1] });
    const full = { start: [0, 0], stop: [256, 256], block: [1, 1] };
    expect(roomy(full, [1000, 1000], [0, 1])).toEqual(full);
  });
});

describe("the requests for tiles", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());
  const question = (from: number) => ({ item: 0, layer: 0, start: [from], stop: [from + 2], block: [1] });
  const answer = (message: { id: number }) => ({ type: "tile", id: message.id, values: { type: "f32", shape: [2] } });
  const bytes = () => [new Uint8Array(Float32Array.from([1, 2]).buffer)];

  function setting() {
    const sent: { id: number; start: number[] }[] = [];
    let receive: (message: unknown, buffers: never[]) => void = () => {};
    const kernel: Kernel = {
      live: () => true,
      send: (message) => void sent.push(message as { id: number; start: number[] }),
      listen: (f) => void (receive = f as never),
    };
    const requests = new TileRequests(kernel, new AbortController().signal);
    return { requests, sent, answered: (message: unknown, buffers: unknown[] = []) => receive(message, buffers as never[]) };
  }

  it("asks once after a rest, one at a time, and the newest wish next", () => {
    const { requests, sent, answered } = setting();
    const got = vi.fn();
    for (const from of [0, 10, 20]) requests.want("zoom", question(from), got, vi.fn());
    expect(sent).toHaveLength(0);
    vi.advanceTimersByTime(200);
    expect(sent.map((m) => m.start[0])).toEqual([20]);
    for (const from of [30, 40]) requests.want("zoom", question(from), got, vi.fn());
    vi.advanceTimersByTime(500);
    expect(sent).toHaveLength(1);
    answered(answer(sent[0] as { id: number }), bytes());
    expect(got).toHaveBeenCalledTimes(1);
    expect(sent.map((m) => m.start[0])).toEqual([20, 40]);
  });

  it("drops answers that nobody waits for", () => {
    const { requests, sent, answered } = setting();
    const got = vi.fn();
    requests.want("zoom", question(0), got, vi.fn());
    vi.advanceTimersByTime(200);
    for (const message of [null, 7, {}, { type: "tile", id: 1e12 }, { ...answer({ id: -1 }) }]) answered(message, bytes());
    expect(got).not.toHaveBeenCalled();
    answered(answer(sent[0] as { id: number }), bytes());
    answered(answer(sent[0] as { id: number }), bytes());
    expect(got).toHaveBeenCalledTimes(1);
  });

  it("keeps a refusal to show it, and does not ask the same again", () => {
    const { requests, sent, answered } = setting();
    const refused = vi.fn();
    requests.want("zoom", question(0), vi.fn(), refused);
    vi.advanceTimersByTime(200);
    answered({ type: "refused", id: sent[0]?.id, why: "the array is gone" });
    expect(refused).toHaveBeenCalled();
    expect(requests.refusal).toBe("the array is gone");
    requests.want("zoom", question(0), vi.fn(), refused);
    vi.advanceTimersByTime(200);
    expect(sent).toHaveLength(1);
  });

  it("gives up on a silent kernel, and says so; a wrong answer is a refusal", () => {
    const { requests, sent, answered } = setting();
    requests.want("zoom", question(0), vi.fn(), vi.fn());
    vi.advanceTimersByTime(20000);
    expect(requests.refusal).toMatch(/busy/);
    requests.want("zoom", question(50), vi.fn(), vi.fn());
    vi.advanceTimersByTime(200);
    answered({ type: "tile", id: sent[1]?.id, values: { type: "f32", shape: [9] } }, bytes());
    expect(requests.refusal).toMatch(/longer than its bytes/);
  });
});

describe("what lies over what", () => {
  it("a coarser tile that comes late is not painted over a finer one", () => {
    const sheet = new Sheet(item([12, 12], { block: [6, 6], grid: [2, 2] }));
    const tile = (k: number): Source => {
      const data = new Float32Array((12 / k) ** 2);
      return piece({ data, shape: [12 / k, 12 / k] }, [0, 0], [12, 12], [k, k]);
    };
    sheet.add(0, tile(1));
    sheet.add(0, tile(3));
    sheet.add(0, tile(2));
    expect(sheet.sources().map((source) => source.block[0])).toEqual([6, 3, 2, 1]);
  });
});
