// Pointer, keyboard and address bar, and the start of it all.

const pointers = new Map();
let grip = null;  // what is being dragged: the view, or a card

// ---- choosing a sheet

function choose(sheet, { move = true, write = true } = {}) {
  focus.sheet = sheet;
  focus.hover = null;
  focus.card = null;
  open(false);
  showSheet(sheet);
  if (write) {
    const address = sheet ? `#${encodeURIComponent(sheet.id)}` : location.pathname + location.search;
    history.replaceState(null, "", address);
  }
  canvas.setAttribute("aria-label", sheet ? `${summary()} Chosen: ${sheet.name}.` : summary());
  if (sheet) say(`${sheet.name}, ${counted(sheet.links.length, "link")}`);
  if (sheet && move) fly(seeSheet(sheet));
  else redraw();
}

function summary() {
  return `${data.title}: ${counted(sheets.length, "sheet")}, ${counted(links.length, "link")}.`;
}

function chooseFromAddress() {
  let id = location.hash.slice(1);
  try { id = decodeURIComponent(id); } catch { /* a stray % is no id */ }
  const sheet = id ? sheets.find((one) => one.id === id) ?? null : null;
  if (sheet || focus.sheet) choose(sheet, { write: false });
}

function typesChanged() {
  const on = types.filter((type) => type.on);
  say(`${counted(on.reduce((sum, type) => sum + type.count, 0), "link")} shown`);
  showSheet(focus.sheet);
  redraw();
}

// ---- pointer

function hit(x, y) {
  const [wx, wy] = toWorld(x, y);
  const slack = Math.max(0, 7 / camera.scale - 6);
  const card = cards.findLast((c) => wx >= c.left - slack && wx <= c.left + c.width + slack
    && wy >= c.top && wy <= c.top + c.height);
  if (!card) return {};
  const wide = camera.scale >= NEAR ? card.column - 12 : 10 + slack;
  let sheet = null, least = Infinity;
  for (const one of card.sheets) {
    if (wx < one.x - 10 - slack || wx > one.x + wide) continue;
    const away = Math.abs(wy - one.y) + (camera.scale < NEAR ? Math.abs(wx - one.x) : 0);
    if (away < Math.min(least, 13 + slack)) { sheet = one; least = away; }
  }
  return { card, sheet, title: wy < card.top + 26 };
}

function place(event) {
  const box = canvas.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
}

canvas.addEventListener("pointerdown", (event) => {
  const [x, y] = place(event);
  canvas.setPointerCapture(event.pointerId);
  pointers.set(event.pointerId, [x, y]);
  const { card, sheet, title } = hit(x, y);
  grip = { x, y, moved: false, card: title && !sheet ? card : null };
  flight += 1;
});

canvas.addEventListener("pointermove", (event) => {
  const [x, y] = place(event), last = pointers.get(event.pointerId);
  if (!last) { hover(x, y); return; }
  pointers.set(event.pointerId, [x, y]);
  if (pointers.size === 2) { pinch(event.pointerId, last, [x, y]); return; }
  if (!grip || (!grip.moved && Math.hypot(x - grip.x, y - grip.y) < 4)) return;
  grip.moved = true;
  canvas.classList.add("drag");
  const dx = x - last[0], dy = y - last[1];
  if (grip.card) moveCard(grip.card, dx / camera.scale, dy / camera.scale);
  else moveTo({ x: camera.x + dx, y: camera.y + dy });
  redraw();
});

for (const name of ["pointerup", "pointercancel"]) {
  canvas.addEventListener(name, (event) => {
    pointers.delete(event.pointerId);
    canvas.classList.remove("drag");
    const done = grip;
    if (!pointers.size) grip = null;
    if (name === "pointercancel" || !done || done.moved) return;
    const { card, sheet } = hit(...place(event));
    if (sheet) { choose(sheet, { move: false }); uncover(sheet); }
    else if (card && camera.scale < NEAR) fly(cameraFor(boxOf([card]), 1.2));
    else if (focus.sheet) choose(null);
  });
}

// Moves the view if the panel that has opened lies over the sheet.
function uncover(sheet) {
  const [x, y] = toScreen(sheet.x, sheet.y), [left, top] = [panel.offsetLeft, panel.offsetTop];
  if (x > left - 20 && y > top - 20) fly(seeSheet(sheet));
}

