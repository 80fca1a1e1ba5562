// report.js - begin: draw the charts that the page has places for, sort and search its tables, follow printing.

// The number that a cell begins with, to sort by, words behind all numbers.
const numberOf = (cell) => Number.parseFloat(cell.textContent.replace(/^[(\s]+/, "").replaceAll(",", ""));

function sortTable(table, column) {
  const head = table.querySelectorAll(".heads th")[column], body = table.tBodies[0], falling = head.getAttribute("aria-sort") === "ascending";
  table.querySelectorAll("[aria-sort]").forEach((one) => one.removeAttribute("aria-sort"));
  head.setAttribute("aria-sort", falling ? "descending" : "ascending");
  const sign = falling ? -1 : 1;
  const rows = [...body.rows].map((row, at) => ({row, at, words: row.cells[column].textContent, number: numberOf(row.cells[column])}));
  const isWords = rows.every(({number}) => Number.isNaN(number));
  rows.sort((one, other) => (isWords ? sign * one.words.localeCompare(other.words, "en")
    : Number.isNaN(one.number) - Number.isNaN(other.number) || sign * ((one.number || 0) - (other.number || 0))) || one.at - other.at);
  body.append(...rows.map(({row}) => row));
  say(`${head.textContent}: ${falling ? "▼" : "▲"}`);
}

const SEARCHED = 20; // rows from which on a table can be searched

function followTable(table) {
  const rows = [...table.tBodies[0].rows];
  if (rows.length < 2) return;
  table.querySelectorAll(".heads th").forEach((head, at) => {
    const words = head.textContent;
    if (words) head.replaceChildren(element("button", {type: "button", on: {click: () => sortTable(table, at)}}, words, element("span", {class: "arrow", "aria-hidden": "true"})));
  });
  if (rows.length < SEARCHED) return;
  const caption = table.caption.textContent;
  const search = (event) => rows.forEach((row) => { row.hidden = !row.textContent.toLowerCase().includes(event.target.value.trim().toLowerCase()); });
  table.parentElement.before(element("input", {type: "search", class: "find", placeholder: "find", "aria-label": caption, on: {input: search}}));
  table.parentElement.classList.add("tall");
}

// Paper has a width of its own; on it stands what is open.
function followPrinting() {
  for (const [kind, now] of [["beforeprint", true], ["afterprint", false]])
    window.addEventListener(kind, () => { onPaper = now; sheets.forEach((_, holder) => redraw(holder)); });
}

const CHARTS = JSON.parse(document.getElementById("data").textContent);
document.querySelectorAll("[data-chart]").forEach((place) => place.replaceWith(...[drawnOf(CHARTS[place.dataset.chart])].flat().filter(Boolean)));
document.querySelectorAll("table.figures").forEach(followTable);
sheets.forEach((_, holder) => redraw(holder));
followPrinting();
document.documentElement.dataset.ready = "yes";
