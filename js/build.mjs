// Every src/<kind>/page.ts becomes one bundle, ../vistorch/widgets/static/<kind>.js: an ES module that holds all it needs,
// style sheets included. A bundle travels to the page once per widget and is saved in the notebook with it: so it is
// deflated, unpacks itself in the page, and one that grows beyond LIMIT fails the build.
//
//   node build.mjs            build once
//   node build.mjs --watch    build, then again whenever something under src/ changes

import * as esbuild from "esbuild";
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { watch } from "node:fs";
import { fileURLToPath } from "node:url";
import { basename, join } from "node:path";
import { deflateRawSync } from "node:zlib";

const LIMIT = 60_000;
const here = fileURLToPath(new URL(".", import.meta.url));
const source = join(here, "src");
const target = join(here, "..", "vistorch", "widgets", "static");
const watching = process.argv.includes("--watch");

const styleAsText = {
  name: "style-as-text",
  setup(build) {
    build.onLoad({ filter: /\.css$/ }, async ({ path }) => {
      const css = await readFile(path, "utf8");
      const small = await esbuild.transform(css, { loader: "css", minify: !watching, sourcefile: path });
      return { contents: small.code.trim(), loader: "text" };
    });
  },
};

// What is left of a bundle's text in the page: the module in a string, imported once however many widgets carry it.
// Four bytes are five of 85 letters: those that neither HTML, JSON nor a template string need to escape.
const LETTERS = Array.from({ length: 94 }, (_, i) => String.fromCharCode(33 + i)).filter((c) => !`"\\<>&'\`$%`.includes(c));

function lettered(bytes) {
  let text = "";
  for (let i = 0; i < bytes.length; i += 4) {
    let word = 0;
    for (let k = 0; k < 4; k++) word = word * 256 + (bytes[i + k] ?? 0);
    let five = "";
    for (let k = 0; k < 5; k++) {
      five = LETTERS[word % 85] + five;
      word = Math.floor(word / 85);
    }
    text += five;
  }
  return text;
}

const unpacking = (name, code, size) => `const name=${JSON.stringify(name)},code="${code}";
export default await((globalThis.vistorchPages??={})[name]??=(async()=>{
const at={},view=new DataView(new ArrayBuffer(code.length/5*4));
for(let i=33,n=0;i<127;i++)if(![34,36,37,38,39,60,62,92,96].includes(i))at[String.fromCharCode(i)]=n++;
for(let i=0,j=0;i<code.length;j+=4){let w=0;for(let k=0;k<5;k++)w=w*85+at[code[i++]];view.setUint32(j,w)}
const bytes=new Uint8Array(view.buffer,0,${size});
const text=await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"))).text();
const url=URL.createObjectURL(new Blob([text],{type:"text/javascript"}));
try{return(await import(url)).default}finally{URL.revokeObjectURL(url)}})());
`;

function packed(name, contents) {
  const tries = [6, 7, 8, 9].map((memLevel) => deflateRawSync(contents, { level: 9, memLevel })); // which is smallest varies
  const bytes = tries.reduce((a, b) => (b.length < a.length ? b : a));
  const mark = createHash("sha256").update(contents).digest("hex").slice(0, 12);
  return Buffer.from(unpacking(`${name} ${mark}`, lettered(bytes), bytes.length));
}

/** What is in a folder; nothing where there is none. */
async function listed(folder) {
  return readdir(folder, { withFileTypes: true }).catch((error) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
}

/** The folders of src/ that have a page. */
async function kinds() {
  const folders = (await listed(source)).filter((one) => one.isDirectory()).map((one) => one.name);
  const pages = await Promise.all(folders.map(async (name) => (await listed(join(source, name))).some((one) => one.name === "page.ts")));
  return folders.filter((_, i) => pages[i]).sort();
}

async function build() {
  const entries = await kinds();
  const bundles = await Promise.all(
    entries.map(async (name) => {
      const { outputFiles } = await esbuild.build({
        absWorkingDir: here,
        entryPoints: [join(source, name, "page.ts")],
        bundle: true,
        format: "esm",
        target: "es2022",
        charset: "utf8",
        minify: !watching,
        legalComments: "none",
        logLevel: "warning",
        plugins: [styleAsText],
        write: false,
      });
      const contents = outputFiles[0].contents;
      return { name, contents: watching ? contents : packed(name, contents) };
    }),
  );
  const heavy = watching ? [] : bundles.filter((bundle) => bundle.contents.length > LIMIT);
  if (heavy.length) {
    const list = heavy.map(({ name, contents }) => `${name}.js has ${contents.length} bytes`).join(", ");
    throw new Error(`A bundle may have ${LIMIT} bytes at most, and ${list}.`);
  }
  await mkdir(target, { recursive: true });
  for (const { name, contents } of bundles) {
    const path = join(target, `${name}.js`);
    // In one move: a reader of the bundle finds the old one or the new one.
    await writeFile(`${path}.part`, contents);
    await rename(`${path}.part`, path);
  }
  for (const { name } of await listed(target)) {
    if (name.endsWith(".js") && !entries.includes(basename(name, ".js"))) await rm(join(target, name));
  }
  const sizes = bundles.map(({ name, contents }) => `${name}.js ${(contents.length / 1000).toFixed(1)} kB`);
  console.log(sizes.length ? sizes.join(", ") : "No folder of js/src has a page.ts: no bundle.");
}

async function buildOrSay() {
  try {
    await build();
  } catch (error) {
    if (!error.errors) console.error(error.message); // esbuild has printed its own errors already
    return false;
  }
  return true;
}

const good = await buildOrSay();
if (!watching) {
  process.exitCode = good ? 0 : 1;
} else {
  await mkdir(source, { recursive: true });
  let waiting;
  watch(source, { recursive: true }, () => {
    clearTimeout(waiting);
    waiting = setTimeout(buildOrSay, 50);
  });
  console.log("Watching js/src; Ctrl-C ends it.");
}
