// The search box and its list of sheets.

const search = document.getElementById("search");
const results = document.getElementById("results");
const LISTED = 50;
let listed = [];
let marked = 0;

function showResults() {
  const query = search.value.trim();
  const all = find(query);
  listed = all.slice(0, LISTED);
  marked = 0;
  focus.found = new Set(all);
  const items = listed.map((sheet, row) => {
    const item = element("li", { id: `result-${row}` }, element("bdi", {}, sheet.name),
      element("small", {}, element("bdi", {}, sheet.path || sheet.workbook)));
    item.setAttribute("role", "option");
    item.addEventListener("pointerdown", (event) => { event.preventDefault(); take(row); });
    return item;
  });
  if (query && !all.length) items.push(element("li", { className: "none" }, "No sheet has these words."));
  if (all.length > LISTED) items.push(element("li", { className: "none" }, `+${all.length - LISTED} more`));
  results.replaceChildren(...items);
  open(Boolean(query));
  mark(0);
  if (query) say(counted(all.length, "sheet"));
  redraw();
}

function open(yes) {
  results.hidden = !yes;
  search.setAttribute("aria-expanded", String(yes));
  if (!yes) search.removeAttribute("aria-activedescendant");
}

function mark(row) {
  if (!listed.length) return;
  marked = (row + listed.length) % listed.length;
  for (const [index, item] of [...results.children].entries()) {
    if (index < listed.length) item.setAttribute("aria-selected", String(index === marked));
  }
  results.children[marked].scrollIntoView({ block: "nearest" });
  search.setAttribute("aria-activedescendant", `result-${marked}`);
}

function take(row) {
  if (!listed[row]) return;
  open(false);
  focus.found = new Set();
  choose(listed[row]);
  canvas.focus();
}

search.addEventListener("input", showResults);
search.addEventListener("focus", () => { if (search.value.trim()) showResults(); });
search.addEventListener("blur", () => { open(false); focus.found = new Set(); redraw(); });
search.addEventListener("keydown", (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step) { event.preventDefault(); mark(marked + step); }
  else if (event.key === "Enter") { event.preventDefault(); take(marked); }
  else if (event.key === "Escape") { search.value = ""; showResults(); canvas.focus(); }
});
