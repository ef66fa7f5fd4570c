// What pages need beyond htmx: copying, the key from an address, and a conversation that stays small while one scrolls.
"use strict";

const PIECES = 4; // Pieces of a conversation that stay on the page; those further away are loaded again when they are needed.

document.addEventListener("click", async (event) => {
  const button = event.target.closest("button[data-copy]");
  if (!button) return;
  const exact = document.getElementById(button.dataset.copy + "-exact");
  const shown = document.getElementById(button.dataset.copy);
  const words = exact ? exact.content.textContent : shown.textContent;
  try {
    await navigator.clipboard.writeText(words);
    button.textContent = "Copied";
  } catch {
    getSelection().selectAllChildren(shown); // No clipboard here: the words are selected for the reader to copy.
    button.textContent = "Selected";
  }
  setTimeout(() => { button.textContent = "Copy"; }, 1500);
});

// `hitherto demo --open` opens an address with the key behind a #, which is never sent to a server.
function keyFromAddress() {
  const field = document.getElementById("key");
  const given = new URLSearchParams(location.hash.slice(1)).get("key");
  if (!field || !given) return;
  field.value = given;
  history.replaceState(null, "", location.pathname + location.search);
  field.form.querySelector("button").focus();
}

// Where a conversation is cut off, a link to what was there takes its place.
function link(turns, end, place) {
  const made = document.createElement("a");
  const url = turns.dataset.more + (end === "older" ? "&before=" : "&after=") + place;
  made.className = "more";
  made.dataset.end = end;
  made.href = url;
  made.textContent = end === "older" ? "Older turns" : "Newer turns";
  for (const [name, value] of [["get", url], ["trigger", "intersect once"], ["target", "this"], ["swap", "outerHTML"]]) {
    made.setAttribute("hx-" + name, value);
  }
  return made;
}

function trim(turns, end) {
  const pieces = [...turns.querySelectorAll(".piece")];
  if (pieces.length <= PIECES) return;
  const far = end === "older" ? pieces.slice(PIECES) : pieces.slice(0, -PIECES);
  const near = end === "older" ? pieces[PIECES - 1] : pieces[pieces.length - PIECES];
  far.forEach((piece) => piece.remove());
  const other = end === "older" ? "newer" : "older";
  turns.querySelectorAll(`.more[data-end="${other}"], ${other === "newer" ? "#live, .band.fresh" : ".edge"}`)
    .forEach((old) => { if (!old.closest(".piece")) old.remove(); });
  const made = link(turns, other, other === "newer" ? near.dataset.last : near.dataset.first);
  if (other === "newer") turns.append(made); else turns.prepend(made);
  htmx.process(made);
}

// On a telephone each row of a table is a card: its cells say themselves what they hold.
function label() {
  for (const table of document.querySelectorAll(".scroll table")) {
    const heads = [...table.querySelectorAll("thead th")].map((head) => head.textContent);
    const rows = [...(table.tBodies[0]?.rows ?? [])].filter((row) => row.cells.length > 1);
    for (const row of rows) [...row.cells].forEach((cell, place) => { cell.dataset.label = heads[place] ?? ""; });
  }
}

function arrive() {
  label();
  keyFromAddress();
  const here = document.querySelector(".turn.here");
  if (here) here.scrollIntoView({ block: "center" });
  else if (document.getElementById("live")) window.scrollTo(0, document.body.scrollHeight);
}

let asked = ""; // Which end of the conversation is being loaded.
document.addEventListener("htmx:before:request", (event) => {
  if (event.target.matches?.(".more")) asked = event.target.dataset.end;
});
document.addEventListener("htmx:after:swap", () => {
  label();
  const turns = document.getElementById("turns");
  if (turns && asked) { trim(turns, asked); asked = ""; }
});

if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", arrive);
else arrive();
