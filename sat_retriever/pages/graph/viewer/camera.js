// The camera over the canvas, what is in focus, and the colours of the theme.

const canvas = document.getElementById("graph");
const pen = canvas.getContext("2d");
const camera = { x: 0, y: 0, scale: 1 };
const focus = { sheet: null, hover: null, card: null, found: new Set() };
const calm = matchMedia("(prefers-reduced-motion: reduce)");
const NEAR = 0.75;  // below this scale names of sheets would be too small to read
let whole = true;  // all is shown, and stays so when the window changes
let kept = false;  // a card was moved by hand, so the layout stays
let paint = {};
let asked = false;
let flight = 0;

function readTheme() {
  const root = document.documentElement, style = getComputedStyle(root);
  const value = (name) => style.getPropertyValue(name).trim();
  paint = {
    ground: value("--paper"), surface: value("--raised"), ink: value("--ink"),
    muted: value("--quiet"), accent: value("--accent"),
    card: cards.map((_, i) => `hsl(${hue(i)} ${value("--tint")} ${value("--card-light")})`),
    edge: cards.map((_, i) => `hsl(${hue(i)} 30% ${value("--card-edge")})`),
    dot: cards.map((_, i) => `hsl(${hue(i)} 60% ${value("--dot-light")})`),
  };
  for (const type of types) {
    type.colour = type.colours[root.dataset.theme === "dark" ? 1 : 0];
    root.style.setProperty(`--type-${type.index}`, type.colour);
  }
}

function hue(index) {
  return Math.round((index * 137.508 + 210) % 360);
}

function redraw() {
  if (asked) return;
  asked = true;
  requestAnimationFrame(() => { asked = false; draw(); });
}

function resize() {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.max(1, Math.round(canvas.clientWidth * ratio));
  canvas.height = Math.max(1, Math.round(canvas.clientHeight * ratio));
  if (whole) seeWhole();
  redraw();
}

function toWorld(x, y) {
  return [(x - camera.x) / camera.scale, (y - camera.y) / camera.scale];
}

function toScreen(x, y) {
  return [x * camera.scale + camera.x, y * camera.scale + camera.y];
}

function zoomAt(x, y, factor) {
  const scale = Math.min(4, Math.max(0.02, camera.scale * factor));
  const [wx, wy] = toWorld(x, y);
  moveTo({ scale, x: x - wx * scale, y: y - wy * scale });
}

// What a hand does to the view, which no window's change undoes.
function moveTo(place) {
  Object.assign(camera, place);
  whole = false;
  flight += 1;
  redraw();
}

// The camera that shows a box, beside the panel if it is open.
function cameraFor([left, top, right, bottom], most) {
  const panel = document.getElementById("panel");
  const [aside, below] = panel.hidden ? [0, 0]
    : innerWidth <= 700 ? [0, panel.offsetHeight + 8] : [panel.offsetWidth + 14, 0];
  const width = Math.max(80, canvas.clientWidth - aside);
  const height = Math.max(80, canvas.clientHeight - below);
  const edge = canvas.clientWidth > 700 ? 104 : 32;  // beside the buttons, where there is room
  const scale = Math.min(
    most, (width - edge) / Math.max(1, right - left), (height - 60) / Math.max(1, bottom - top),
  );
  return {
    scale: Math.max(0.02, scale),
    x: width / 2 - scale * (left + right) / 2,
    y: height / 2 - scale * (top + bottom) / 2,
  };
}

function fly(goal) {
  const start = { ...camera }, begun = performance.now(), mine = (flight += 1);
  whole = false;
  if (calm.matches) { Object.assign(camera, goal); redraw(); return; }
  const step = (now) => {
    if (mine !== flight) return;
    const done = Math.min(1, Math.max(0, (now - begun) / 350)), eased = 1 - (1 - done) ** 3;
    for (const key of ["x", "y", "scale"]) camera[key] = start[key] + (goal[key] - start[key]) * eased;
    draw();
    if (done < 1) requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
}

function boxOf(some) {
  const boxes = some.map((c) => [c.left, c.top, c.left + c.width, c.top + c.height]);
  const edge = (pick, place) => boxes.reduce((found, box) => pick(found, box[place]), boxes[0][place]);
  return [edge(Math.min, 0), edge(Math.min, 1), edge(Math.max, 2), edge(Math.max, 3)];
}

function seeAll() {
  return cards.length ? cameraFor(boxOf(cards), 1.4) : camera;
}

// All at once, in the layout whose shape is nearest to that of this window.
function seeWhole() {
  const shape = canvas.clientWidth / Math.max(1, canvas.clientHeight);
  const away = (layout) => Math.abs(Math.log(data.shapes[layout] / shape));
  if (!kept) arrange([...data.shapes.keys()].sort((a, b) => away(a) - away(b))[0]);
  Object.assign(camera, seeAll());
}

function flyHome() {
  fly(seeAll());
  whole = true;
}

// Its card, and the sheets it is linked to as far as they fit at a readable size.
function seeSheet(sheet) {
  const own = cards[sheet.card];
  const near = [own, ...shownLinks(sheet).map((link) => cards[otherEnd(link, sheet).card])];
  const whole = cameraFor(boxOf(near), 1.2);
  if (whole.scale >= NEAR) return whole;
  return cameraFor([sheet.x, sheet.y, sheet.x + 100, sheet.y], 0.9);
}

function shownLinks(sheet) {
  return sheet.links.filter((link) => link.type.on);
}
