// The canvas: cards, links, dots and labels.

const STRAIGHT = 4000;  // with more links than this, curves are too slow to pan
const LINE = 14;  // pixels from a line of a title to the next
const TITLED = 400;  // titles tried: a window has no room for more
const FONT = 'system-ui, "Segoe UI", "Noto Sans", "Noto Sans CJK SC", sans-serif';
let titles = [];  // of workbooks, as they were drawn last

function draw() {
  titles = [];
  const ratio = window.devicePixelRatio || 1, { scale } = camera;
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.fillStyle = paint.ground;
  pen.fillRect(0, 0, canvas.clientWidth, canvas.clientHeight);
  pen.setTransform(ratio * scale, 0, 0, ratio * scale, ratio * camera.x, ratio * camera.y);
  const [left, top] = toWorld(0, 0);
  const [right, bottom] = toWorld(canvas.clientWidth, canvas.clientHeight);
  const seen = cards.filter((c) => c.left < right && c.left + c.width > left
    && c.top < bottom && c.top + c.height > top);
  const lit = litSheets();
  for (const card of seen) drawCard(card, lit);
  const shown = links.filter((link) => link.type.on && link.from !== link.to);
  drawLinks(shown.filter((link) => !isLit(link)), lit ? 0.05 : faintness(shown.length), 1);
  const bright = shown.filter(isLit);
  drawLinks(bright, 0.95, 1.8);
  if (bright.length <= 600) bright.forEach(drawArrow);
  for (const card of seen) for (const sheet of card.sheets) drawDot(sheet, lit);
  if (scale >= NEAR) for (const card of seen) drawNames(card, lit);
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  if (scale < NEAR) drawFar(seen, lit);
}

function faintness(count) {
  return 0.05 + 0.65 * (500 / (count + 500));
}

// What the eye is led to: a sheet and what it is linked to, or a card.
function litSheets() {
  const sheet = focus.hover ?? focus.sheet;
  if (sheet) return new Set([sheet, ...shownLinks(sheet).map((link) => otherEnd(link, sheet))]);
  if (!focus.card) return focus.found.size ? focus.found : null;
  const found = new Set(focus.card.sheets);
  for (const own of focus.card.sheets) {
    for (const link of shownLinks(own)) found.add(otherEnd(link, own));
  }
  return found;
}

function isLit(link) {
  const sheet = focus.hover ?? focus.sheet;
  if (sheet) return link.from === sheet.index || link.to === sheet.index;
  const card = focus.card?.index;
  return card !== undefined && (sheets[link.from].card === card || sheets[link.to].card === card);
}

function drawCard(card, lit) {
  const dim = lit && !card.sheets.some((sheet) => lit.has(sheet));
  pen.globalAlpha = dim ? 0.35 : 1;
  pen.beginPath();
  pen.roundRect(card.left, card.top, card.width, card.height, 10);
  pen.fillStyle = paint.card[card.index];
  pen.fill();
  pen.lineWidth = (focus.card === card ? 2 : 1) / Math.min(1, camera.scale);
  pen.strokeStyle = paint.edge[card.index];
  pen.stroke();
  pen.globalAlpha = 1;
}

function drawLinks(some, alpha, width) {
  pen.globalAlpha = alpha;
  pen.lineWidth = width / Math.min(1, Math.max(0.25, camera.scale));
  for (const type of types) {
    pen.beginPath();
    for (const link of some) {
      if (link.type !== type) continue;
      const a = sheets[link.from], b = sheets[link.to];
      pen.moveTo(a.x, a.y);
      if (links.length > STRAIGHT && alpha < 0.9) pen.lineTo(b.x, b.y);
      else pen.quadraticCurveTo(...bend(link), b.x, b.y);
    }
    pen.strokeStyle = type.colour;
    pen.setLineDash(type.directed ? [] : [6, 5]);
    pen.stroke();
  }
  pen.setLineDash([]);
  pen.globalAlpha = 1;
}

// The control point of a link's curve: types bend differently, so that none hides another.
function bend(link) {
  const a = sheets[link.from], b = sheets[link.to], dx = b.x - a.x, dy = b.y - a.y;
  if (a.card === b.card && Math.abs(dx) < 1) {  // in one column: around the names, on the left
    return [a.x - 12 - Math.min(70, Math.abs(dy) * 0.28) - 5 * link.type.index, (a.y + b.y) / 2];
  }
  const turn = 0.1 + 0.035 * link.type.index;
  return [(a.x + b.x) / 2 - dy * turn, (a.y + b.y) / 2 + dx * turn];
}

