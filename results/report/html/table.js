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
  return element("span", {class: `verdict ${kind}`}, element("span", {"aria-hidden": "true"}, `${sign} `), element("span", {class: "word"}, word));
}

// By NULL, a crash or the kernel, which is what a memory limit is set for.
const DEADLY = new Set(["null", "limit", "crash", "oom"]);
const failedWord = (entry) => (DEADLY.has(objectOf(entry.failure).cause) ? "died" : "failed");

// Its words stand below the table, where there is room for them.
function failedMark(entry) {
  return element("span", {class: "verdict bad"}, element("span", {"aria-hidden": "true"}, "✗ "), failedWord(entry));
}

function changeCell(figures, prefix, isBaseline, isKnown = true) {
  if (isBaseline) return [element("span", {class: "verdict base"}, "baseline")];
  const low = figures[`${prefix}ratio_low`], middle = figures[`${prefix}ratio`], high = figures[`${prefix}ratio_high`];
  if (!isNumber(middle)) return [DASH];
  return [
    element("span", {class: "change"}, percentText(middle)), " ",
    isKnown ? verdictMark(shownWord(figures[`${prefix}verdict`], low, high), middle) : element("span", {class: "verdict open"}, "not predicted"),
    element("span", {class: "small"}, isNumber(low) && isNumber(high) && low < high ? `${percentText(low)} to ${percentText(high)}` : ""),
  ];
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
  const change = {unit: "95 % range", hint: "To the baseline", isFigure: false};
  // The decision first: where there is little width, it is what is seen without scrolling.
  const changes = [
    {...change, title: "Time change", read: (e) => time(e).ratio,
      show: (e) => (isNamed(e.failed) ? [failedMark(e)] : changeCell(time(e), "", e === entries[0]))},
    {...change, title: "Peak change", read: (e) => resident(e).peak_ratio,
      show: (e) => changeCell(resident(e), "peak_", e === entries[0], isPredicted(e))},
  ];
  return [...changes, ...listOf(workload.columns).map(figureColumn)]
    .filter((column) => column.title === "Time change" || entries.some((entry) => isNumber(column.read(entry))));
}

function nameCell(entry) {
  return element("th", {scope: "row"}, element("span", {class: "name"}, isNamed(entry.name) ? entry.name : DASH),
    isNamed(entry.version) ? element("span", {class: "small"}, ` ${entry.version}`) : null);
}

function candidateTable(workload) {
  const entries = listOf(workload.candidates).map(objectOf);
  workload.candidates = entries;
  const columns = columnsOf(workload);
  const body = element("tbody", {});
  const rows = entries.map((entry, at) => ({entry, at, row: element("tr", {}, nameCell(entry),
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
  return [element("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": "Candidates"},
    element("table", {class: "decide"}, element("caption", {class: "unseen"}, "Candidates; the heads sort"),
      element("thead", {}, line), body))];
}

// ---- several workloads: a row each, what they come to on top.

function meanOf(ratios) {
  const known = ratios.filter((ratio) => ratio > 0);
  return {ratio: known.length > 0 ? Math.exp(known.reduce((sum, ratio) => sum + Math.log(ratio), 0) / known.length) : NaN, count: known.length};
}

// links: of the workloads, in their order. part, prefix: where the ratio stands in a candidate.
function matrixTable(title, workloads, links, part, prefix) {
  const names = [...new Set(workloads.flatMap((workload) => listOf(workload.candidates).map((entry) => String(objectOf(entry).name))))];
  const entryOf = (workload, name) => listOf(workload.candidates).map(objectOf).find((entry) => entry.name === name);
  const isBaseline = (workload, name) => objectOf(listOf(workload.candidates)[0]).name === name;
  const compared = names.filter((name) => !workloads.every((workload) => isBaseline(workload, name)));
  const figures = (workload, name) => objectOf(objectOf(entryOf(workload, name))[part]);
  const cell = (workload, name) => {
    const entry = entryOf(workload, name), ratio = figures(workload, name)[`${prefix}ratio`];
    if (!entry || isBaseline(workload, name)) return element("td", {}, entry ? element("span", {class: "verdict base"}, "baseline") : DASH);
    if (isNamed(entry.failed)) return element("td", {}, failedMark(entry));
    const word = shownWord(figures(workload, name)[`${prefix}verdict`], figures(workload, name)[`${prefix}ratio_low`], figures(workload, name)[`${prefix}ratio_high`]);
    return element("td", {}, isNumber(ratio) ? [percentText(ratio), " ", verdictMark(word, ratio)] : DASH);
  };
  const mean = (name) => {
    const {ratio, count} = meanOf(workloads.map((workload) => figures(workload, name)[`${prefix}ratio`]));
    return element("td", {}, element("strong", {}, percentText(ratio)), count < workloads.length && count > 0 ? element("span", {class: "small"}, ` of ${count}`) : null);
  };
  const row = (head, cells, kind) => element("tr", {class: kind}, element("th", {scope: "row"}, head), cells);
  return element("div", {}, element("h3", {}, title), element("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": title}, element("table", {class: "matrix"},
    element("caption", {class: "unseen"}, title), element("thead", {}, element("tr", {}, element("th", {scope: "col"}, "Workload"), compared.map((name) => element("th", {scope: "col"}, name)))),
    element("tbody", {}, row("Geometric mean", compared.map(mean), "mean"), workloads.map((workload, at) => row(links[at], compared.map((name) => cell(workload, name))))))));
}

function matrixSection(workloads, links) {
  const baseline = new Set(workloads.map((workload) => String(objectOf(listOf(workload.candidates)[0]).name)));
  return element("section", {class: "part"}, element("h2", {}, `${workloads.length} workloads against ${baseline.size === 1 ? [...baseline][0] : "their baselines"}`),
    element("div", {class: "pair"}, matrixTable("Time in malloc", workloads, links.map((link) => link()), "time", ""), matrixTable("Peak memory", workloads, links.map((link) => link()), "resident", "peak_")));
}
