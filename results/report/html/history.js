// history.js - results of many days: how each candidate moved, and what changed meanwhile. The document is mallab-history/1.

// To the minute; to the second where two results of a series share a minute, or they would look alike.
let dateLength = 16;
const dateText = (unixNs) => (unixNs > 0 ? new Date(unixNs / 1e6).toISOString().replace("T", " ").slice(0, dateLength) : DASH);

function dateLengthOf(history) {
  const hasTwins = listOf(history.series).map(objectOf).some((series) => {
    const results = resultsOf(candidatesOf(series));
    return new Set(results.map((result) => Math.floor(result.x / 60))).size < results.length;
  });
  return hasTwins ? 19 : 16;
}

// One result may hold points of several candidates: they share a place on the axis.
function resultsOf(candidates) {
  const results = new Map();
  candidates.forEach((candidate, at) => candidate.points.forEach((point) => {
    const key = `${point.created_unix_ns} ${point.file}`;
    if (!results.has(key)) results.set(key, {x: point.created_unix_ns / 1e9, file: String(point.file), shared: point, points: []});
    results.get(key).points[at] = point;
  }));
  return [...results.values()].filter((result) => isNumber(result.x)).sort((one, other) => one.x - other.x || (one.file < other.file ? -1 : 1));
}

// What was measured, as the terminal has it: the label, else the commit, shortened as git does.
function measuredOf(point) {
  if (isNamed(point.label) || !isNamed(point.commit)) return isNamed(point.label) ? point.label : "";
  const [digits, ...marks] = point.commit.split("-");
  return [digits.slice(0, 9), ...marks].join("-");
}

// A label that is the address of a page, that of a build for one, leads there.
const measuredLink = (point) => (/^https?:\/\/[^\s]+$/.test(measuredOf(point)) ? element("a", {href: measuredOf(point), rel: "noopener noreferrer"}, measuredOf(point)) : measuredOf(point));
const measuredHint = (point) => [point.label, point.commit].filter(isNamed).join(", ");

const limitText = (point) => (isNumber(point.limit_bytes) ? `${bytesText(point.limit_bytes)}${point.limit_by ? ` by ${point.limit_by}` : ""}` : "none");
const CHANGES = {
  version: (candidate, before, now) => `${candidate.name} ${before.version} → ${now.version}`,
  settings: (candidate, before, now) => `${candidate.name}'s settings: ${before.settings || "none"} → ${now.settings || "none"}`,
  build: (candidate, before, now) => (isNamed(now.other_build) ? now.other_build : `${candidate.name}: another build`),
  baseline: (candidate, before, now, series) => (before.baseline_version === now.baseline_version ? `${series.baseline}: another build`
    : `${series.baseline} ${before.baseline_version} → ${now.baseline_version}`),
  mallab: (candidate, before, now) => `mallab ${before.mallab_version} → ${now.mallab_version}`,
  machine: (candidate, before, now) => `machine ${before.machine_text} → ${now.machine_text}`,
  touch: (candidate, before, now) => `--touch ${before.touch} → ${now.touch}`,
  threads: (candidate, before, now) => (now.one_thread ? "--one-thread: all calls on one thread" : "no longer --one-thread"),
  limit: (candidate, before, now) => `limit ${limitText(before)} → ${limitText(now)}`,
};

// Of each result in which something is other than before: what, in words, each said once.
function changesOf(series, candidates, results) {
  const words = new Map();
  candidates.forEach((candidate) => candidate.points.forEach((point, at) => {
    for (const kind of at > 0 ? listOf(point.changed) : []) {
      const told = Object.hasOwn(CHANGES, kind) ? CHANGES[kind](candidate, candidate.points[at - 1], point, series) : String(kind);
      const key = `${point.created_unix_ns} ${point.file}`;
      if (!words.has(key)) words.set(key, new Set());
      words.get(key).add(told);
    }
  }));
  let number = 0;
  return results.flatMap((result, at) => {
    const told = words.get(`${result.shared.created_unix_ns} ${result.file}`);
    return told ? [{at, number: ++number, point: result.shared, words: [...told]}] : [];
  });
}

const rowLink = (point) => element("a", {href: `#${point.row}`}, dateText(point.created_unix_ns));

const MOVES = [["time_moved", "time_change", "in time"], ["peak_moved", "peak_change", "in peak memory"]];

function movesOf(candidates) {
  return candidates.flatMap((candidate) => candidate.points.flatMap((point) => MOVES.filter(([key]) => isNamed(point[key])).map(([key, change, words]) =>
    ({point, text: [element("strong", {}, candidate.name), " ", rowLink(point), ": ", verdictMark(point[key]),
      ` by ${percentText(point[change]).replace(/^[+−]/, "")} ${words}`,
      listOf(point.changed).length > 0 ? ` (changed: ${point.changed.join(", ")})` : ""]}))))
    .sort((one, other) => other.point.created_unix_ns - one.point.created_unix_ns);
}