function drawArrow(link) {
  if (!link.type.directed) return;
  const b = sheets[link.to], [cx, cy] = bend(link);
  const angle = Math.atan2(b.y - cy, b.x - cx), size = 8 / Math.min(1, Math.max(0.3, camera.scale));
  const x = b.x - 6 * Math.cos(angle), y = b.y - 6 * Math.sin(angle);
  pen.beginPath();
  pen.moveTo(x, y);
  for (const side of [-0.42, 0.42]) {
    pen.lineTo(x - size * Math.cos(angle + side), y - size * Math.sin(angle + side));
  }
  pen.closePath();
  pen.fillStyle = link.type.colour;
  pen.fill();
}

function drawDot(sheet, lit) {
  const chosen = sheet === focus.sheet, hidden = sheet.visibility !== "visible";
  pen.globalAlpha = lit && !lit.has(sheet) ? 0.25 : 1;
  pen.beginPath();
  pen.arc(sheet.x, sheet.y, Math.max(chosen ? 6.5 : 4.5, 2.2 / camera.scale), 0, 2 * Math.PI);
  pen.fillStyle = hidden ? paint.surface : paint.dot[sheet.card];
  pen.fill();
  pen.lineWidth = 1.5;
  pen.strokeStyle = hidden ? paint.dot[sheet.card] : paint.surface;
  pen.stroke();
  if (chosen || focus.found.has(sheet)) {
    pen.beginPath();
    pen.arc(sheet.x, sheet.y, Math.max(9, 5 / camera.scale), 0, 2 * Math.PI);
    pen.lineWidth = 2.5 / Math.min(1, camera.scale);
    pen.strokeStyle = paint.accent;
    pen.stroke();
  }
  pen.globalAlpha = 1;
}

function drawNames(card, lit) {
  pen.textBaseline = "middle";
  pen.textAlign = "left";
  if (card.title) {
    pen.font = `600 12px ${FONT}`;
    pen.fillStyle = paint.muted;
    const title = shortened(card, "short", fileName(card.title), card.width - 24);
    pen.fillText(title, card.left + 12, card.top + 16);
    const [left, top] = toScreen(card.left + 12, card.top + 8);
    const wide = pen.measureText(title).width * camera.scale;
    titles.push({ card, lines: [title], box: [left, top, left + wide, top + 16 * camera.scale] });
  }
  pen.lineJoin = "round";
  for (const sheet of card.sheets) {
    const bold = sheet === focus.sheet || sheet === focus.hover;
    pen.globalAlpha = lit && !lit.has(sheet) ? 0.35 : 1;
    pen.font = `${bold ? 600 : 400} 12px ${FONT}`;
    const name = shortened(sheet, bold ? "bold" : "short", sheet.name, card.column - 24);
    pen.lineWidth = 3;  // a halo, so that a link below does not cut the name
    pen.strokeStyle = paint.card[card.index];
    pen.strokeText(name, sheet.x + 11, sheet.y + 0.5);
    pen.fillStyle = paint.ink;
    pen.fillText(name, sheet.x + 11, sheet.y + 0.5);
  }
  pen.globalAlpha = 1;
}

// Too far away for names: titles of cards, and names of what is lit, where there is room.
function drawFar(seen, lit) {
  const taken = [];
  if (lit && lit.size <= 400) {
    const first = focus.hover ?? focus.sheet;
    const order = [...lit].sort((a, b) => (b === first) - (a === first)
      || b.links.length - a.links.length || a.index - b.index);
    for (const sheet of order) {
      const [x, y] = toScreen(sheet.x, sheet.y);
      tag(taken, clipped(sheet.name, 28), x + 8, y - 9, true);
    }
  }
  const weight = (card) => card.sheets.reduce((sum, sheet) => sum + sheet.links.length + 1, 0);
  const titled = seen.filter((card) => card.title
    && !(lit && !card.sheets.some((sheet) => lit.has(sheet))));
  titled.sort((a, b) => weight(b) - weight(a) || a.index - b.index);
  // First each in its own room, then whoever can have more.
  for (const card of titled.slice(0, TITLED)) title(card, card.room * camera.scale, taken, seen);
  for (const shown of titles) {
    for (const wide of [260, 180, 130]) {
      if (shown.cut && wide > shown.wide && grown(shown, wide, taken, seen)) break;
    }
  }
  for (const { lines, box } of titles) {
    lines.forEach((line, row) => label(line, box[0] + 3, box[1] + LINE * row, false));
  }
}

// The title of a card above it, on one line or two, unless a dot or a name is in its place.
function title(card, wide, taken, seen) {
  const [x, y] = toScreen(card.left, card.top);
  for (const [room, most] of [[wide - 4, 2], [wide - 4, 1], [110, 1]]) {
    const { lines, cut } = folded(fileName(card.title), room, most);
    const shown = { card, lines, cut, wide, box: boxAbove(lines, x, y) };
    if (!lines.length || !isFree(shown.box, taken, seen, most > 1)) continue;
    taken.push(shown.box);
    titles.push(shown);
    return;
  }
}

