// Runs a Python program of the repository in Pyodide under node: node node.mjs PYODIDE WHEELS ROOT MODULE [ARGUMENT ...]
// PYODIDE: the folder of the npm package; WHEELS: a folder with the unpacked wheels; OUT is written to where it is named.
import { pathToFileURL } from "node:url";
import { resolve } from "node:path";

const [pyodideFolder, site, root, module, ...rest] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(resolve(pyodideFolder, "pyodide.mjs")).href);
const py = await loadPyodide({ indexURL: resolve(pyodideFolder) + "/" });
for (const [inside, outside] of [["/wheels", site], ["/repository", root]]) {
  py.FS.mkdirTree(inside);
  py.FS.mount(py.FS.filesystems.NODEFS, { root: resolve(outside) }, inside);
}
py.globals.set("MODULE", module);
py.globals.set("REST", py.toPy(rest));
try {
  await py.runPythonAsync(`
import os, runpy, sys
sys.path[:0] = ["/repository", "/wheels"]
os.chdir("/repository")
sys.dont_write_bytecode = True
sys.argv = [MODULE, *REST]
runpy.run_module(MODULE, run_name="__main__")
`);
} catch (error) {
  console.error(String(error.message ?? error));
  process.exit(1);
}