function signOf(point, key) {
  const [kind, sign] = VERDICTS[point?.[key]] || [];
  return kind === "good" || kind === "bad" ? {kind, sign} : null;
}

// Numbered lines where something changed; numbers that would touch are left out, their lines are not.
function drawChanges(results, changes, place) {
  let free = -Infinity;
  return changes.flatMap((change) => {
    const x = place.x.at(results[change.at].x), words = String(change.number), half = words.length * 3.5 + 2;
    const number = x - half < free ? [] : [label("tick middle", x, place.top - 2, words)];
    if (number.length > 0) free = x + half;
    return [line("change-line", x, place.top + 2, x, place.bottom), ...number];
  });
}

// What the baseline's second run says of chance at each result, as a band behind the lines.
function drawNoise(results, place) {
  const known = results.filter(({shared}) => shared.control_ratio_low > 0 && shared.control_ratio_high > 0);
  const corner = (of) => ({x, shared}) => `${place.x.at(x)} ${place.y.at(of(shared.control_ratio_low, shared.control_ratio_high))}`;
  const edge = [...known.map(corner((low, high) => Math.min(low, 1 / high))), ...known.reverse().map(corner((low, high) => Math.max(high, 1 / low)))];
  return edge.length > 0 ? [drawn("path", {class: "noise", d: `M${edge.join("L")}Z`})] : [];
}

// Of all candidates in one place one figure. read(point) is it, low and high its interval.
function historyChart(drawing, title, settings) {
  const {series, candidates, results, changes} = drawing;
  const numberOr = (value) => (isNumber(value) ? value : null);
  const lines = candidates.map((candidate, colour) => ({candidate, colour})).filter(({candidate}) => settings.hasBaseline || !candidate.is_baseline)
    .map(({candidate, colour}) => {
      const points = results.map((result) => result.points[colour]);
      return {label: candidate.name, colour, points, values: points.map((point) => (point ? numberOr(settings.read(point)) : null)),
        lows: settings.low ? points.map((point) => (point ? numberOr(settings.low(point)) : null)) : undefined,
        highs: settings.high ? points.map((point) => (point ? numberOr(settings.high(point)) : null)) : undefined,
        signs: points.map((point) => signOf(point, settings.moved))};
    }).filter((line) => line.values.some(isNumber));
  if (lines.length === 0) return null;
  const x = results.map((result) => result.x), span = x[x.length - 1] - x[0];
  return chart({title, x, xKind: "date", yKind: settings.kind, isPoints: true, pad: span > 0 ? span * 0.03 : 43200, series: lines, yText: settings.text, xText: String,
    xLabel: `${[...new Set([x[0], x[x.length - 1]].map((seconds) => dateText(seconds * 1e9).slice(0, 10)))].join(" to ")} UTC`, yLabel: settings.words,
    told: (at, index) => {
      const line = lines[index], point = line.points[at], interval = settings.low && isNumber(line.lows[at]) && isNumber(line.highs[at])
        ? ` (${settings.text(line.lows[at])} to ${settings.text(line.highs[at])})` : "";
      return [`${line.label} ${point.version}: ${settings.text(line.values[at])}${interval}${isNamed(point[settings.moved]) ? `, moved: ${point[settings.moved]}` : ""}`,
        `${dateText(point.created_unix_ns)} UTC`, ...[measuredHint(point)].filter(isNamed), `mallab ${point.mallab_version}`, `${series.machine}: ${point.machine_text}`, point.file].join(" · ");
    },
    under: (place) => (settings.hasNoise ? drawNoise(results, place) : []), over: (place) => drawChanges(results, changes, place)});
}

