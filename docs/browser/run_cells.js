// Makes the cells of a unit's page editable, and runs them in Python in this browser.
const SVG = /<svg.*?<\/svg>/gs;
const cells = [...document.querySelectorAll("div.code, div.blank")].map(cellOf);
let worker = null;
let running = null; // the cell that runs

if (location.protocol.startsWith("http")) {
  cells.forEach(edit);
  document.querySelector(".in-browser").hidden = false;
}

/** Return what belongs to a block of code: its text, a button, and a place for what it prints. */
function cellOf(block) {
  const [text, button, controls, output] = ["textarea", "button", "div", "div"].map((name) => document.createElement(name));
  text.value = block.querySelector("pre").textContent.trimEnd();
  [text.spellcheck, text.rows] = [false, 1];
  text.setAttribute("aria-label", "Python code");
  button.textContent = "Run";
  controls.className = "run";
  controls.append(button);
  output.className = "printed";
  output.setAttribute("role", "status");
  return { block, text, button, controls, output, ran: false };
}

function edit(cell, number) {
  const fold = cell.block.closest("details");
  (fold ?? cell.block).after(cell.controls, cell.output);
  cell.block.querySelector("pre").replaceWith(cell.text);
  fit(cell.text);
  fold?.addEventListener("toggle", () => fit(cell.text));
  cell.text.addEventListener("input", () => {
    fit(cell.text);
    cells.slice(number).forEach((each) => { each.ran = false; });
  });
  cell.text.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") {
      return;
    }
    event.preventDefault();
    if (event.shiftKey || event.ctrlKey) {
      cell.button.click();
    } else { // the next line is indented as this one, and more after a colon
      const line = cell.text.value.slice(0, cell.text.selectionStart).split("\n").at(-1);
      const deeper = line.trimEnd().endsWith(":") ? "    " : "";
      document.execCommand("insertText", false, `\n${line.match(/^ */)[0]}${deeper}`); // the one that can be undone
    }
  });
  cell.button.addEventListener("click", () => (running === null ? run(number) : stop()));
}

/** Let all lines be seen, also those that are too long and wrap. */
function fit(text) {
  text.style.height = "auto";
  text.style.height = `${text.scrollHeight + 2}px`;
}

/** Run a cell, and before it those above that have not run. */
async function run(number) {
  for (const cell of cells.slice(0, number).filter(({ ran }) => !ran)) {
    if (!await runOne(cell)) {
      cell.controls.scrollIntoView({ block: "center" });
      return;
    }
  }
  await runOne(cells[number]);
}

function runOne(cell) {
  running = cell;
  cells.forEach((each) => { each.button.textContent = each === cell ? "Stop" : "Run"; });
  cell.output.textContent = worker === null ? "Python starts, which takes some seconds ..." : "";
  while (cell.output.nextElementSibling?.matches(".boards, .shown")) {
    cell.output.nextElementSibling.remove(); // what the page shows before anything runs
  }
  let printed = "";
  worker ??= new Worker(new URL("python_worker.js", import.meta.url), { type: "module" });
  return new Promise((resolve) => {
    cell.resolve = resolve;
    worker.onerror = ({ message }) => { show(cell, `This browser cannot run Python here. ${message ?? ""}`); ended(cell, false); };
    worker.onmessage = ({ data }) => {
      printed += data.text ?? "";
      show(cell, printed);
      if ("ended" in data) {
        ended(cell, data.ended);
      }
    };
    worker.postMessage(cell.text.value);
  });
}

function ended(cell, ran) {
  [running, cell.ran, cell.button.textContent] = [null, ran, "Run"];
  cell.resolve(ran);
}

/** End Python, so that all cells have to run once more. */
function stop() {
  const cell = running;
  worker.terminate();
  worker = null;
  cells.forEach((each) => { each.ran = false; });
  show(cell, "Stopped. The cells above run once more with the next one.");
  ended(cell, false);
}

/** Show text and the boards in it; a board is an image, in which nothing runs. */
function show(cell, printed) {
  const boards = [...printed.matchAll(SVG)].map(([svg]) => {
    const image = document.createElement("img");
    const parsed = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
    const [rows, columns] = parsed.getAttribute("viewBox").split(" ").slice(2).reverse().map(Number);
    parsed.setAttribute("viewBox", `-.53 -.53 ${columns + 0.06} ${rows + 0.06}`); // with the whole of the outer lines
    parsed.removeAttribute("style");
    const source = new XMLSerializer().serializeToString(parsed);
    [image.alt, image.src] = [parsed.getAttribute("aria-label"), `data:image/svg+xml,${encodeURIComponent(source)}`];
    return image;
  });
  cell.output.replaceChildren(...printed.split(SVG).flatMap((text, part) => [text, ...boards.slice(part, part + 1)]));
}
