// One question, opened: its relevant sheets, the first sheets of the chosen method, and why.

const LISTED = 5;  // relevant sheets shown at first; a button shows the rest
const MARKS = ["not in the labels", "relevant", "not relevant"];

function detailOf(question) {
  return element("div", { className: "detail" }, ...asked(question),
    element("h2", {}, question.count === 1 ? "The relevant sheet" : "Relevant sheets"),
    ...ranksTable(question),
    element("h2", {}, `First sheets of ${methods[chosen.method].name}`),
    firstSheets(question));
}

function asked(question) {
  const parts = [
    ...question.words.map((word) => element("span", { className: "word" }, word)),
    ...question.nowhere.map((word) => (
      element("span", { className: "word gone", title: "No sheet has this word." }, word))),
  ];
  if (!parts.length) return [];
  return [element("p", { className: "asked" }, "Its words: ", ...parts,
    question.nowhere.length ? "(dashed: on no sheet)" : "")];
}

// ---- relevant sheets, and why one is missed

function ranksTable(question) {
  const head = ["", ...methods.map((method) => method.name)].map((name, column) => (
    element("th", { className: column - 1 === chosen.method ? "chosen" : "" },
      element("bdi", {}, name))));
  const late = (row) => whyMissed(question, row) !== "";
  const order = [...question.relevant.keys()].sort((a, b) => late(b) - late(a));  // missed ones first
  const rows = order.map((row) => {
    const sheet = question.relevant[row];
    const ranks = question.ranks.map((each, method) => {
      const rank = each[row];
      const kind = rank ? (rank <= FIRST ? "good" : "fair") : "bad";
      const text = rank ? String(rank) : `not among ${data.depth}`;
      return element("td", { className: method === chosen.method ? `chosen ${kind}` : kind }, text);
    });
    const missed = whyMissed(question, row);
    const why = missed ? [element("p", { className: "reason" }, missed)] : [];
    return element("tr", {}, element("td", {}, ...nameOf(sheets[sheet]), ...why), ...ranks);
  });
  const rest = question.count - question.relevant.length;
  if (rest > 0) {
    rows.push(element("tr", {}, element("td", { colSpan: methods.length + 1 },
      `and ${counted(rest, "more relevant sheet")}`)));
  }
  const body = element("tbody", {}, ...rows.slice(0, LISTED));
  const table = element("table", { className: "ranks" },
    element("thead", {}, element("tr", {}, ...head)), body);
  const hidden = rows.slice(LISTED);
  if (!hidden.length) return [table];
  const button = element("button", { type: "button", className: "all" }, `+${hidden.length} more`);
  button.addEventListener("click", () => { body.append(...hidden); button.remove(); });
  return [table, button];
}

function nameOf(sheet) {
  const parts = [element("div", { className: "sheet" }, element("b", {}, element("bdi", {}, sheet.name)))];
  if (sheet.citation !== sheet.name) {
    parts.push(element("div", { className: "where" }, element("bdi", {}, sheet.citation)));
  }
  return parts;
}

// A sentence or two; empty for a sheet among the first five.
function whyMissed(question, row) {
  const rank = question.ranks[chosen.method][row];
  if (rank && rank <= FIRST) return "";
  if (question.found[chosen.method] === FIRST) {
    return "All of the first five are relevant; there is no place left.";
  }
  const facts = question.facts[question.relevant[row]];
  if (!facts) return "It is no longer in the index.";
  const [, denseRank, , wordRank, own] = facts;
  const said = [];
  if (rank) {
    // Of all relevant sheets, also those that are not listed.
    const before = question.hits[chosen.method].filter((each) => each < rank).length;
    const others = rank - 1 - before;
    said.push(`Before it: ${counted(others, "sheet")} not labelled as relevant.`);
  }
  const lacks = question.words.filter((_, word) => !own.includes(word));
  if (!own.length) said.push("No word of the question is in its name, headers or folder.");
  else {
    const has = `It has ${words(own.map((word) => question.words[word]))}`;
    said.push(lacks.length ? `${has}, not ${words(lacks)}.` : `${has}: every word that any sheet has.`);
  }
  const byWords = wordRank ? `${ordinal(wordRank)} by words` : "not ranked by words";
  said.push(`Of ${counted(data.total, "sheet")} it is ${ordinal(denseRank)} by cosine, ${byWords}.`);
  return said.join(" ");
}

// ---- what the chosen method found

function firstSheets(question) {
  const first = question.first[chosen.method];
  if (!first.length) return element("p", { className: "where" }, "It found nothing at all.");
  return element("ol", { className: "first" }, ...first.map((found, row) => {
    const [number, score, mark, reason, link] = found;
    const sheet = sheets[number];
    const said = reason ? `${MARKS[mark]}: ${reason.replaceAll("_", " ")}` : MARKS[mark];
    return element("li", { className: ["", "relevant", "ruled"][mark] },
      element("span", { className: "rank" }, String(row + 1)),
      element("div", {}, element("span", { className: "mark", title: `score ${score}` }, said),
        ...nameOf(sheet), ...headers(question, number), ...why(question, number, link)));
  }));
}

function headers(question, number) {
  const sheet = sheets[number], same = question.facts[number]?.[5] ?? [];
  if (!sheet.headers.length) return [];
  const parts = sheet.headers.flatMap((name, column) => [column ? " · " : "",
    element("bdi", {}, same.includes(column) ? element("mark", {}, name) : name)]);
  if (sheet.more) parts.push(` · +${sheet.more} more`);
  return [element("div", { className: "headers" }, ...parts)];
}

function why(question, number, link) {
  const facts = question.facts[number];
  if (!facts) return [];
  const [cosine, denseRank, lexical, wordRank, own] = facts;
  const parts = own.map((word) => element("span", { className: "word" }, question.words[word]));
  const byWords = wordRank ? `words ${share(lexical)} (rank ${wordRank.toLocaleString("en")})` : "no word of its names";
  parts.push(element("span", { className: "number", title: "Equally good sheets share a rank." },
    `cosine ${share(cosine)} (rank ${denseRank.toLocaleString("en")}), ${byWords}`));
  const found = [element("div", { className: "why" }, ...parts)];
  if (link) {
    const [, way, other, evidence] = link;
    found.push(element("div", { className: "why" }, `lifted by a link: ${way} `,
      element("bdi", {}, other)));
    if (evidence) found.push(element("div", { className: "evidence" }, element("bdi", {}, evidence)));
  }
  return found;
}
