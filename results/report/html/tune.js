// tune.js - a search for settings: what is worth having, with its intervals, and what to paste.

const pasteOf = (row) => [isNamed(row.library) ? `LD_PRELOAD=${shellWord(row.library)}` : null, isNamed(row.paste) ? row.paste : null].filter(isNamed).join(" ");

function pointWords(name, time, memory, memoryName) {
  const part = (figures) => `${percentText(figures.ratio)}${isNumber(figures.ratio_low) && isNumber(figures.ratio_high)
    ? ` (${percentText(figures.ratio_low)} to ${percentText(figures.ratio_high)})` : ""}${isNamed(figures.verdict) ? `, ${figures.verdict}` : ""}`;
  return `${name} · time ${part(time)} · ${memoryName} ${part(memory)}`;
}

// Points by groups on common axes: change of time to the right, of memory upwards. The default stands where both are as they were.
function scatter(title, words, points, groups, settings) {
  const shown = points.filter((point) => point.time.ratio > 0 && point.memory.ratio > 0).sort((one, other) => one.time.ratio - other.time.ratio);
  if (shown.length === 0) return null;
  const series = groups.map((group, at) => {
    const of = (read) => shown.map((point) => (point.group === group.key ? read(point) : null));
    return {label: group.label, colour: group.colour ?? at, isLive: group.isLive, isLineless: true, values: of((point) => point.memory.ratio),
      lows: of((point) => point.memory.ratio_low), highs: of((point) => point.memory.ratio_high),
      xLows: of((point) => point.time.ratio_low), xHighs: of((point) => point.time.ratio_high),
      tags: settings.hasTags ? of((point) => String(point.number)) : undefined};
  }).filter((one) => one.values.some(isNumber));
  return chart({title, yLabel: words, x: shown.map((point) => point.time.ratio), xKind: "ratio", yKind: "ratio", isPoints: true, series,
    reach: ratioReach(shown.flatMap(({time}) => [time.ratio, time.ratio_low, time.ratio_high])), yText: percentText, xText: percentText, xLabel: "change of time",
    told: (at) => settings.told(shown[at]), under: (place) => drawFront(place, shown.filter((point) => point.isFront))});
}

// The steps below which nothing was found.
function drawFront(place, front) {
  const best = []; // of the front, by time, those that also take less memory than all before
  for (const point of front) if (best.length === 0 || point.memory.ratio < best[best.length - 1].memory.ratio) best.push(point);
  const steps = best.map((point, at) => `${at > 0 ? "H" : "M"}${place.x.at(point.time.ratio)}${at > 0 ? "V" : ` ${place.top}V`}${place.y.at(point.memory.ratio)}`).join("");
  return steps === "" ? [] : [drawn("path", {class: "front-line", d: `${steps}H${place.right}`})];
}

function tuneRows(tune) {
  const groupOf = (row, isFront) => (row.is_default === true ? "default" : isFront ? "front" : "beaten");
  const rows = [["front", true], ["beaten", false]].flatMap(([key, isFront]) => listOf(tune[key]).map(objectOf).map((row) => ({row, isFront,
    group: groupOf(row, isFront), name: String(row.name), time: {...objectOf(row.time)}, memory: {...objectOf(row.memory)}})));
  for (const one of rows.filter(({group}) => group === "default"))
    [one.time.ratio, one.memory.ratio, one.time.verdict, one.memory.verdict] = [1, 1, null, null];
  rows.sort((one, other) => (other.group === "default") - (one.group === "default") || one.time.ratio - other.time.ratio);
  rows.forEach((one, at) => { one.number = at + 1; });
  return rows;
}

function tuneTable(result, rows, memoryName) {
  const tune = result.tune, confirmed = listOf(objectOf(listOf(result.workloads)[0]).candidates).map(objectOf);
  // What is shown of a time is what is judged: the confirmation's steady time.
  const timeOf = (one) => objectOf(objectOf(confirmed.find(({name}) => name === one.name)).time).steady_ns_per_op ?? one.time.typical_ns_per_op;
  const front = () => element("span", {class: "front", title: "Not shown to be beaten: better in time or memory, or the default"}, "on the front");
  const [unit, bytes] = oneUnit(rows.map((one) => one.memory.bytes), BYTE_UNITS);
  const heads = ["Settings", "Time change", `Change of ${memoryName}`, "ns a call", `${memoryName}, ${unit}`];
  return element("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": "Settings compared"}, element("table", {class: "decide"},
    element("caption", {class: "unseen"}, "Settings compared"),
    element("thead", {}, element("tr", {}, heads.map((head) => element("th", {scope: "col"}, head)))),
    element("tbody", {}, rows.map((one) => element("tr", {}, element("th", {scope: "row"},
        element("span", {class: "small"}, `${one.number}. `), element("span", {class: "name"}, one.name),
        one.isFront && tune.confirmed === true ? front() : null),
      ["time", "memory"].map((part) => element("td", {class: "changes"}, changeCell(one[part], "", one.group === "default"))),
      element("td", {class: "figure"}, significant(timeOf(one))),
      element("td", {class: "figure"}, bytes(one.memory.bytes)))))));
}

