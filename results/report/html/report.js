// report.js - begin: read the data, build the page, draw, and follow theme, width and printing.

const NOTE = "Time in allocator calls is not application speed; figures of different machines do not compare. Charts: uPlot, MIT licence (its text is in this file).";

// Returns the links to what it added.
function resultsPage(results, main) {
  const links = [];
  let number = 0;
  for (const result of results) {
    const place = element("section", {class: "result"});
    if (results.length > 1) place.append(element("h1", {class: "file"}, String(result.file)));
    result.workloads = listOf(result.workloads).map(objectOf);
    const tune = tuneSection(result);
    if (tune) place.append(tune, result.workloads.length > 0 ? element("p", {class: "explain above"}, "The confirmation, as a result of its own:") : "");
    for (const workload of result.workloads) {
      const id = `workload-${++number}`;
      place.append(workloadSection(result, workload, id));
      links.push(element("a", {href: `#${id}`}, isNamed(workload.name) ? workload.name : id));
    }
    if (result.confirmation && result.workloads.length !== 1) place.append(...verdictOf(result));
    place.append(...[tune ? null : fidelitySection(result), notesOf(result.notes), basisSection(result)].filter(Boolean));
    main.append(place);
  }
  return links;
}

function buildPage(data) {
  const main = document.getElementById("main"), contents = document.getElementById("contents");
  const history = data.history ? objectOf(data.history) : null, results = listOf(data.results).map(objectOf);
  const links = history ? historyPage(history, main) : resultsPage(results, main);
  if (links.length > 1) contents.append(...links);
  else contents.hidden = true;
  const named = history ? listOf(history.series).map((series) => objectOf(series).workload)
    : results.flatMap((result) => listOf(result.workloads).map((workload) => workload.name));
  const names = [...new Set(named.filter(isNamed))];
  document.title = `${names.slice(0, 3).join(", ")}${names.length > 3 ? " …" : ""} - mallab ${history ? "history" : "report"}`;
  document.getElementById("foot").append(`mallab ${data.mallab_version}. ${NOTE}`);
}

// Automatic follows the system; a choice lasts while the page is open: a file has no other place to keep it.
const THEMES = [["", "automatic"], ["light", "light"], ["dark", "dark"]];
function followTheme() {
  const button = document.getElementById("theme");
  let chosen = 0;
  button.addEventListener("click", () => {
    chosen = (chosen + 1) % THEMES.length;
    if (THEMES[chosen][0]) document.documentElement.dataset.theme = THEMES[chosen][0];
    else delete document.documentElement.dataset.theme;
    button.textContent = `Theme: ${THEMES[chosen][1]}`;
    redrawAll();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redrawAll);
}

function followWidth() {
  let waiting = 0;
  new ResizeObserver(() => {
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(() => charts.forEach((one) => one.resize()));
  }).observe(document.getElementById("main"));
}

function followPrinting() {
  const print = (now) => { isPrinting.now = now; document.documentElement.classList.toggle("printing", now); redrawAll(); };
  window.addEventListener("beforeprint", () => print(true));
  window.addEventListener("afterprint", () => print(false));
}

buildPage(JSON.parse(document.getElementById("data").textContent));
redrawAll();
followTheme();
followWidth();
followPrinting();
document.documentElement.dataset.ready = "yes";