// What belongs together stands in one cell: a row for each figure's own column would not fit any screen.
function historyTable({candidates, results}) {
  const below = (words) => element("span", {class: "small below-it"}, words);
  const range = ({ratio_low: low, ratio_high: high}) => (isNumber(low) && isNumber(high) ? `${percentText(low)} to ${percentText(high)}` : "");
  const mark = (point, key) => (isNamed(point[key]) ? [" ", verdictMark(point[key])] : []);
  const time = (candidate, point) => (point.failed === true ? [failedMark({})] : candidate.is_baseline ? DASH
    : [percentText(point.ratio), ...mark(point, "time_moved"), below(range(point))]);
  const peak = (candidate, point) => (candidate.is_baseline ? DASH : [percentText(point.resident_peak_ratio), ...mark(point, "peak_moved")]);
  const [unit, bytes] = oneUnit(results.flatMap((result) => result.points.map((point) => objectOf(point).resident_peak_bytes)), BYTE_UNITS);
  const rows = results.flatMap((result) => candidates.map((candidate, at) => ({result, candidate, point: result.points[at]}))).filter(({point}) => point)
    .reverse().map(({result, candidate, point}) => [[element("span", {id: point === result.points.findLast(Boolean) ? point.row : null}, dateText(point.created_unix_ns)),
      element("span", {class: "small below-it", title: measuredHint(point)}, measuredLink(point))], [element("strong", {}, candidate.name), below(String(point.version))],
      significant(point.steady_ns_per_op), time(candidate, point),
      [bytes(point.resident_peak_bytes), below(`${bytes(point.resident_mean_bytes)} mean`)], peak(candidate, point),
      wrapping(listOf(point.changed).map(String).join(", ")),
      [wrapping(point.file), below(`${wholeText(point.rounds)} rounds, mallab ${point.mallab_version}`)]]);
  const table = plainTable("Every result, the newest first", ["Date, UTC", "Candidate", "ns a call", "Time change", `Peak, ${unit}`, "Peak change", "Changed", "Result"], rows);
  table.classList.add("tall");
  return table;
}

const candidatesOf = (series) => listOf(series.candidates).map(objectOf).map((candidate) => ({name: String(candidate.name),
  is_baseline: candidate.is_baseline === true, points: listOf(candidate.points).map(objectOf)}));

function historySection(series, id) {
  const candidates = candidatesOf(series);
  const results = resultsOf(candidates);
  results.forEach((result, at) => result.points.forEach((point) => { point.row = `${id}-${at + 1}`; })); // where links to it lead
  const changes = changesOf(series, candidates, results), moves = movesOf(candidates);
  const drawing = {series, candidates, results, changes};
  const dates = results.map((result) => dateText(result.shared.created_unix_ns).slice(0, 10));
  const fact = (words, value) => element("div", {}, element("dt", {}, words), element("dd", {}, value));
  return element("article", {id, class: "workload", "aria-labelledby": `${id}-title`},
    element("h2", {id: `${id}-title`}, String(series.workload)),
    moves.length === 0 ? element("p", {class: "advice"}, element("strong", {}, "Nothing moved"),
      results.length > 1 ? " beyond the noise." : ": one result is no history yet.")
      : element("div", {class: "advice"}, element("strong", {}, "Moved beyond the noise"),
        element("ul", {class: "bars"}, moves.slice(0, 20).map((move) => element("li", {}, move.text))),
        moves.length > 20 ? element("p", {class: "small"}, `and ${moves.length - 20} more, in the table`) : null),
    element("dl", {class: "facts"}, fact("Machine", String(series.machine)), fact("Baseline", String(series.baseline)),
      fact("Results", wholeText(results.length)),
      fact("From", dates[0] === dates[dates.length - 1] ? dates[0] || DASH : `${dates[0]} to ${dates[dates.length - 1]}`),
      fact("Newest on", String(series.machine_text))),
    historyChart(drawing, `Time against ${series.baseline}`, {read: (point) => point.ratio, low: (point) => point.ratio_low,
      high: (point) => point.ratio_high, kind: "ratio", text: percentText, moved: "time_moved", hasNoise: true,
      words: "In allocator calls, within each result, with its 95 % interval. ▲ and ▼ moved; the grey band is the baseline against itself."}),
    changes.length > 0 ? element("div", {class: "changes-list"}, element("p", {class: "explain above"}, "Changed at the numbered lines:"),
      element("ol", {class: changes.length > 12 ? "tall" : ""},
        changes.map((change) => element("li", {value: change.number}, rowLink(change.point), isNamed(measuredOf(change.point)) ? `, ${measuredOf(change.point)}` : "", `: ${change.words.join("; ")}`)))) : null,
    historyChart(drawing, "Peak memory", {hasBaseline: true, text: bytesText, read: (point) => point.resident_peak_bytes, moved: "peak_moved"}),
    section("Every result", "The newest first. Times of different days do not compare; changes to the baseline of the same result do.", historyTable(drawing)));
}

// Returns the links to what it added.
function historyPage(history, main) {
  const place = element("section", {class: "result"});
  dateLength = dateLengthOf(history);
  const links = listOf(history.series).map(objectOf).map((series, at) => {
    const id = `series-${at + 1}`;
    place.append(historySection(series, id));
    return element("a", {href: `#${id}`}, `${series.workload}, ${series.machine}, against ${series.baseline}`);
  });
  const left = listOf(history.left_out).map(objectOf);
  if (left.length > 0)
    place.append(section("Left out", null, element("ul", {class: "warnings"}, left.map((one) => element("li", {}, `${one.file}: ${one.why}`)))));
  main.append(place);
  return links;
}
