// The answer in words: asked for by a button, so that the sheets found never wait for a model.
"use strict";

const box = document.getElementById("answer");
const [ask, said] = box ? [box.querySelector("button"), box.querySelector("div")] : [];
let running = null; // leaving the page ends the request, and with it the work for it

async function answer() {
  if (running) return running.abort();
  running = new AbortController();
  ask.textContent = "Stop";
  said.textContent = "The language model reads the sheets…";
  try {
    const found = await fetch("/answer", {
      method: "POST",
      headers: { Accept: "text/html", "Content-Type": "application/x-www-form-urlencoded" },
      body: location.search.slice(1),
      signal: running.signal,
    });
    const page = new DOMParser().parseFromString(await found.text(), "text/html");
    const told = page.querySelector("main .word p");
    if (found.ok) said.replaceChildren(page.querySelector("section"));
    else said.textContent = told ? told.textContent : page.body.textContent.trim();
  } catch (error) {
    said.textContent = error.name === "AbortError" ? "Stopped." : "The server cannot be reached.";
  }
  running = null;
  ask.textContent = "Answer in words";
}

if (ask) {
  ask.hidden = false;
  ask.addEventListener("click", answer);
}
