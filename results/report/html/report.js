// report.js - begin: read the data, build the page, follow theme and printing.

const NOTE = "Time in allocator calls is not application speed; figures of different machines do not compare.";

// Each workload's own name; of those that share one the file's beside it, and a number where that is the same, too.
function namesOf(results) {
  const seen = new Map();
  const count = (words) => seen.set(words, (seen.get(words) ?? 0) + 1).get(words);
  const plain = results.flatMap((result) => result.workloads.map((workload) => [isNamed(workload.name) ? workload.name : "workload", String(result.file)]));
  const isShared = (name) => plain.filter(([other]) => other === name).length > 1;
  return plain.map(([name, file]) => (isShared(name) && results.length > 1 ? `${name}, ${file}` : name)).map((words) => (count(words) > 1 ? `${words} (${seen.get(words)})` : words));
}

const linkTo = (id, words) => element("a", {href: `#${id}`, on: {click: () => { document.getElementById(id).open = true; }}}, words);

function resultsPage(results, main) {
  for (const result of results) result.workloads = listOf(result.workloads).map(objectOf);
  const names = namesOf(results), isAlone = names.length === 1, all = results.flatMap((result) => result.workloads);
  const fleets = results.filter((result) => result.fleet);
  for (const {fleet, workloads} of fleets)
    main.append(fleetSection(objectOf(fleet), (host) => {
      const at = workloads.findIndex((workload) => workload.file_digest === host.file_digest && workload.name === host.workload);
      return at < 0 ? null : linkTo(`workload-${all.indexOf(workloads[at]) + 1}`, String(host.label));
    }));
  if (!isAlone && all.length > 0 && !(results.length === 1 && fleets.length === 1)) main.append(matrixSection(all, names.map((name, at) => () => linkTo(`workload-${at + 1}`, name))));
  let number = 0;
  for (const result of results) {
    const place = element("section", {class: "result"});
    if (result.fleet && result.workloads.length === 0) continue;
    if (results.length > 1) place.append(element("h1", {class: "file"}, String(result.file)));
    for (const workload of result.workloads) {
      place.append(workloadSection(result, workload, {id: `workload-${number + 1}`, name: names[number], isAlone}));
      number++;
    }
    if (result.confirm_table) place.append(...confirmHead(result.confirm_table));
    if (result.confirmation && result.workloads.length !== 1) place.append(...verdictOf(result));
    if (result.confirm_table) place.append(plainTable("The program itself", result.confirm_table.heads, result.confirm_table.rows));
    place.append(...[notesOf(result.notes), basisSection(result)].filter(Boolean));
    main.append(place);
  }
}

function buildPage(data) {
  const main = document.getElementById("main"), contents = document.getElementById("contents");
  const history = data.history ? objectOf(data.history) : null, results = listOf(data.results).map(objectOf);
  const links = history ? historyPage(history, main) : [];
  if (!history) resultsPage(results, main);
  if (links.length > 1) contents.append(...links);
  else contents.hidden = true;
  const named = history ? listOf(history.series).map((series) => objectOf(series).workload)
    : results.flatMap((result) => [...listOf(result.workloads).map((workload) => workload.name), objectOf(result.confirm_table).ran, result.fleet && result.workloads.length === 0 ? `fleet of ${wholeText(result.fleet.workloads)}` : null]);
  const names = [...new Set(named.filter(isNamed))];
  document.title = `${names.slice(0, 3).join(", ")}${names.length > 3 ? " …" : ""} - mallab ${history ? "history" : "report"}`;
  document.getElementById("foot").append(`mallab ${data.mallab_version}. ${NOTE}`);
}

// Paper has a width of its own; on it stands what is open.
function followPrinting() {
  for (const [kind, now] of [["beforeprint", true], ["afterprint", false]])
    window.addEventListener(kind, () => { paper.now = now; sheets.forEach((_, holder) => redraw(holder)); });
}

buildPage(JSON.parse(document.getElementById("data").textContent));
sheets.forEach((_, holder) => redraw(holder));
followTheme();
followPrinting();
document.documentElement.dataset.ready = "yes";
