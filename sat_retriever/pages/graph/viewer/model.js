// What the page is about: sheets, links, who is linked to whom, and the search over them.

const { sheets, cards, types } = data;
for (const [index, type] of types.entries()) Object.assign(type, { index, count: 0 });

const links = data.links.map(([from, to, type, weight, evidence]) => (
  { from, to, type: types[type], weight, evidence }
));
for (const [index, sheet] of sheets.entries()) {
  Object.assign(sheet, { index, links: [], text: searchText(sheet) });
}
for (const [index, card] of cards.entries()) Object.assign(card, { index, sheets: [] });
for (const sheet of sheets) {
  cards[sheet.card].sheets.push(sheet);
  Object.assign(sheet, { dx: sheet.x, dy: sheet.y });
}
for (const link of links) {
  link.type.count += 1;
  sheets[link.from].links.push(link);
  if (link.to !== link.from) sheets[link.to].links.push(link);
}

// Every card, and the sheets in it, to where it stands in one of the layouts.
function arrange(layout) {
  for (const card of cards) {
    [card.left, card.top, card.room] = card.places[layout];
    for (const sheet of card.sheets) {
      Object.assign(sheet, { x: card.left + sheet.dx, y: card.top + sheet.dy });
    }
  }
}

function searchText(sheet) {
  const headers = sheet.headers.map(([name]) => name).join("\n");
  return { name: fold(sheet.name), headers: fold(headers), path: fold(sheet.id) };
}

function rank(sheet, words) {
  const { name, headers, path } = sheet.text;
  let score = 0;
  for (const word of words) {
    if (name === word) score += 8;
    else if (name.startsWith(word)) score += 6;
    else if (name.includes(word)) score += 4;
    else if (headers.includes(word)) score += 2;
    else if (path.includes(word)) score += 1;
    else return 0;
  }
  return score;
}

// Sheets that have every word, best first.
function find(query) {
  const words = fold(query).split(/\s+/).filter(Boolean);
  if (!words.length) return [];
  return sheets
    .map((sheet) => ({ sheet, score: rank(sheet, words) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || b.sheet.links.length - a.sheet.links.length
      || a.sheet.index - b.sheet.index)
    .map(({ sheet }) => sheet);
}

function otherEnd(link, sheet) {
  return sheets[link.from === sheet.index ? link.to : link.from];
}
