// What a shape error holds; `vistorch/debug/shapes/record.py` and `layout.py` say what each part is.

export type Part =
  | ["box", number, number, number, number, string]
  | ["line", number, number, number, number, string]
  | ["text", number, number, string, string, string];

export interface State {
  title: string;
  report: string;
  sentence: string;
  error: string;
  place: string;
  module: string;
  op: string;
  source: [number, string, string][];
  operands: { name: string; shape: string; note: string; bad: boolean }[];
  drawing: { width: number; height: number; parts: Part[] };
}
