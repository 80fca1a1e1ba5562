// table.js - the candidates of a workload, to be decided by: sortable, verdicts by word and sign as well as by colour.

const VERDICTS = {
  faster: ["good", "▼"], less: ["good", "▼"], slower: ["bad", "▲"], more: ["bad", "▲"],
  same: ["even", "="], undecided: ["open", "?"],
};

// Part by which a shown difference has to differ from 1 to be called good or bad: RES_COLOUR_LEAST of results/measure/statistics/statistics.h.
const COLOUR_LEAST = 0.01;

function verdictMark(word, ratio) {
  if (!isNamed(word)) return null;
  const [judged, sign] = VERDICTS[word] || ["open", "?"];
  const kind = judged !== "open" && isNumber(ratio) && Math.abs(ratio - 1) < COLOUR_LEAST ? "even" : judged;
  return element("span", {class: `verdict ${kind}`}, element("span", {"aria-hidden": "true"}, `${sign} `), word);
}

// The change beside the baseline as a bar on a common scale: its interval, its middle, and the noise behind it.
function intervalBar(low, middle, high, scale, noise) {
  const at = (ratio) => 50 + 48 * Math.max(-1, Math.min(1, (ratio - 1) / scale));
  const bar = drawn("svg", {class: "interval", viewBox: "0 0 100 12", preserveAspectRatio: "none", "aria-hidden": "true"});
  if (noise) bar.append(drawn("rect", {class: "noise", x: at(noise[0]), y: 0, height: 12,
    width: Math.max(0.5, at(noise[1]) - at(noise[0]))}));
  bar.append(drawn("line", {class: "zero", x1: 50, x2: 50, y1: 0, y2: 12}));
  if ([low, middle, high].every(isNumber)) {
    bar.append(drawn("rect", {class: "range", x: at(low), y: 4, height: 4, width: Math.max(0.8, at(high) - at(low))}));
    bar.append(drawn("rect", {class: "middle", x: at(middle) - 0.7, y: 1, height: 10, width: 1.4}));
  }
  return bar;
}

// By NULL, a crash or the kernel, which is what a memory limit is set for.
const DEADLY = new Set(["null", "limit", "crash", "oom"]);
const failedWord = (entry) => (DEADLY.has(objectOf(entry.failure).cause) ? "died" : "failed");

// Its words stand below the table, where there is room for them.
function failedMark(entry) {
  return element("span", {class: "verdict bad"}, element("span", {"aria-hidden": "true"}, "✗ "), failedWord(entry));
}

function changeCell(figures, prefix, scale, noise, isBaseline, isKnown = true) {
  if (isBaseline) return [element("span", {class: "verdict base"}, "baseline"), intervalBar(1, 1, 1, scale, noise)];
  const low = figures[`${prefix}ratio_low`], middle = figures[`${prefix}ratio`], high = figures[`${prefix}ratio_high`];
  if (!isNumber(middle)) return [DASH];
  return [
    element("span", {class: "change"}, percentText(middle)), " ",
    isKnown ? verdictMark(figures[`${prefix}verdict`], middle) : element("span", {class: "verdict open"}, "not predicted"),
    intervalBar(low, middle, high, scale, noise),
    element("span", {class: "small"}, isNumber(low) && isNumber(high) ? `${percentText(low)} to ${percentText(high)}` : ""),
  ];
}

function scaleOf(workload, part, prefix) {
  let scale = 0.05;
  for (const entry of listOf(workload.candidates))
    for (const end of ["ratio_low", "ratio_high"]) {
      const ratio = objectOf(entry[part])[prefix + end];
      if (isNumber(ratio)) scale = Math.max(scale, Math.abs(ratio - 1));
    }
  return Math.min(scale, 1);
}

// What the control says of chance, in both directions: no smaller change counts.
function noiseOf(workload, part, prefix) {
  const figures = objectOf(objectOf(workload.control)[part]);
  const low = figures[`${prefix}ratio_low`], high = figures[`${prefix}ratio_high`];
  if (!isNumber(low) || !isNumber(high) || low <= 0 || high <= 0) return null;
  return [Math.min(low, 1 / high), Math.max(high, 1 / low)];
}

// What results/measure/figures/pareto.h calls unbeaten, where at least two were compared.
function unbeatenOf(entries) {
  const compared = entries.filter((entry) => Array.isArray(entry.beaten_by));
  return new Set(compared.length > 1 ? compared.filter((entry) => entry.beaten_by.length === 0) : []);
}

// One unit for a column, in its head: sizes side by side then compare at a glance.
function memoryUnit(entries) {
  const largest = Math.max(1, ...entries.map((entry) => objectOf(entry.resident).peak_bytes).filter(isNumber));
  return largest < 1e6 ? [1e3, "kB"] : largest < 1e10 ? [1e6, "MB"] : [1e9, "GB"];
}

// Without it a figure on the recorded clock is what the replay had, which the program would not.
const isPredicted = (entry) => !(objectOf(entry.resident).clock === "recorded" && objectOf(entry.resident).predicted === false);

