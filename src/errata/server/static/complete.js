// A field for filters: the words that it knows are suggested for the word that is being typed.
// @ts-check

const MOST = 12;

for (const field of document.querySelectorAll("input[data-words]")) {
  if (!(field instanceof HTMLInputElement)) continue;
  const words = (field.dataset.words ?? "").split(" ").filter(Boolean);
  const list = document.createElement("datalist");
  list.id = `words-${field.name}-${document.querySelectorAll("datalist").length}`;
  field.after(list);
  field.setAttribute("list", list.id);
  const suggest = () => {
    const before = field.value.slice(0, field.value.lastIndexOf(" ") + 1);
    const begun = field.value.slice(before.length).toLowerCase();
    const fitting = words.filter((word) => word !== begun && (begun ? word.includes(begun) : word.endsWith(":")));
    list.replaceChildren(...fitting.slice(0, MOST).map((word) => new Option("", before + word)));
  };
  field.addEventListener("input", suggest);
  field.addEventListener("focus", suggest);
}
