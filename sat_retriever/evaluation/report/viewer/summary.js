// The table of methods, and how NDCG@5 is spread over the questions.

const HEIGHT = 26, BAR = 7;

function drawSummary() {
  const titles = [["Method", ""], ...data.columns];
  const head = titles.map(([text, means]) => element("th", means ? { title: means } : {}, text));
  if (methods.length > 1) {
    head.push(element("th", { title: `NDCG@5 minus that of ${data.against}, and its 95 % interval.` },
      "Δ NDCG@5"));
  }
  head.push(element("th", { title: "How many questions have which NDCG@5, from 0 (red) to 1 (green)." },
    "NDCG@5 of the questions"));
  const body = methods.map((method, row) => {
    const button = element("button", { type: "button", title: method.name },
      element("bdi", {}, method.name));
    button.addEventListener("click", () => chooseMethod(row));
    const cells = method.cells.map(([text, best]) => (
      element("td", {}, best ? element("b", {}, text) : text)));
    const ahead = methods.length > 1 ? [element("td", {}, method.difference)] : [];
    return element("tr", {}, element("td", {}, button), ...cells, ...ahead,
      element("td", {}, spread(method)));
  });
  document.getElementById("summary").replaceChildren(
    element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...body));
  document.getElementById("notes").replaceChildren(
    ...data.notes.map((note) => element("li", {}, note)));
}

function markMethod() {
  for (const [row, button] of document.querySelectorAll("#summary button").entries()) {
    button.setAttribute("aria-pressed", String(row === chosen.method));
  }
}

function spread(method) {
  const most = Math.max(...method.spread, 1), width = method.spread.length * (BAR + 2);
  const chart = vector("svg", { class: "spread", width, height: HEIGHT + 1, role: "img" });
  const total = method.spread.reduce((sum, count) => sum + count, 0);
  const full = method.spread[method.spread.length - 1];
  chart.setAttribute("aria-label",
    `NDCG@5 is 1 for ${full} and below 0.1 for ${method.spread[0]} of ${counted(total, "question")}`);
  chart.append(vector("line", { x1: 0, x2: width - 2, y1: HEIGHT + .5, y2: HEIGHT + .5 }));
  for (const [bucket, count] of method.spread.entries()) {
    const height = count ? Math.max(1.5, HEIGHT * count / most) : 0;
    const last = bucket === method.spread.length - 1;
    const bar = vector("rect", { x: bucket * (BAR + 2), y: HEIGHT - height, width: BAR, height,
      class: last ? "full" : bucket ? "" : "low" });
    const range = last ? "1" : `${bucket / 10} to ${(bucket + 1) / 10}`;
    bar.append(vector("title", {}, `NDCG@5 ${range}: ${counted(count, "question")}`));
    chart.append(bar);
  }
  return chart;
}

function vector(name, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}