function columnsOf(workload) {
  const entries = listOf(workload.candidates);
  const has = (read) => entries.some((entry) => isNumber(read(entry)));
  const columns = [];
  const add = (title, unit, read, show, hint, isFigure = true) =>
    (has(read) || title === "Time change") && columns.push({title, unit, read, show: show || ((entry) => [significant(read(entry))]), hint, isFigure});
  const time = (entry) => objectOf(entry.time), resident = (entry) => objectOf(entry.resident);
  const timeScale = scaleOf(workload, "time", ""), timeNoise = noiseOf(workload, "time", "");
  const peakScale = scaleOf(workload, "resident", "peak_"), peakNoise = noiseOf(workload, "resident", "peak_");
  const [unitBytes, unitName] = memoryUnit(entries);
  const bytes = (read) => (entry) => [isNumber(read(entry)) ? significant(read(entry) / unitBytes) : DASH];
  // The decision first: where there is little width, it is what is seen without scrolling.
  add("Time change", "95 % range", (e) => time(e).ratio,
    (e) => (isNamed(e.failed) ? [failedMark(e)] : changeCell(time(e), "", timeScale, timeNoise, e === entries[0])), "To the baseline; the grey band is the noise", false);
  add("Peak change", "95 % range", (e) => resident(e).peak_ratio,
    (e) => changeCell(resident(e), "peak_", peakScale, peakNoise, e === entries[0], isPredicted(e)), "To the baseline; the grey band is the noise", false);
  add("Time", "ns a call", (e) => time(e).typical_ns_per_op, (e) => [significant(time(e).typical_ns_per_op),
    element("span", {class: "small"}, isNumber(time(e).typical_ns_per_op_deviation)
      ? ` ±${significant(time(e).typical_ns_per_op_deviation, 2)}` : "")], "Median of the rounds, with its deviation");
  add("Quiet", "ns a call", (e) => time(e).quiet_ns_per_op, null, "The fastest of the rounds, piece by piece");
  add("p99", "ns", (e) => objectOf(e.latency).p99_ns, (e) => [timeText(objectOf(e.latency).p99_ns)], "99 of 100 calls are faster");
  add("p99.9", "ns", (e) => objectOf(e.latency).p99_9_ns, (e) => [timeText(objectOf(e.latency).p99_9_ns)],
    "999 of 1,000 calls are faster");
  add("Peak", unitName, (e) => resident(e).peak_bytes, bytes((e) => resident(e).peak_bytes), "Resident. The highest of the replay");
  add("Mean", unitName, (e) => resident(e).mean_bytes, bytes((e) => resident(e).mean_bytes), "Resident. Over recorded time");
  add("End", unitName, (e) => resident(e).end_bytes, bytes((e) => resident(e).end_bytes), "Resident. After the last call");
  add("Idle", unitName, (e) => resident(e).idle_bytes, bytes((e) => resident(e).idle_bytes), "Resident. After a rest");
  add("Peak over live", "", (e) => e.blow_up, (e) => [isNumber(e.blow_up) ? `${e.blow_up.toFixed(2)}×` : DASH],
    "Peak resident over the most bytes that were live at a time");
  add("Faults", "minor", (e) => e.faults_minor, (e) => [countText(e.faults_minor)], "Median page faults of a run");
  return columns;
}

const UNBEATEN = "No other candidate is shown to be better in time or peak memory and surely at most 5 % worse in the other";

function nameCell(entry, isBest) {
  return element("th", {scope: "row"}, element("span", {class: "name"}, isNamed(entry.name) ? entry.name : DASH),
    isNamed(entry.version) ? element("span", {class: "small"}, ` ${entry.version}`) : null,
    isBest ? element("span", {class: "front", title: UNBEATEN}, "unbeaten") : null);
}

function candidateTable(workload) {
  const entries = listOf(workload.candidates).map(objectOf);
  workload.candidates = entries;
  const columns = columnsOf(workload), front = unbeatenOf(entries);
  const body = element("tbody", {});
  const rows = entries.map((entry, at) => ({entry, at, row: element("tr", {}, nameCell(entry, front.has(entry)),
    columns.map((column) => element("td", {class: column.isFigure ? "figure" : "changes"}, column.show(entry))))}));
  const heads = [];
  const order = (chosen) => {
    const falling = heads[chosen].getAttribute("aria-sort") === "ascending";
    heads.forEach((head) => head.removeAttribute("aria-sort"));
    heads[chosen].setAttribute("aria-sort", falling ? "descending" : "ascending");
    const read = chosen === 0 ? (entry) => String(entry.name) : columns[chosen - 1].read;
    const sign = falling ? -1 : 1;
    rows.sort((one, other) => {
      const left = read(one.entry), right = read(other.entry);
      if (chosen === 0) return sign * left.localeCompare(right, "en");
      if (!isNumber(left) || !isNumber(right)) return isNumber(right) - isNumber(left) || one.at - other.at;
      return sign * (left - right) || one.at - other.at;
    });
    body.append(...rows.map((row) => row.row));
    say(`Sorted by ${heads[chosen].dataset.title}, ${falling ? "falling" : "rising"}`);
  };
  const head = (title, unit, hint, at) => {
    const made = element("th", {scope: "col", "data-title": title}, element("button", {type: "button", title: hint || title,
      on: {click: () => order(at)}}, title, element("span", {class: "arrow", "aria-hidden": "true"})),
      unit ? element("span", {class: "small"}, unit) : null);
    heads.push(made);
    return made;
  };
  const line = element("tr", {}, head("Candidate", "version", "By name", 0),
    columns.map((column, at) => head(column.title, column.unit, column.hint, at + 1)));
  body.append(...rows.map((row) => row.row));
  const mark = front.size > 0 ? element("p", {class: "small"}, element("span", {class: "front"}, "unbeaten"), ` ${UNBEATEN}.`) : null;
  return [element("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": "Candidates"},
    element("table", {class: "decide"}, element("caption", {class: "unseen"}, "Candidates; the heads sort"),
      element("thead", {}, line), body)), mark];
}
