// The cursor in the packet of the review page: a line, or a fold that can be opened.
// @ts-check

/** @typedef {import("./desk_form.js").Quote} Quote */

const STOPS = ".packet .ln, .packet details:not([open]) > summary";

export class Cursor {
  constructor() {
    /** @type {HTMLElement | null} */
    this.at = null;
  }

  reset() {
    this.at = null;
  }

  focus() {
    this.at?.focus({ preventScroll: true });
  }

  /** At first to what somebody quotes, else to the first line that can be evidence. @param {1 | -1} direction */
  move(direction) {
    if (this.at) return this.go(visible(STOPS), direction);
    const first = visible(".packet .ln[data-marked]")[0] ?? visible(".packet .ln[data-core]")[0];
    if (first) this.put(first, true);
    else this.go(visible(STOPS), 1);
  }

  /** To the next line that somebody quotes; folds around it open. @param {1 | -1} direction */
  toMark(direction) {
    const marked = [...document.querySelectorAll(".packet .ln[data-marked], .packet .ln.quoted-here")];
    this.go(marked.filter((one) => one instanceof HTMLElement), direction);
  }

  /** @param {HTMLElement[]} stops @param {1 | -1} direction */
  go(stops, direction) {
    const from = this.at;
    const after = (/** @type {HTMLElement} */ one) =>
      from !== null && Boolean(from.compareDocumentPosition(one) & Node.DOCUMENT_POSITION_FOLLOWING);
    const before = (/** @type {HTMLElement} */ one) =>
      from !== null && Boolean(from.compareDocumentPosition(one) & Node.DOCUMENT_POSITION_PRECEDING);
    const next = direction > 0 ? stops.find((one) => from === null || after(one)) : stops.filter(before).at(-1);
    if (next) this.put(next, true);
  }

  /** @param {HTMLElement} line @param {boolean} isByKey */
  put(line, isByKey) {
    let fold = (line.matches("summary") ? line.parentElement?.parentElement : line)?.closest("details:not([open])");
    for (; fold; fold = fold.parentElement?.closest("details:not([open])")) fold.setAttribute("open", "");
    document.querySelector(".packet .cur")?.classList.remove("cur");
    document.querySelector(".packet .tools")?.remove();
    this.at = line;
    line.classList.add("cur");
    if (line.matches(".ln")) line.append(tools(line));
    if (!isByKey) return;
    line.tabIndex = line.matches("summary") ? 0 : -1;
    line.focus({ preventScroll: true });
    line.scrollIntoView({ block: "nearest" });
  }

  /** The line, or what is selected in it. @returns {Quote | null} */
  quote() {
    const line = this.at;
    if (!line?.matches(".ln")) return null;
    const code = line.querySelector("code");
    const selection = getSelection();
    const isInside = selection && !selection.isCollapsed && code?.contains(selection.anchorNode);
    const text = (isInside && code?.contains(selection.focusNode) ? selection.toString() : verbatim(code)).trim();
    if (!text) return null;
    const at = Number(line.dataset.line);
    const { place = "", kind = "" } = line.dataset;
    return { quote: text, place, lines: [at, at], kind, state: "", problem: "" };
  }

  /** The number of the step that the line is of. @returns {number | null} */
  step() {
    const found = /^steps\/(\d+)/.exec(this.at?.dataset.place ?? "");
    return found ? Number(found[1]) : null;
  }
}

/** @param {string} selector @returns {HTMLElement[]} */
function visible(selector) {
  const every = [...document.querySelectorAll(selector)].filter((one) => one instanceof HTMLElement);
  return every.filter((one) => one.offsetParent !== null && (one.matches("summary") || one.querySelector("code")?.textContent?.trim()));
}

/** Without what only screen readers get. @param {Element | null} code */
function verbatim(code) {
  if (!code) return "";
  const copy = /** @type {Element} */ (code.cloneNode(true));
  for (const hidden of copy.querySelectorAll(".hidden")) hidden.remove();
  return copy.textContent ?? "";
}

/** @param {HTMLElement} line */
function tools(line) {
  const made = document.createElement("span");
  made.className = "tools";
  const isStep = line.dataset.place?.startsWith("steps/");
  for (const [key, act] of isStep ? [["q", "quote"], ["d", "decisive"]] : [["q", "quote"]]) {
    const button = document.createElement("button");
    button.type = "button";
    button.tabIndex = -1;
    button.dataset.act = act;
    const cap = document.createElement("kbd");
    cap.textContent = key;
    button.append(cap, ` ${act}`);
    made.append(button);
  }
  return made;
}
