// A style sheet is imported as its own text, made small by build.mjs.
declare module "*.css" {
  const text: string;
  export default text;
}
