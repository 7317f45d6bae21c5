// Small steps on top of pages that work without this file: previews, more rows, keys, copying.
"use strict";

const MOST_ROWS = 2000; // of one page; further rows are a page of their own

// A piece of HTML of this server, or null. It holds no scripts, and the policy would not run any.
async function piece(address) {
  try {
    const answer = await fetch(address, { headers: { Accept: "text/html" } });
    if (!answer.ok) return null;
    return new DOMParser().parseFromString(await answer.text(), "text/html");
  } catch {
    return null;
  }
}

// ---- previews of the sheets that were found, one after the other, those in sight first

const waiting = [];
let loading = 0;

async function nextPreview() {
  if (loading >= 2 || !waiting.length) return;
  loading += 1;
  const box = waiting.shift();
  const found = await piece(box.dataset.preview);
  const table = found && found.querySelector("table");
  if (table && table.querySelector("tbody tr")) box.replaceChildren(table);
  box.dataset.loaded = table ? "yes" : "no";
  loading -= 1;
  nextPreview();
}

const nearing = new IntersectionObserver((seen) => {
  for (const each of seen) {
    if (!each.isIntersecting) continue;
    nearing.unobserve(each.target);
    waiting.push(each.target);
    nextPreview();
  }
}, { rootMargin: "300px" });
for (const box of document.querySelectorAll("[data-preview]")) nearing.observe(box);

// ---- the next rows of a sheet, as soon as its end comes near

const cells = document.getElementById("cells");
const more = cells && cells.querySelector("[data-piece]");

let adding = null;
const addRows = () => adding ??= nextRows().finally(() => { adding = null; });

async function nextRows() {
  const found = await piece(more.dataset.piece);
  const table = found && found.querySelector("table");
  if (!table) return;
  const body = cells.querySelector("tbody");
  body.append(...table.querySelectorAll("tbody tr"));
  document.getElementById("said").textContent = `${table.dataset.shown} added`;
  document.getElementById("shown").textContent = `to ${table.dataset.shown}`;
  more.href = table.dataset.page;
  more.dataset.piece = table.dataset.next;
  if (!table.dataset.next) more.parentElement.remove();
  else if (body.rows.length < MOST_ROWS) ending.observe(more);
}

const ending = new IntersectionObserver((seen) => {
  if (!seen.some((each) => each.isIntersecting)) return;
  ending.unobserve(more);
  addRows();
}, { root: cells, rootMargin: "600px" });
if (more) ending.observe(more);

// ---- keys: / to the question, j and k from sheet to sheet, Escape leaves

const links = () => [...document.querySelectorAll(".hits a.open")];

function step(by) {
  const all = links();
  const now = document.activeElement && document.activeElement.closest(".hits > li");
  const at = now ? all.findIndex((link) => now.contains(link)) : by > 0 ? -1 : all.length;
  const next = all[Math.min(Math.max(at + by, 0), all.length - 1)];
  if (next) next.focus();
  if (next) next.closest("li").scrollIntoView({ block: "nearest" });
  return Boolean(next);
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  const typing = event.target.closest("input, select, textarea");
  const inside = event.target.closest(".look");
  const question = document.getElementById("q");
  let done = false;
  if (event.key === "Escape") {
    event.target.blur();
  } else if (typing) {
    done = event.target === question && event.key === "ArrowDown" && step(1);
  } else if (event.key === "/" && question) {
    question.focus();
    question.select();
    done = true;
  } else if (event.key === "j" || (event.key === "ArrowDown" && !inside && links().length)) {
    done = step(1);
  } else if (event.key === "k" || (event.key === "ArrowUp" && !inside && links().length)) {
    done = step(-1);
  }
  if (done) event.preventDefault();
});

// ---- the question at hand on the start page, its results told to a screen reader, copying

const question = document.getElementById("q");
if (question && document.querySelector(".home")) question.focus();

const count = document.getElementById("count");
if (count) {
  const text = count.textContent;
  count.textContent = "";
  requestAnimationFrame(() => { count.textContent = text; }); // a status is read when it changes
}

if (navigator.clipboard) {
  for (const button of document.querySelectorAll(".copy")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(button.dataset.copy);
      button.textContent = "Copied";
    });
  }
}

// ---- a sheet opens at the cell that was asked for, or at the rows that match

const matched = cells && (cells.querySelector("td.asked") || cells.querySelector("td.hit"));
if (matched) {
  const [row, height, width] = [matched.parentElement.offsetTop, cells.clientHeight, cells.clientWidth];
  if (row > height / 2) cells.scrollTop = row - height / 3;
  if (matched.offsetLeft > width / 2) cells.scrollLeft = matched.offsetLeft - width / 3;
}

// ---- a sheet of one table is sorted by the letter of a column: up, down, and as it was

const order = new Intl.Collator(undefined, { numeric: true });
const numberOf = (row) => Number(row.id.slice("row-".length));

// Numbers before texts; empty cells come last, whichever the way.
function compared(one, other, way) {
  const [a, b] = [one.textContent, other.textContent];
  if (!a || !b) return Boolean(b) - Boolean(a);
  const [x, y] = [one, other].map((cell) => cell.classList.contains("number"));
  if (x !== y) return way * (y - x);
  return way * (x ? Number(a) - Number(b) : order.compare(a, b));
}

async function sortBy(heading, first, last) {
  const body = cells.querySelector("tbody");
  const way = { none: 1, ascending: -1, descending: 0 }[heading.ariaSort ?? "none"];
  for (let size = 0; more?.isConnected && size < body.rows.length && body.rows.length < MOST_ROWS;) {
    size = body.rows.length;
    await addRows();
  }
  const all = [...body.rows].sort((a, b) => numberOf(a) - numberOf(b));
  const isRecord = (row) => numberOf(row) >= first && numberOf(row) <= last && !row.classList.contains("out");
  const records = all.filter(isRecord);
  const at = heading.cellIndex;
  if (way) records.sort((a, b) => compared(a.cells[at], b.cells[at], way));
  const others = all.filter((row) => !isRecord(row));
  const above = others.filter((row) => numberOf(row) < first);
  body.replaceChildren(...above, ...records, ...others.slice(above.length));
  for (const each of heading.parentElement.cells) each.ariaSort = null;
  heading.ariaSort = { 1: "ascending", [-1]: "descending", 0: null }[way];
  const shown = `rows ${numberOf(all[0])} to ${numberOf(all.at(-1))}`;
  const said = way ? `${shown}, ${heading.ariaSort} by ${heading.textContent}` : shown;
  for (const id of ["said", "shown"]) document.getElementById(id).textContent = said;
}

if (cells?.dataset.first) {
  for (const heading of cells.querySelectorAll("thead tr:first-child th")) {
    const button = document.createElement("button");
    Object.assign(button, { type: "button", textContent: heading.textContent, title: "Sort" });
    button.addEventListener("click", () => sortBy(heading, +cells.dataset.first, +cells.dataset.last));
    heading.replaceChildren(button);
  }
}

// ---- keys of a sheet: g to its cells by address, j and k to the sheets found after and before it

const sheetKeys = { g: "cell", j: "after", k: "before" };
document.addEventListener("keydown", (event) => {
  const plain = !(event.ctrlKey || event.metaKey || event.altKey || event.isComposing);
  const goal = plain && document.getElementById(sheetKeys[event.key]);
  if (!goal || event.target.closest("input, select, textarea")) return;
  event.preventDefault();
  if (goal.href) goal.click();
  else goal.select();
});

document.documentElement.dataset.ready = "yes";
