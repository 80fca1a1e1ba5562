// table.js - the candidates of a workload, to be decided by: sortable, verdicts by word and sign as well as by colour.

const VERDICTS = {
  faster: ["good", "▼"], less: ["good", "▼"], slower: ["bad", "▲"], more: ["bad", "▲"],
  same: ["even", "="], undecided: ["open", "?"],
};

// Part by which a shown difference has to differ from 1 to be called good or bad: RES_COLOUR_LEAST of results/measure/statistics/statistics.h.
const COLOUR_LEAST = 0.01;

// As res_verdict_shown of results/report/grid/cells.h: "same" is said where the range leaves out 5 % and more.
const shownWord = (word, low, high) =>
  (word === "undecided" || (word === "same" && !(low >= 0.95 && high <= 1.05)) ? "not shown" : word);

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
    isKnown ? verdictMark(shownWord(figures[`${prefix}verdict`], low, high), middle) : element("span", {class: "verdict open"}, "not predicted"),
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

// Without it a figure on the recorded clock is what the replay had, which the program would not.
const isPredicted = (entry) => !(objectOf(entry.resident).clock === "recorded" && objectOf(entry.resident).predicted === false);

const valueAt = (entry, key) => key.split(".").reduce((object, part) => objectOf(object)[part], entry);

// How a figure of a row of the result's fields (results/measure/result/result_fields.c) is written.
const WRITTEN = {
  ns: (value) => [significant(value)],
  bytes: (value) => [significant(value)],
  factor: (value) => [`${value.toFixed(2)}×`],
  number: (value) => [countText(value)],
  spread: (value, deviation) =>
    [significant(value), element("span", {class: "small"}, isNumber(deviation) ? ` ±${significant(deviation, 2)}` : "")],
};

function figureColumn({key, title, unit, as, divisor, hint}) {
  const read = (entry) => valueAt(entry, key);
  const show = (entry) => (isNumber(read(entry)) && WRITTEN[as]
    ? WRITTEN[as](read(entry) / divisor, valueAt(entry, `${key}_deviation`)) : [DASH]);
  return {title, unit, read, show, hint: String(hint).replaceAll("`", ""), isFigure: true};
}

function columnsOf(workload) {
  const entries = listOf(workload.candidates);
  const time = (entry) => objectOf(entry.time), resident = (entry) => objectOf(entry.resident);
  const timeScale = scaleOf(workload, "time", ""), timeNoise = noiseOf(workload, "time", "");
  const peakScale = scaleOf(workload, "resident", "peak_"), peakNoise = noiseOf(workload, "resident", "peak_");
  const change = {unit: "95 % range", hint: "To the baseline; the grey band is the noise", isFigure: false};
  // The decision first: where there is little width, it is what is seen without scrolling.
  const changes = [
    {...change, title: "Time change", read: (e) => time(e).ratio,
      show: (e) => (isNamed(e.failed) ? [failedMark(e)] : changeCell(time(e), "", timeScale, timeNoise, e === entries[0]))},
    {...change, title: "Peak change", read: (e) => resident(e).peak_ratio,
      show: (e) => changeCell(resident(e), "peak_", peakScale, peakNoise, e === entries[0], isPredicted(e))},
  ];
  return [...changes, ...listOf(workload.columns).map(figureColumn)]
    .filter((column) => column.title === "Time change" || entries.some((entry) => isNumber(column.read(entry))));
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
