// What stands around the canvas: the chosen sheet, the types of links, notes.

const panel = document.getElementById("panel");
const HEADERS = 8;  // headers listed; a button shows the rest
const SHOWN = 40;  // links listed of one type and way; a button shows the rest

function showSheet(sheet) {
  panel.hidden = !sheet;
  document.body.classList.toggle("open", Boolean(sheet));
  panel.replaceChildren();
  if (!sheet) return;
  const close = element("button", { className: "close", type: "button", textContent: "×" });
  close.setAttribute("aria-label", "Close");
  close.addEventListener("click", () => choose(null));
  panel.append(
    element("div", { className: "top" }, element("h3", {}, element("bdi", {}, sheet.name)), close),
    element("p", { className: "path" }, element("bdi", {}, sheet.path || sheet.workbook || sheet.id)),
    ...openPart(sheet),
    element("ul", { className: "facts" }, ...facts(sheet)),
    ...headerPart(sheet),
    ...linkPart(sheet),
  );
  panel.scrollTop = 0;
}

// A link to the sheet's page, where a server has one.
function openPart(sheet) {
  if (!data.opens) return [];
  const href = data.opens + encodeURIComponent(sheet.id);
  return [element("p", { className: "open" }, element("a", { href }, "Open the sheet"))];
}

function facts(sheet) {
  const rows = sheet.rows === null ? "" : counted(sheet.rows, "row");
  const cols = sheet.cols === null ? "" : counted(sheet.cols, "column");
  const plain = [[rows, cols].filter(Boolean).join(" × "), sheet.range, sheet.format];
  if (sheet.tables > 1) plain.push(counted(sheet.tables, "table"));
  const found = plain.filter(Boolean).map((text) => element("li", {}, text));
  if (sheet.visibility !== "visible") {
    const text = sheet.visibility.replaceAll("_", " ");
    found.push(element("li", { className: "warn" }, text));
  }
  if (sheet.formulas === "unread") {
    found.push(element("li", { className: "warn" }, "formulas not read"));
  } else if (sheet.formulas === "read") found.push(element("li", {}, "formulas read"));
  return found;
}

function headerPart(sheet) {
  if (!sheet.headers.length) return [];
  const body = element("tbody", {}, ...sheet.headers.slice(0, HEADERS).map(headerRow));
  const parts = [element("h2", {}, "Headers"), element("table", {}, body)];
  const rest = sheet.headers.slice(HEADERS);
  const more = element("p", { className: "more" });
  const unseen = sheet.more ? `and ${counted(sheet.more, "more column")}` : "";
  if (rest.length) {
    const button = element("button", { type: "button", className: "all" }, `+${rest.length} more`);
    button.addEventListener("click", () => {
      body.append(...rest.map(headerRow));
      more.textContent = unseen;
    });
    more.append(button);
  } else more.textContent = unseen;
  return [...parts, more];
}

function headerRow([name, type, unit]) {
  return element(
    "tr", {},
    element("td", {}, element("bdi", {}, name || "(no header)")),
    element("td", {}, [type === "unknown" ? "" : type, unit].filter(Boolean).join(", ")),
  );
}

function note(text) {
  return element("p", { className: "more" }, text);
}

function linkPart(sheet) {
  const title = element("h2", {}, "Links");
  if (!sheet.links.length) return [title, note("No links from or to this sheet.")];
  const parts = [];
  for (const type of types) {
    const own = sheet.links.filter((link) => link.type === type);
    if (!own.length) continue;
    own.sort((a, b) => (a.to === sheet.index) - (b.to === sheet.index) || b.weight - a.weight);
    parts.push(kindLine(type, own.length), linkList(sheet, own));
  }
  return [title, ...parts];
}

function kindLine(type, count) {
  const off = type.on ? "" : ", not drawn";
  return element("div", { className: "kind" }, swatch(type), type.label,
    element("span", { className: "count" }, `${count.toLocaleString("en")}${off}`));
}

function swatch(type) {
  const line = element("span", { className: type.directed ? "line" : "line dashed" });
  line.style.borderTopColor = `var(--type-${type.index})`;
  return line;
}

function linkList(sheet, own) {
  const list = element("ul", { className: "links" });
  const add = (some) => list.append(...some.map((link) => linkItem(sheet, link)));
  add(own.slice(0, SHOWN));
  if (own.length <= SHOWN) return list;
  const rest = own.length - SHOWN;
  const more = element("button", { type: "button" }, `+${rest.toLocaleString("en")} more`);
  const item = element("li", {}, more);
  more.addEventListener("click", () => { item.remove(); add(own.slice(SHOWN)); });
  list.append(item);
  return list;
}

function linkItem(sheet, link) {
  const other = otherEnd(link, sheet), out = link.from === sheet.index;
  const way = link.type.directed ? `${out ? "→" : "←"} ${link.type.says[out ? 0 : 1]}` : "↔";
  const button = element("button", { type: "button" },
    element("span", { className: "way" }, `${way} `), element("b", {}, element("bdi", {}, other.name)));
  const where = other.path || other.workbook;
  if (where && other.card !== sheet.card) {
    button.append(element("div", { className: "where" }, element("bdi", {}, where)));
  }
  if (link.evidence) button.append(element("code", {}, element("bdi", {}, link.evidence)));
  button.addEventListener("click", () => choose(other));
  return element("li", {}, button);
}

function showLegend() {
  const list = document.getElementById("types");
  for (const type of types) {
    const box = element("input", { type: "checkbox", checked: type.on, name: type.name });
    box.addEventListener("change", () => { type.on = box.checked; typesChanged(); });
    const count = element("span", { className: "count" }, type.count.toLocaleString("en"));
    list.append(element("li", {}, element("label", {}, box, swatch(type), type.label, count)));
  }
  const notes = types.length ? data.notes : ["No links between these sheets.", ...data.notes];
  document.getElementById("notes").textContent = notes.join(" ");
}

function say(text) {
  document.getElementById("status").textContent = text;
}