// Each in a box of its own, to be taken with one click.
function tunePaste(rows, confirmed) {
  if (!confirmed) return null; // what did best in noise is nothing to set
  const told = rows.filter((one) => one.isFront && one.row.is_bounded === true && pasteOf(one.row) !== "");
  if (told.length === 0) return null;
  return section("To paste", "Before the program's command, or into its service's environment.",
    told.map((one) => element("p", {}, `${one.number}. ${one.name}`, element("code", {class: "command whole", tabindex: "0"}, pasteOf(one.row)))));
}

const STATES = [["finalist", "in the final"], ["dominated", "beaten in both"], ["outranked", "outranked"],
  ["simplified", "no better than with fewer settings"]];

const STATE_WORDS = new Map([...STATES, ["failed", "failed"]]);

function tuneTried(tune, memoryName) {
  const points = listOf(tune.points).map(objectOf).map((point) => ({name: String(point.name), group: String(point.state),
    time: {ratio: point.time_ratio}, memory: {ratio: point.memory_ratio}, point}));
  const rows = points.filter(({point}) => point.state !== "untried").map(({name, point}) => [wrapping(name),
    [wrapping(STATE_WORDS.get(point.state) ?? point.state), isNamed(point.failed) ? element("span", {class: "small below-it words"}, point.failed) : null],
    percentText(point.time_ratio), percentText(point.memory_ratio)]);
  if (rows.length === 0) return null;
  const table = plainTable("Everything tried", ["Settings", "What became of it", "Time", memoryName[0].toUpperCase() + memoryName.slice(1)], rows);
  table.classList.add("tall");
  return section("Everything that was tried", "Few runs each, against the default's run beside them: a search's estimates, without verdict.",
    element("div", {class: "pair"}, scatter("Time and memory in the search", null, points,
      STATES.map(([key, label], at) => ({key, label, colour: at})),
      {told: (point) => `${pointWords(point.name, point.time, point.memory, memoryName)} · ${point.group}`}), table));
}

// Of a result of `mallab tune`; the confirmation below it is an ordinary result.
function tuneSection(result) {
  const tune = objectOf(result.tune), confirmed = tune.confirmed === true;
  if (!Array.isArray(tune.front)) return null;
  const rows = tuneRows(tune), memoryName = `${isNamed(tune.memory) ? tune.memory : "peak"} resident`;
  const groups = [{key: "default", label: `${tune.default}, the default`, isLive: true},
    {key: "front", label: confirmed ? "on the front" : "not confirmed", colour: 0}, {key: "beaten", label: "not on the front", colour: 1}];
  const searched = objectOf(tune.workload), title = isNamed(searched.program) ? searched.program : searched.name ?? "this workload";
  const chartWords = confirmed ? "Of fresh rounds, with 95 % intervals. Left is faster, down is less; the dashed steps are the front, numbers are the table's."
    : "Not confirmed: estimates of the search with their error, no verdicts. Left is faster, down is less; numbers are the table's.";
  return element("article", {class: "workload tune"}, element("h2", {}, `Settings for ${title}`),
    isNamed(tune.advice_words) ? element("p", {class: "advice"}, element("strong", {}, "Advice. "), tune.advice_words) : null,
    scatter(`Time and ${memoryName} against ${tune.default}`, chartWords, rows, groups, {hasTags: true,
      told: (one) => `${one.number}. ${pointWords(one.name, one.time, one.memory, memoryName)}${confirmed && one.row.is_bounded === true && pasteOf(one.row) ? ` · ${pasteOf(one.row)}` : ""}`}),
    element("div", {class: "below"}, tuneTable(result, rows, memoryName)),
    [tune.tried_words, tune.basis_words].filter(isNamed).map((words) => element("p", {class: "noise-line"}, words)),
    tunePaste(rows, confirmed), tuneTried(tune, memoryName));
}
