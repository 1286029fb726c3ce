// Changes of the store while a list is shown: they wait behind a button, so that nothing moves by itself.
// @ts-check
import { announce } from "./page.js";
import { onChange } from "./live.js";

const run = document.querySelector("[data-shown-run]")?.getAttribute("data-shown-run") ?? null;
const strip = document.createElement("p");
strip.className = "news";
let count = 0;

onChange((change) => {
  if (change.kind === "claim" || (run && change.run && change.run !== run)) return;
  count += 1;
  const words = count === 1 ? "1 change" : `${count} changes`;
  const link = document.createElement("a");
  link.href = location.href;
  link.textContent = "Show";
  strip.replaceChildren(`${words} since this page was loaded. `, link);
  if (count === 1) {
    document.querySelector("main h1")?.after(strip);
    announce("The list has changed.");
  }
});
