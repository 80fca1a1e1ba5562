// fleet.js - many workloads at once: what they say together on top, and a matrix of hosts beside candidates, to be sorted and filtered.

// Rows that are drawn at once: a thousand hosts are sorted and filtered as data, and only so many of them are elements.
const ROWS_DRAWN = 200;

const rangeText = (low, high) => (isNumber(low) && isNumber(high) ? `${percentText(low)} to ${percentText(high)}` : "");

function totalCell(total, unit, text) {
  const {ratio, ratio_low: low, ratio_high: high} = objectOf(total), saved = objectOf(total)[`saved_${unit}`];
  return isNumber(ratio) ? [percentText(ratio), element("span", {class: "small below-it"}, rangeText(low, high)),
    element("span", {class: "small below-it"}, isNumber(saved) ? `${text(Math.abs(saved))} ${saved < 0 ? "more" : "less"}` : "")] : DASH;
}

function losersCell(candidate) {
  const losers = listOf(candidate.losers), failed = listOf(candidate.failed);
  return [losers.length > 0 ? element("span", {class: "verdict bad"}, `▲ ${losers.length} proven`) : "none proven",
    element("span", {class: "small below-it"}, isNumber(candidate.losers_share) ? `some ${significant(100 * candidate.losers_share, 2)} % in all` : ""),
    failed.length > 0 ? element("span", {class: "verdict bad"}, `✗ failed on ${wholeText(failed.length)}`) : null];
}

// The common line: a row for each candidate.
function commonTable(fleet) {
  const rows = listOf(fleet.candidates).map(objectOf).slice(1).map((candidate) => {
    const {ratio, ratio_low: low, ratio_high: high} = candidate, known = isNumber(low) && isNumber(high);
    return [element("strong", {}, String(candidate.name)),
      isNumber(ratio) ? [element("span", {class: "change"}, percentText(ratio)), " ",
        known ? verdictMark(shownWord(candidate.verdict, low, high), ratio) : element("span", {class: "verdict open"}, "spread not known"),
        element("span", {class: "small below-it"}, rangeText(low, high))] : DASH,
      rangeText(candidate.new_host_low, candidate.new_host_high) || DASH,
      [["▼", candidate.faster, "faster"], ["▲", candidate.slower, "slower"], ["=", candidate.same, "same"], ["?", candidate.undecided, "not told apart"]].map(([sign, count, words]) =>
        element("span", {class: "below-it", title: words}, `${sign} ${wholeText(count)}`)),
      totalCell(candidate.cpu, "ns", timeText), totalCell(candidate.peaks, "bytes", bytesText),
      isNumber(candidate.p99_bound_bytes) ? `at most ${bytesText(candidate.p99_bound_bytes)}` : `largest ${bytesText(candidate.largest_bytes)}`, losersCell(candidate)];
  });
  return plainTable("All workloads together", ["Candidate", "Time, 95 % range", "A new host", "Hosts ▼ ▲ = ?", "CPU time in all", "Sum of peaks", "99 of 100 hosts", "Losers"], rows);
}

function fleetFacts(fleet) {
  const fact = (words, value) => element("div", {}, element("dt", {}, words), element("dd", {}, value));
  const machines = listOf(fleet.machines).map(String);
  return element("dl", {class: "facts"}, fact("Workloads", wholeText(fleet.workloads)), fact("as good as, of equal share", significant(fleet.n_eff)),
    fact("Shares by", String(fleet.weights)), fact("Figures of the", objectOf(fleet.of).time === "malloc" ? "time in malloc" : "process"),
    fact("Hosts", fleet.all_hosts === true ? "all that there are" : "a sample"), machines.length > 0 ? fact("Machines", machines.join("; ")) : null);
}

// ---- the matrix.

const FLEET_METRICS = {time: ["Time", "faster", "slower"], peak: ["Peak memory", "less", "more"]};
const SHOWN_ROWS = [["all hosts", () => true], ["where a candidate is worse", (entry, [, , worse], figures) => figures.verdict === worse],
  ["where a candidate is better", (entry, [, better], figures) => figures.verdict === better],
  ["where one is not told apart", (entry, words, figures) => figures.verdict === "undecided"], ["where one failed", (entry) => isNamed(entry.failed)]];

function hostCell(entry, figures, isCommon) {
  if (isNamed(entry.failed)) return element("td", {title: entry.failed}, failedMark(entry));
  if (!isNumber(figures.ratio)) return element("td", {}, DASH);
  const word = shownWord(figures.verdict, figures.ratio_low, figures.ratio_high);
  return element("td", {title: rangeText(figures.ratio_low, figures.ratio_high)}, percentText(figures.ratio), " ",
    isCommon ? verdictMark(word, figures.ratio) : element("span", {class: "verdict open"}, "not counted"));
}

