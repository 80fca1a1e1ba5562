// workload.js - charts of one workload: resident over time, sizes, lifetimes, calls. Each where its data is.

function residentSection(workload) {
  const series = objectOf(workload.series);
  const times = listOf(series.time_ns);
  if (times.length < 2)
    return absent("Resident over time", "the workload is one window long, so there is no course to show; convert it in smaller windows:",
      "mallab convert --help");
  const lines = [{label: "live bytes", values: listOf(series.live_bytes), live: true}];
  listOf(workload.candidates).forEach((entry, at) => {
    const values = listOf(listOf(series.resident_bytes)[at]);
    if (values.some(isNumber) && !isNamed(entry.failed)) lines.push({label: String(entry.name), values, colour: at});
  });
  const hasTime = times[times.length - 1] > times[0];
  const x = hasTime ? times : times.map((_, at) => at);
  return section("Resident memory over recorded time", "Median of the rounds at each window's end, over what the program had asked for and not yet "
    + "freed. Drag to zoom, click a name to hide its line.",
    chart({title: "Resident memory over recorded time", x, series: lines, yText: bytesText,
      xText: hasTime ? timeText : (value) => `window ${Math.round(value) + 1}`, xLabel: hasTime ? "recorded time" : "window"}),
    series.windows > times.length ? element("p", {class: "explain"}, `${wholeText(series.windows)} windows, drawn by the least `
      + `and the greatest value of ${wholeText(times.length / 2)} equal parts.`) : null);
}

// series: [label, key] of the rows; as shares of their sums, so that requests and bytes have one axis.
function barChart(title, classes, bound, series, boundText, label) {
  const rows = listOf(classes).map(objectOf).filter((row) => isNumber(row[bound]) && series.every(([, key]) => isNumber(row[key])));
  if (rows.length === 0) return null;
  const shares = ([words, key]) => {
    const all = rows.reduce((sum, row) => sum + row[key], 0);
    return {label: words, values: rows.map((row) => (all > 0 ? 100 * row[key] / all : 0))};
  };
  return chart({title, x: rows.map((_, at) => at), series: series.map(shares), bars: true, yText: (value) => `${significant(value, 2)} %`,
    xLabel: label, xText: (at) => (Number.isInteger(at) && rows[at] ? `≤ ${boundText(rows[at][bound])}` : "")});
}

function profileSections(workload) {
  const profile = objectOf(workload.profile);
  if (isNamed(profile.unavailable))
    return [absent("Sizes, lifetimes and calls", profile.unavailable)];
  if (!profile.size_classes)
    return [absent("Sizes, lifetimes and calls", "this result was written without them; a new one has them:", "mallab ab -o RESULT.json WORKLOAD")];
  const sizes = barChart("Requests by size", profile.size_classes, "size_max_bytes", [["of the requests", "requests"], ["of the bytes", "bytes"]],
    powerText, "bytes, up to");
  const lives = barChart("Released objects by lifetime", profile.lifetimes, "lifetime_max_ns", [["of the objects", "objects"]], timeText, "lifetime, up to");
  return [
    section("What the program asks for", "Sizes as requested, by powers of two; lifetimes in recorded time. "
      + `${wholeText(profile.objects_live_at_end)} objects were never released and are in no lifetime.`,
      element("div", {class: "pair"}, sizes, lives || absent("Lifetimes", "the workload has no recorded times"))),
    callsSection(profile),
  ];
}

function callsSection(profile) {
  const calls = objectOf(profile.calls);
  const kinds = [["allocations", "allocations"], ["resizes", "resizes"], ["releases", "releases"]];
  const span = calls.over === "time" ? calls.span_ns : calls.span_ops;
  const steps = listOf(calls.allocations).length;
  if (steps < 2 || !isNumber(span)) return null;
  const x = listOf(calls.allocations).map((_, at) => (at + 0.5) * span / steps);
  const xText = calls.over === "time" ? timeText : countText;
  const xLabel = calls.over === "time" ? "recorded time" : "calls so far";
  const each = calls.over === "time" ? `calls in ${timeText(span / steps)}` : `calls of ${countText(span / steps)}`;
  const threads = listOf(calls.threads).map(objectOf).map((thread) => ({values: listOf(thread.calls),
    label: isNumber(thread.thread) ? `thread ${thread.thread}${thread.is_main ? " (main)" : ""}` : `${thread.threads} others`}));
  return section("Calls over recorded time", `Each point: ${each}.`,
    chart({title: "Calls by kind", x, xText, xLabel, yText: countText, series: kinds.map(([key, label]) => ({label, values: listOf(calls[key])}))}),
    threads.length > 1 ? chart({title: "Calls by thread, the busiest first", x, xText, xLabel, yText: countText, series: threads}) : null);
}