function grown(shown, wide, taken, seen) {
  const [x, y] = toScreen(shown.card.left, shown.card.top), { card } = shown;
  const { lines, cut } = folded(fileName(card.title), wide, shown.lines.length);
  const box = boxAbove(lines, x, y), others = taken.filter((one) => one !== shown.box);
  if (box[0] < 0 || box[2] > canvas.clientWidth || !isFree(box, others, seen, true)) return false;
  taken[taken.indexOf(shown.box)] = box;
  Object.assign(shown, { lines, cut, box });
  return true;
}

function boxAbove(lines, x, y) {
  const wide = Math.max(0, ...lines.map((line) => pen.measureText(line).width));
  const left = Math.min(x, canvas.clientWidth - wide - 6);  // not over the window's edge
  return [left - 3, y - 2 - LINE * lines.length, left + wide + 3, y - 2];
}

// A text on at most so many lines; the last is cut in its middle if it is too long.
function folded(text, wide, most) {
  pen.font = `500 11.5px ${FONT}`;
  const fits = (part) => pen.measureText(part).width <= wide;
  const words = text.split(/(?<=[\s_-])/), lines = [];
  while (words.length && lines.length < most - 1 && fits(words[0].trim())) {
    let count = 1;
    while (count < words.length && fits(words.slice(0, count + 1).join("").trim())) count += 1;
    lines.push(words.splice(0, count).join("").trim());
  }
  const rest = words.join("").trim(), all = Array.from(rest).length;
  if (!rest) return { lines, cut: false };
  let left = Math.min(all, Math.ceil(wide / 4)), last = clipped(rest, left);
  while (left > 3 && !fits(last)) last = clipped(rest, (left -= 1));
  if (fits(last) && left >= Math.min(all, 5)) return { lines: [...lines, last], cut: left < all };
  return { lines: lines.join("").length < 8 ? [] : lines, cut: true };  // "BAU" names nothing
}

// A label on the screen, unless one of more weight is in its place.
function tag(taken, text, x, y, strong) {
  pen.font = `${strong ? 600 : 500} 11.5px ${FONT}`;
  const box = [x - 3, y + 1, x + pen.measureText(text).width + 3, y + 15];
  if (!isFree(box, taken, [])) return;
  taken.push(box);
  label(text, x, y, strong);
}

function label(text, x, y, strong) {
  pen.font = `${strong ? 600 : 500} 11.5px ${FONT}`;
  pen.globalAlpha = 0.88;
  pen.fillStyle = strong ? paint.surface : paint.ground;
  pen.beginPath();
  pen.roundRect(x - 3, y + 1, pen.measureText(text).width + 6, 14, 4);
  pen.fill();
  pen.globalAlpha = 1;
  pen.textBaseline = "middle";
  pen.textAlign = "left";
  pen.fillStyle = strong ? paint.ink : paint.muted;
  pen.fillText(text, x, y + 8);
}

// Whether a box on the screen can be seen, and lies over no other and over no dot of some cards
// (or over no part of them).
function isFree(box, taken, spared, all = false) {
  const meets = ([l, t, r, b]) => box[0] < r && box[2] > l && box[1] < b && box[3] > t;
  return meets([0, 0, canvas.clientWidth, canvas.clientHeight]) && !taken.some(meets)
    && !spared.some((card) => hides(box, card, all));
}

// Whether a box on the screen lies over a dot of a card, or over any part of it.
function hides(box, card, all) {
  const [left, top] = toWorld(box[0], box[1]), [right, bottom] = toWorld(box[2], box[3]);
  const meets = card.left < right && card.left + card.width > left
    && card.top < bottom && card.top + card.height > top;
  const room = Math.max(4.5, 2.2 / camera.scale);  // a dot's radius
  return meets && (all || card.sheets.some(({ x, y }) => x + room > left && x - room < right
    && y + room > top && y - room < bottom));
}

function fileName(title) {
  return title.slice(title.lastIndexOf("/") + 1).replace(/\.(xl[a-z]{1,2}|ods|csv|tsv)$/i, "");
}

function clipped(text, most) {
  const letters = Array.from(text);
  if (letters.length <= most) return text;
  const tail = Math.floor(most / 3);
  return `${letters.slice(0, most - tail - 1).join("")}…${letters.slice(-tail).join("")}`;
}

// The text with its middle left out if it is too wide; kept, since measuring is slow.
function shortened(owner, slot, text, width) {
  const kept = (owner.kept ??= {});
  if (kept[slot] !== undefined) return kept[slot];
  let most = Math.min(Array.from(text).length, 80), short = clipped(text, most);
  while (most > 4 && pen.measureText(short).width > width) short = clipped(text, (most -= 1));
  return (kept[slot] = short);
}