// linkOf(host): what its name is on the page; NULL: words.
function fleetMatrix(fleet, linkOf) {
  const names = listOf(fleet.candidates).map((candidate) => String(objectOf(candidate).name));
  const hosts = listOf(fleet.hosts).map(objectOf).map((host) => ({host, entries: listOf(host.entries).map(objectOf),
    words: [host.label, host.workload, host.program, host.machine].filter(isNamed).join(" ").toLowerCase()}));
  const state = {metric: "time", rows: 0, text: "", column: 2, falling: true, limit: ROWS_DRAWN};
  const figuresOf = (one, at) => objectOf(objectOf(one.entries[at])[state.metric]);
  const columns = [["Host", (one) => String(one.host.label)], ["Share", (one) => one.host.share],
    ...names.slice(1).map((name, at) => [name, (one) => (isNamed(objectOf(one.entries[at + 1]).failed) ? Infinity : figuresOf(one, at + 1).ratio)])];
  const body = element("tbody", {}), told = element("p", {class: "small", role: "status"}), more = element("button", {type: "button", class: "quiet"}, "");
  const compare = (one, other) => {
    const [left, right] = [one, other].map(columns[state.column][1]), sign = state.falling ? -1 : 1;
    if (typeof left === "string") return sign * left.localeCompare(right, "en");
    const lacks = [left, right].map((value) => typeof value !== "number" || Number.isNaN(value));
    return lacks[0] || lacks[1] ? lacks[0] - lacks[1] : left === right ? 0 : sign * (left < right ? -1 : 1);
  };
  const rowOf = (one) => {
    const isCommon = !isNamed(objectOf(one.host.trust)[state.metric === "time" ? "time" : "memory"]);
    return element("tr", {}, element("th", {scope: "row"}, linkOf(one.host) ?? String(one.host.label), element("span", {class: "small below-it"}, [one.host.workload, one.host.program].filter(isNamed).join(", "))),
      element("td", {}, `${significant(100 * one.host.share, 2)} %`), names.slice(1).map((_, at) => hostCell(objectOf(one.entries[at + 1]), figuresOf(one, at + 1), isCommon)));
  };
  const show = () => {
    const [, fits] = SHOWN_ROWS[state.rows], words = FLEET_METRICS[state.metric];
    const found = hosts.filter((one) => one.words.includes(state.text) && (state.rows === 0 || one.entries.slice(1).some((entry) => fits(entry, words, objectOf(entry[state.metric]))))).sort(compare);
    body.replaceChildren(...found.slice(0, state.limit).map(rowOf));
    told.textContent = `${wholeText(Math.min(found.length, state.limit))} of ${wholeText(found.length)} that fit, ${wholeText(hosts.length)} in all`;
    more.hidden = found.length <= state.limit;
    more.textContent = `Show all ${wholeText(found.length)}`;
    heads.forEach((head, at) => (at === state.column ? head.setAttribute("aria-sort", state.falling ? "descending" : "ascending") : head.removeAttribute("aria-sort")));
  };
  const change = (what) => { Object.assign(state, {limit: ROWS_DRAWN}, what); show(); };
  const sort = (column) => { change({column, falling: state.column === column ? !state.falling : column > 0}); say(`Sorted by ${columns[column][0]}, ${state.falling ? "falling" : "rising"}`); };
  const heads = columns.map(([title], at) => element("th", {scope: "col"}, element("button", {type: "button", on: {click: () => sort(at)}}, title, element("span", {class: "arrow", "aria-hidden": "true"}))));
  const chosen = (label, key, options) => element("label", {}, `${label} `, element("select", {on: {change: (event) => change({[key]: key === "rows" ? Number(event.target.value) : event.target.value})}},
    options.map(([value, words]) => element("option", {value}, words))));
  more.addEventListener("click", () => { state.limit = Infinity; show(); });
  show();
  return section("Every host", `Against ${names[0]}; each verdict is corrected for the number of hosts. A host's range stands where you point.`,
    element("div", {class: "filters"}, chosen("Show", "metric", Object.entries(FLEET_METRICS).map(([key, [words]]) => [key, words])),
      chosen("Rows", "rows", SHOWN_ROWS.map(([words], at) => [at, words])),
      element("label", {}, "Find ", element("input", {type: "search", placeholder: "host, workload, program, machine", on: {input: (event) => change({text: event.target.value.trim().toLowerCase()})}}))),
    told, element("div", {class: "scroll tall", tabindex: "0", role: "region", "aria-label": "Every host"}, element("table", {class: "decide matrix"}, element("caption", {class: "unseen"}, "Hosts and candidates; the heads sort"),
      element("thead", {}, element("tr", {}, heads)), body)), more);
}

function fleetSection(fleet, linkOf) {
  return element("section", {class: "fleet"}, element("h2", {}, `${wholeText(fleet.workloads)} workloads together, against ${fleet.baseline}`), fleetFacts(fleet), verdictOf(fleet),
    commonTable(fleet), notesOf(fleet.notes),
    listOf(fleet.candidates).length > 1 && listOf(fleet.hosts).length > 0 ? fleetMatrix(fleet, linkOf) : null);
}
