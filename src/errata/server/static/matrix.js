// The matrix of a comparison: arrow keys move between its cells, Enter opens one; + and - between cells and overview.
// @ts-check
import { isTyping } from "./page.js";

const matrix = document.querySelector("figure.matrix svg");
const links = matrix ? [...matrix.querySelectorAll("a")] : [];
const names = document.querySelectorAll("figure.matrix .names > div").length;
const across = names ? links.length / names : 0;

/** @param {number} at */
function focus(at) {
  const link = links[at];
  if (!link) return;
  for (const each of links) each.setAttribute("tabindex", "-1");
  link.setAttribute("tabindex", "0");
  link.focus();
  link.scrollIntoView({ block: "nearest", inline: "nearest" });
}

if (matrix && Number.isInteger(across) && across > 0) {
  for (const [at, link] of links.entries()) link.setAttribute("tabindex", at ? "-1" : "0");
  matrix.addEventListener("keydown", (event) => {
    if (!(event instanceof KeyboardEvent)) return;
    const at = links.findIndex((link) => link === document.activeElement);
    if (at < 0) return;
    const moves = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: across, ArrowUp: -across };
    const step = moves[/** @type {keyof typeof moves} */ (event.key)];
    if (!step) return;
    const sideways = Math.abs(step) === 1;
    if (sideways && Math.floor((at + step) / across) !== Math.floor(at / across)) return;
    event.preventDefault();
    focus(at + step);
  });
}

addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
  if (event.key === "+" && links.length) focus(0);
  else if (event.key === "-") /** @type {SVGAElement | null} */ (document.querySelector(".density a[aria-current], .density a"))?.focus();
  else return;
  event.preventDefault();
});