function pinch(id, last, now) {
  grip.moved = true;
  const [other] = [...pointers].filter(([one]) => one !== id).map(([, at]) => at);
  const span = (at) => Math.max(1, Math.hypot(at[0] - other[0], at[1] - other[1]));
  zoomAt((now[0] + other[0]) / 2, (now[1] + other[1]) / 2, span(now) / span(last));
}

function moveCard(card, dx, dy) {
  kept = true;
  card.left += dx;
  card.top += dy;
  for (const sheet of card.sheets) { sheet.x += dx; sheet.y += dy; }
}

function hover(x, y) {
  const { card = null, sheet = null, title } = hit(x, y);
  const lit = sheet ? null : card && (title || camera.scale < NEAR) ? card : null;
  canvas.className = sheet ? "point" : title && camera.scale >= NEAR ? "move" : card && camera.scale < NEAR ? "point" : "";
  canvas.title = sheet ? sheet.id : card?.title ?? "";
  if (sheet === focus.hover && lit === focus.card) return;
  focus.hover = sheet;
  focus.card = focus.sheet ? null : lit;
  redraw();
}

canvas.addEventListener("pointerleave", () => {
  focus.hover = focus.card = null;
  redraw();
});

canvas.addEventListener("wheel", (event) => {
  event.preventDefault();
  const unit = event.deltaMode === 1 ? 20 : 1;
  zoomAt(...place(event), Math.exp(-Math.max(-120, Math.min(120, event.deltaY * unit)) * 0.0022));
}, { passive: false });

// ---- keyboard and buttons

function zoomMiddle(factor) {
  zoomAt(canvas.clientWidth / 2, canvas.clientHeight / 2, factor);
}

const KEYS = {
  "+": () => zoomMiddle(1.25), "=": () => zoomMiddle(1.25), "-": () => zoomMiddle(0.8),
  0: flyHome,
  ArrowLeft: () => pan(60, 0), ArrowRight: () => pan(-60, 0),
  ArrowUp: () => pan(0, 60), ArrowDown: () => pan(0, -60),
};

function pan(dx, dy) {
  moveTo({ x: camera.x + dx, y: camera.y + dy });
}

canvas.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || !KEYS[event.key]) return;
  event.preventDefault();
  KEYS[event.key]();
});

document.addEventListener("keydown", (event) => {
  const typing = event.target instanceof HTMLInputElement;
  if (event.key === "/" && event.target !== search) { event.preventDefault(); search.focus(); search.select(); }
  else if (event.key === "Escape" && event.target !== search && focus.sheet) choose(null);
  else if (event.key === "0" && !typing && event.target !== canvas) flyHome();
});

document.getElementById("zoom").addEventListener("click", (event) => {
  const way = event.target.dataset.zoom;
  if (way === "fit") flyHome();
  else if (way) zoomMiddle(way === "in" ? 1.4 : 1 / 1.4);
});

document.getElementById("theme").addEventListener("click", () => {
  setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
});

function setTheme(name) {
  document.documentElement.dataset.theme = name;
  readTheme();
  redraw();
}

// ---- start

function start() {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  setTheme(dark.matches ? "dark" : "light");
  dark.addEventListener("change", () => setTheme(dark.matches ? "dark" : "light"));
  document.getElementById("title").textContent = data.title;
  document.getElementById("counts").textContent =
    `${counted(sheets.length, "sheet")}, ${counted(links.length, "link")}`;
  canvas.setAttribute("aria-label", summary());
  showLegend();
  const empty = document.getElementById("empty");
  empty.hidden = sheets.length > 0;
  empty.textContent = "No sheets here: the index is empty, or nothing meets the conditions.";
  document.getElementById("legend").hidden = !sheets.length;
  new ResizeObserver(resize).observe(canvas);
  resize();
  chooseFromAddress();
  addEventListener("hashchange", chooseFromAddress);
  document.documentElement.dataset.ready = "yes";
}

// Where a sheet is on the screen, for scripts that drive the page.
window.placeOf = (id) => {
  const sheet = sheets.find((one) => one.id === id);
  const box = canvas.getBoundingClientRect(), [x, y] = toScreen(sheet.x, sheet.y);
  return { x: x + box.left, y: y + box.top };
};

// Titles of workbooks as they are drawn now.
window.titles = () => titles.map(({ card, lines, box }) => ({ workbook: card.title, lines, box }));

start();
