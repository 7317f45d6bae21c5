// The methods, sheets and questions of the page, and what is chosen.

const { methods, sheets, questions } = data;
const types = [...new Set(questions.map((question) => question.type))].sort();
const FIRST = 5;  // sheets that a question is judged by
const PLACES = new Map(questions.map((question, row) => [question.number, row]));

// What is chosen: the last method is the one that most is expected of.
const chosen = { method: methods.length - 1, open: new Set() };

for (const question of questions) {
  const named = question.relevant.map((sheet) => sheets[sheet].citation);
  question.search = fold([question.text, question.type, ...named].join("\n"));
}

function ordinal(number) {
  const last = number % 10, teen = Math.floor(number / 10) % 10 === 1;
  const ending = teen ? "th" : { 1: "st", 2: "nd", 3: "rd" }[last] ?? "th";
  return number.toLocaleString("en") + ending;
}

function share(value) {
  return value.toFixed(3).replace(/^0/, "");
}

function quality(value) {
  return value >= 0.999 ? "good" : value >= 0.5 ? "fair" : "bad";
}

// Relevant sheets that the first five could hold at most.
function possible(question) {
  return Math.min(question.count, FIRST);
}

function words(list) {
  return list.map((word) => `“${word}”`).join(", ");
}
