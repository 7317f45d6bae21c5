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
  const found = box.isConnected && await piece(box.dataset.preview);
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

// What is shown of a search comes to life; previews come later than what is still typed.
let previews;

function enliven() {
  const count = document.getElementById("count");
  if (count) {
    const text = count.textContent;
    count.textContent = "";
    requestAnimationFrame(() => { count.textContent = text; }); // a status is read when it changes
  }
  for (const button of document.querySelectorAll(".copy[hidden]")) {
    button.hidden = !navigator.clipboard;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(button.dataset.copy);
      button.textContent = "Copied";
    });
  }
  clearTimeout(previews);
  previews = setTimeout(() => {
    for (const box of document.querySelectorAll("[data-preview]:not([data-loaded])")) nearing.observe(box);
  }, document.activeElement === question && question.value ? 500 : 0);
}
enliven();

// ---- a sheet opens at the cell that was asked for, or at the rows that match

const matched = cells && (cells.querySelector("td.asked") || cells.querySelector("td.hit"));
if (matched) {
  const [row, height, width] = [matched.parentElement.offsetTop, cells.clientHeight, cells.clientWidth];
  if (row > height / 2) cells.scrollTop = row - height / 3;
  if (matched.offsetLeft + matched.offsetWidth > width) cells.scrollLeft = matched.offsetLeft - width / 3;
}

// ---- a sheet of one table is sorted by the letter of a column: up, down, and as it was

const order = new Intl.Collator(undefined, { numeric: true });
const numberOf = (row) => Number(row.id.slice("row-".length));

// Numbers before texts; empty cells come last, whichever the way.
function compared(one, other, way) {
  const [a, b] = [one, other].map((cell) => cell.dataset.value ?? cell.textContent);
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

// ---- results while a question is typed: one request at a time, the newest after it

const form = document.querySelector("main[data-live]") && document.querySelector("form.ask");
const TYPED_MS = 250;
const here = () => location.pathname + location.search;
let [timer, running, entered, typed, shown] = [0, false, false, false, here()];

function wanted() {
  const given = new URLSearchParams();
  for (const [name, value] of new FormData(form)) if (value.trim()) given.set(name, value.trim());
  return given.has("q") ? `/?${given}` : "";
}

function later(ms) {
  clearTimeout(timer);
  timer = setTimeout(ask, ms);
}

async function ask() {
  const address = wanted();
  if (running || !address) return; // a running request asks for what is wanted at its end
  running = true;
  let [page, status, wait_s] = [null, 0, 0];
  try {
    const answer = await fetch(address, { headers: { Accept: "text/html" } });
    [status, wait_s] = [answer.status, Number(answer.headers.get("retry-after"))];
    page = new DOMParser().parseFromString(await answer.text(), "text/html");
  } catch { /* the button of the form tells what is wrong */ }
  running = false;
  const main = page && page.querySelector("main[data-live]");
  if (main) show(page, main, address);
  else if (entered) form.submit();
  if (status === 429 || status === 503) later(1000 * Math.max(wait_s, 1));
  else if (main && wanted() !== address) later(0);
}

function show(page, main, address) {
  document.title = page.title;
  document.querySelector(".top").className = page.querySelector(".top").className;
  document.getElementById("main").replaceChildren(...main.childNodes);
  document.getElementById("chips").replaceWith(page.getElementById("chips"));
  document.getElementById("narrow").textContent = page.getElementById("narrow").textContent;
  if (here() !== address) history[typed ? "replaceState" : "pushState"](null, "", address);
  [typed, shown] = [true, address];
  if (entered && wanted() === address) {
    [entered, typed] = [false, false];
    question.blur(); // so that j and k go on from here
    remember();
  }
  enliven();
}

if (form) {
  const folder = form.querySelector("input[name=folder]");
  form.addEventListener("input", (event) => {
    if (event.isComposing) return;
    entered = false;
    if (event.target === question) later(TYPED_MS);
  });
  form.addEventListener("change", (event) => { if (event.target !== question) later(0); });
  form.addEventListener("submit", (event) => {
    if (event.submitter && event.submitter.name === "folder") folder.value = event.submitter.value;
    const filters = document.getElementById("filters");
    if (filters.matches(":popover-open")) filters.hidePopover();
    if (!wanted()) return;
    event.preventDefault();
    entered = true;
    later(0);
  });
  addEventListener("popstate", () => { if (here() !== shown) location.reload(); });
}

// ---- searches of late, in this browser alone

const KEPT = "sat-searches", MOST_KEPT = 8;

function recent() {
  try {
    const found = JSON.parse(localStorage.getItem(KEPT));
    return Array.isArray(found) ? found.filter((each) => typeof each === "string") : [];
  } catch {
    return [];
  }
}

function remember() {
  const asked = new URLSearchParams(location.search).get("q");
  if (!form || !asked || !document.querySelector(".hits")) return;
  const kept = [asked, ...recent().filter((each) => each !== asked)].slice(0, MOST_KEPT);
  try { localStorage.setItem(KEPT, JSON.stringify(kept)); } catch { /* a browser that keeps nothing */ }
}

function forget() {
  try { localStorage.removeItem(KEPT); } catch { /* nothing was kept */ }
}

addEventListener("pagehide", remember);
const lately = document.getElementById("recent");
if (lately && recent().length) {
  lately.hidden = false;
  for (const each of recent()) {
    const link = document.createElement("a");
    link.href = `/?${new URLSearchParams({ q: each })}`;
    link.textContent = each;
    const item = document.createElement("li");
    item.append(link);
    lately.querySelector("ul").append(item);
  }
  document.getElementById("forget").addEventListener("click", () => {
    forget();
    lately.hidden = true;
  });
}
const leaving = document.querySelector("form.leave");
const left = new BroadcastChannel("sat-left"); // to other windows, which would remember once more
left.addEventListener("message", () => removeEventListener("pagehide", remember));
if (leaving) leaving.addEventListener("submit", () => {
  forget();
  removeEventListener("pagehide", remember);
  left.postMessage("");
});

// ---- help

document.addEventListener("keydown", (event) => {
  const help = document.getElementById("help");
  if (event.key !== "?" || !help || event.target.closest("input, select, textarea")) return;
  event.preventDefault();
  help.togglePopover();
});

document.documentElement.dataset.ready = "yes";
