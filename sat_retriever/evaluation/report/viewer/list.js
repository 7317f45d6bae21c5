// The list of questions: choosing, ordering, opening; and the start of it all.

const SHOWN = 100;  // questions listed at first, and again with each click on "more"
const place = (id) => document.getElementById(id);
const ndcg = (question) => question.ndcg[chosen.method];
const gain = (question) => ndcg(question) - question.ndcg[methods[chosen.method].other];
const SHOW = {
  all: ["all questions", () => true],
  missed: ["missed something", (q) => q.found[chosen.method] < possible(q)],
  nothing: ["nothing in the first five", (q) => q.found[chosen.method] === 0],
  ruled: ["first sheet not relevant by the labels", (q) => q.first[chosen.method][0]?.[2] === 2],
};
const ORDER = {
  worst: ["worst first", (a, b) => ndcg(a) - ndcg(b)],
  best: ["best first", (a, b) => ndcg(b) - ndcg(a)],
  behind: [`most behind ${data.against} first`, (a, b) => gain(a) - gain(b)],
  ahead: [`most ahead of ${data.against} first`, (a, b) => gain(b) - gain(a)],
  file: ["as in the labels", () => 0],
};
let limit = SHOWN;
let listed = [];

function choices(select, options) {
  select.replaceChildren(...options.map(([value, text]) => element("option", { value }, text)));
}

function chooseMethod(row) {
  chosen.method = row;
  place("method").value = String(row);
  const alone = methods[row].other === null;
  for (const value of ["behind", "ahead"]) {
    place("order").querySelector(`[value=${value}]`).disabled = alone;
  }
  if (alone && ["behind", "ahead"].includes(place("order").value)) place("order").value = "worst";
  markMethod();
  list();
}

function list() {
  const wanted = fold(place("search").value).split(/\s+/).filter(Boolean);
  const meets = SHOW[place("show").value][1], type = place("type").value;
  const found = questions.filter((question) => meets(question)
    && (type === "*" || question.type === type)
    && wanted.every((word) => question.search.includes(word)));
  const order = ORDER[place("order").value][1];
  listed = found.sort((a, b) => order(a, b) || a.number - b.number);
  limit = SHOWN;
  draw();
}

function draw() {
  const shown = listed.slice(0, limit);
  place("questions").replaceChildren(...shown.map(rowOf));
  place("none").hidden = listed.length > 0;
  const rest = listed.length - shown.length;
  place("more").hidden = rest <= 0;
  place("more").textContent = `Show ${Math.min(SHOWN, rest)} more`;
  const whole = counted(questions.length, "question");
  const some = listed.length === questions.length ? whole : `${listed.length.toLocaleString("en")} of ${whole}`;
  const perfect = listed.filter((question) => ndcg(question) > 0.9999).length;
  place("counts").textContent = listed.length
    ? `${some}; ${perfect.toLocaleString("en")} in perfect order by ${methods[chosen.method].name}` : `${some}`;
}

function rowOf(question) {
  const value = ndcg(question), open = chosen.open.has(question.number);
  const bar = element("i");
  bar.style.setProperty("--part", `${Math.round(value * 100)}%`);
  const button = element("button", { type: "button", className: "question" },
    element("span", { className: `value ${quality(value)}`, title: "NDCG@5" }, share(value), bar),
    element("span", { className: "text" }, element("bdi", {}, question.text)),
    question.type ? element("span", { className: "tag" }, question.type.replaceAll("_", " ")) : "",
    element("span", { className: "sum" }, sumOf(question)));
  button.setAttribute("aria-expanded", String(open));
  const item = element("li", { id: `q${question.number}` }, button);
  if (open) item.append(detailOf(question));
  button.addEventListener("click", () => toggle(question, item));
  return item;
}

function sumOf(question) {
  const found = question.found[chosen.method];
  return `${found} of ${question.count} in first ${FIRST}`;
}

function toggle(question, item) {
  const open = !chosen.open.has(question.number);
  if (open) {
    chosen.open.add(question.number);
    item.append(detailOf(question));
    history.replaceState(null, "", `#q${question.number}`);
  } else {
    chosen.open.delete(question.number);
    item.querySelector(".detail").remove();
  }
  item.firstChild.setAttribute("aria-expanded", String(open));
}

// The question that the address names, else the first of the list.
function openAtFirst() {
  const named = questions[PLACES.get(Number(location.hash.match(/^#q(\d+)$/)?.[1]))];
  const first = named ?? listed[0];
  if (!first) return;
  chosen.open.add(first.number);
  limit = Math.max(limit, listed.indexOf(first) + 1);
  draw();
  if (named) place(`q${named.number}`).scrollIntoView({ block: "start" });
}

function theme(name) {
  document.documentElement.dataset.theme = name;
}

const dark = matchMedia("(prefers-color-scheme: dark)");
theme(dark.matches ? "dark" : "light");
dark.addEventListener("change", () => theme(dark.matches ? "dark" : "light"));
place("theme").addEventListener("click", () => {
  theme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
});

place("title").textContent = data.title;
place("about").textContent = data.about;
choices(place("method"), methods.map((method, row) => [String(row), method.name]));
choices(place("show"), Object.entries(SHOW).map(([value, [text]]) => [value, text]));
choices(place("order"), Object.entries(ORDER).map(([value, [text]]) => [value, text]));
choices(place("type"), [["*", "all"],
  ...types.map((type) => [type, type ? type.replaceAll("_", " ") : "(no type)"])]);
place("type-label").hidden = types.length < 2;
place("method").addEventListener("change", () => chooseMethod(Number(place("method").value)));
for (const id of ["show", "type", "order"]) place(id).addEventListener("change", list);
place("search").addEventListener("input", list);
place("more").addEventListener("click", () => { limit += SHOWN; draw(); });
place("reset").addEventListener("click", () => {
  place("search").value = "";
  place("show").value = "all";
  place("type").value = "*";
  list();
});
document.addEventListener("keydown", (event) => {
  const typing = /^(INPUT|SELECT)$/.test(document.activeElement.tagName);
  if (event.key === "/" && !typing) { event.preventDefault(); place("search").focus(); }
});
drawSummary();
chooseMethod(chosen.method);
openAtFirst();
document.documentElement.dataset.ready = "";
