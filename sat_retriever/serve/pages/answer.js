// The answer in words: asked for by a button, so that the sheets found never wait for a model.
"use strict";

{
  let running = null; // another question, or leaving the page, ends the request and the work for it

  async function answer(button) {
    const said = button.nextElementSibling;
    running = new AbortController();
    button.textContent = "Stop";
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
    button.textContent = "Answer in words";
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("#answer button");
    if (button) running ? running.abort() : answer(button);
  });
  document.addEventListener("input", () => running?.abort());
}
