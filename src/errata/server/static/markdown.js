// Messages of a transcript as Markdown, on request: headings, lists and code, built from text alone.
// Nothing becomes a link, an image or markup; a text that holds evidence stays as it is.
// @ts-check
import { announce, isTyping } from "./page.js";

const FENCE = /^\s*(```|~~~)/;
const HEADING = /^(#{1,6})\s+(.*)$/;
const ITEM = /^(\s*)(?:[-*+]|(\d{1,9})[.)])\s+(.*)$/;
const QUERY = "render";

/** @param {string} tag @param {string} [text] @returns {HTMLElement} */
function made(tag, text = "") {
  const element = document.createElement(tag);
  element.textContent = text;
  return element;
}

/** Text with `code` in it. @param {HTMLElement} into @param {string} text @returns {HTMLElement} */
function inline(into, text) {
  into.textContent = "";
  for (const [at, part] of text.split(/`([^`]+)`/).entries()) into.append(at % 2 ? made("code", part) : part);
  return into;
}

/** @param {string[]} lines @returns {HTMLElement} */
export function rendered(lines) {
  const whole = made("div");
  whole.className = "rendered";
  whole.dir = "auto";
  /** @type {string[]} */
  let paragraph = [];
  /** @type {HTMLElement | null} */
  let list = null;
  const end = () => {
    if (paragraph.length) whole.append(inline(made("p"), paragraph.join("\n")));
    paragraph = [];
  };
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at];
    const fence = FENCE.exec(line);
    const heading = HEADING.exec(line);
    const item = ITEM.exec(line);
    if (!item) list = null;
    if (fence) {
      end();
      const from = ++at;
      while (at < lines.length && !lines[at].trim().startsWith(fence[1])) at++;
      whole.append(made("pre", lines.slice(from, at).join("\n")));
    } else if (heading) {
      end();
      const head = inline(made("p"), heading[2]);
      head.className = "heading";
      whole.append(head);
    } else if (item) {
      end();
      const kind = item[2] ? "OL" : "UL";
      if (!list || list.tagName !== kind) {
        list = made(kind);
        if (item[2]) list.setAttribute("start", item[2]);
        whole.append(list);
      }
      list.append(inline(made("li"), item[3]));
    } else if (line.trim()) {
      paragraph.push(line);
    } else {
      end();
    }
  }
  end();
  return whole;
}

/** The lines of a text as the page shows them. @param {Element} text @returns {string[]} */
function linesOf(text) {
  return [...text.querySelectorAll(".l")].map((line) => line.textContent ?? "");
}

/** @param {boolean} on */
function render(on) {
  for (const text of document.querySelectorAll(".transcript .event .text")) {
    const next = text.nextElementSibling;
    const before = next?.matches(".rendered") ? next : null;
    if (text.querySelector("mark")) continue;
    if (on && !before) text.after(rendered(linesOf(text)));
    else if (!on) before?.remove();
    /** @type {HTMLElement} */ (text).hidden = on;
  }
  const address = new URL(location.href);
  if (on) address.searchParams.set(QUERY, "markdown");
  else address.searchParams.delete(QUERY);
  if (address.href !== location.href) history.replaceState(history.state, "", address);
  announce(on ? "Messages are rendered as Markdown." : "Messages are shown as they are.");
}

const isOn = () => new URL(location.href).searchParams.get(QUERY) === "markdown";

addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
  if (event.key !== "M" || document.querySelector("dialog[open]")) return;
  event.preventDefault();
  render(!isOn());
});
if (isOn()) render(true);
