// Runs the cells of a unit in Python, which Pyodide brings (WebAssembly), so that the page stays free.
import { loadPyodide } from "./pyodide/pyodide.mjs";

const SETUP = `
import sys, traceback

def run_cell(source, names={"__name__": "__main__"}):
    """Run a cell; return whether it ended without an error."""
    sys.displayhook = lambda value: value is None or print(value)  # boards as SVG
    try:
        exec(compile(source, "this cell", "exec"), names)
        return True
    except AssertionError as error:  # a check that has not passed yet
        print("Not yet:", error)
    except NotImplementedError as error:
        print("Not yet:", error)
    except Exception as error:
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == "this cell"]
        where = f" (line {lines[-1]})" if lines else ""
        print(f"{type(error).__name__}: {error}{where}")
    return False
`;

const started = start();

async function start() {
  const pyodide = await loadPyodide({ stdout: (text) => postMessage({ text: `${text}\n` }), stderr: (text) => postMessage({ text: `${text}\n` }) });
  const modules = await fetch("modules.zip");
  pyodide.unpackArchive(await modules.arrayBuffer(), "zip", { extractDir: "/modules" });
  pyodide.runPython(`import sys\nsys.path.insert(0, "/modules")\n${SETUP}`);
  return pyodide.globals.get("run_cell");
}

addEventListener("message", async ({ data }) => {
  try {
    postMessage({ ended: (await started)(data) });
  } catch (error) {
    postMessage({ text: `Python has not started: ${error.message}\n` });
    postMessage({ ended: false });
  }
});
