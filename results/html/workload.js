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
    if (values.some(isNumber)) lines.push({label: String(entry.name), values, colour: at});
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

function barChart(title, classes, bound, count, boundText, label, extra) {
  const rows = listOf(classes).map(objectOf).filter((row) => isNumber(row[bound]) && isNumber(row[count]));
  if (rows.length === 0) return null;
  const x = rows.map((_, at) => at);
  const series = [{label: count, values: rows.map((row) => row[count])}];
  return chart({title, x, series, bars: true, yText: countText, xLabel: label,
    xText: (at) => (Number.isInteger(at) && rows[at] ? `≤ ${boundText(rows[at][bound])}` : ""), ...extra});
}

function profileSections(workload) {
  const profile = objectOf(workload.profile);
  if (isNamed(profile.unavailable))
    return [absent("Sizes, lifetimes and calls", profile.unavailable)];
  if (!profile.size_classes)
    return [absent("Sizes, lifetimes and calls", "this result was written without them; a new one has them:", "mallab ab -o RESULT.json WORKLOAD")];
  const sizes = barChart("Requests by size, bytes", profile.size_classes, "size_max_bytes", "requests", powerText, "bytes, up to");
  const lives = barChart("Released objects by lifetime", profile.lifetimes, "lifetime_max_ns", "objects", timeText, "lifetime, up to");
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

// ---- latency ---------------------------------------------------------------------------------

// Percentiles on an axis of nines: 90, 99, 99.9 ... at equal steps, so that the slow few have room.
function latencyChart(workload) {
  const lines = [];
  listOf(workload.candidates).forEach((entry, colour) => {
    const histogram = objectOf(objectOf(entry.latency).histogram);
    const lows = listOf(histogram.low_ns), highs = listOf(histogram.high_ns), counts = listOf(histogram.count);
    const all = counts.reduce((sum, count) => sum + (isNumber(count) ? count : 0), 0);
    if (all > 0) lines.push({entry, colour, lows, highs, counts, all});
  });
  if (lines.length === 0) return null;
  const most = Math.max(...lines.map((line) => line.all));
  const nines = Math.max(2, Math.min(8, Math.log10(most)));
  const x = Array.from({length: 241}, (_, at) => 10 ** (nines * at / 240)); // 1 over the share of slower calls
  const series = lines.map((line) => {
    let bucket = 0, before = 0;
    return {label: String(line.entry.name), colour: line.colour, values: x.map((slower) => {
      const rank = line.all * (1 - 1 / slower);
      while (bucket < line.counts.length - 1 && before + (line.counts[bucket] || 0) <= rank) before += line.counts[bucket++] || 0;
      const middle = (line.lows[bucket] + line.highs[bucket]) / 2;
      return isNumber(middle) ? Math.max(middle, 1) : null;
    })};
  });
  const share = (slower) => `${Number((100 * (1 - 1 / slower)).toPrecision(Math.max(2, Math.ceil(Math.log10(slower)) + 2)))} %`;
  return chart({title: "Latency of single calls by percentile", x, xLog: true, yLog: true, series, yText: timeText,
    xText: (value) => share(value), xLabel: "share of calls that are not slower"});
}

function mapsOf(workload) {
  return listOf(workload.candidates).map((entry) => [entry, objectOf(objectOf(entry.latency).map)])
    .filter(([, map]) => listOf(map.cells).length > 0 && listOf(map.row_low_ns).length > 0 && map.steps > 0 && map.steps <= 2000);
}

function paintMap(entry, map) {
  const rows = map.row_low_ns.length, span = map.over === "ops" ? map.span_ops : map.span_ns;
  const text = map.over === "ops" ? countText : timeText;
  const cells = map.cells.filter((cell) => Array.isArray(cell) && cell.every(isNumber));
  const most = cells.reduce((found, cell) => Math.max(found, cell[2]), 1);
  const top = cells.reduce((found, cell) => Math.max(found, cell[1]), 0), bottom = cells.reduce((found, cell) => Math.min(found, cell[1]), rows);
  return painted(`${entry.name}: calls by latency over recorded time`, (pen, width, height) => {
    const left = 66, below = 24, columns = (width - left - 6) / map.steps, lines = (height - below - 6) / (top - bottom + 1);
    pen.font = "12px system-ui, sans-serif";
    pen.fillStyle = colourOf("--map-ground");
    pen.fillRect(left, 6, width - left - 6, height - below - 6);
    for (const [step, row, count] of cells) {
      pen.fillStyle = colourOf("--map-cell");
      pen.globalAlpha = 0.12 + 0.88 * Math.log1p(count) / Math.log1p(most);
      pen.fillRect(left + step * columns, 6 + (top - row) * lines, Math.ceil(columns), Math.ceil(lines));
    }
    pen.globalAlpha = 1;
    pen.fillStyle = colourOf("--faint-text");
    pen.textAlign = "right";
    const every = Math.max(1, Math.ceil(22 / lines));
    for (let row = bottom; row <= top; row += every) pen.fillText(timeText(map.row_low_ns[row]), left - 6, 6 + (top - row + 1) * lines);
    for (let at = 0; at <= 4; at++) {
      pen.textAlign = at === 0 ? "left" : at === 4 ? "right" : "center";
      pen.fillText(text(isNumber(span) ? span * at / 4 : null), left + at * (width - left - 6) / 4, height - 6);
    }
  }, `${entry.name}: darker where more calls took so long; the same figures are in the JSON, latency.runs[].map`);
}

function latencySection(workload) {
  const failed = listOf(workload.candidates).filter((entry) => isNamed(objectOf(entry.latency).unavailable));
  const lines = latencyChart(workload), maps = mapsOf(workload);
  if (!lines && maps.length === 0)
    return absent("Latency of single calls", failed.length > 0 ? objectOf(failed[0].latency).unavailable : "not measured; to have it:",
      failed.length > 0 ? null : "mallab ab --latency");
  const select = element("select", {}, maps.map(([entry], at) => element("option", {value: at}, String(entry.name))));
  const pictures = maps.map(([entry, map]) => paintMap(entry, map));
  const choose = () => {
    pictures.forEach((picture, at) => { picture.hidden = String(at) !== select.value; });
    charts.forEach((one) => one.resize());
  };
  select.addEventListener("change", choose);
  pictures.forEach((picture, at) => { picture.hidden = at > 0; });
  return section("Latency of single calls", "Passes of their own, each call timed by itself; not in it: first touches of new memory by the program. Of the "
    + "first pass.", lines, maps.length > 0 ? element("label", {class: "choose"}, "Heat map of ", select) : null, pictures);
}

// ---- waste -----------------------------------------------------------------------------------

const WASTE = [["live_bytes", "live"], ["rounding_bytes", "rounding"], ["metadata_bytes", "books"], ["cached_bytes", "cached"],
  ["rest_bytes", "rest"]];

function wasteSection(workload) {
  const rows = [];
  for (const entry of listOf(workload.candidates))
    for (const [key, words] of [["peak", "at the live peak"], ["end", "at the end"]]) {
      const waste = objectOf(objectOf(entry.waste)[key]);
      if (isNumber(waste.resident_bytes)) rows.push({entry, words, waste});
    }
  if (rows.length === 0)
    return absent("Where memory goes", "this result does not split what is resident; a new one does, as far as the allocators tell:", "mallab ab -o RESULT.json WORKLOAD");
  const widest = Math.max(1, ...rows.map(({waste}) => Math.max(waste.resident_bytes,
    WASTE.reduce((sum, [key]) => sum + Math.max(0, waste[key] || 0), 0))));
  const bar = (waste) => {
    let at = 0;
    const made = drawn("svg", {class: "stack", viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true"});
    WASTE.forEach(([key], part) => {
      const width = 100 * Math.max(0, isNumber(waste[key]) ? waste[key] : 0) / widest;
      made.append(drawn("rect", {class: `waste${part}`, x: at, y: 0, height: 10, width}));
      at += width;
    });
    return made;
  };
  return section("Where memory goes", "What is resident, split as far as the allocator tells: live bytes, rounding up to what it hands out, its own books, free memory "
    + "that it keeps, and the rest, which may be negative. A dash: not told.",
    plainTable("Waste", ["Candidate", "", ...WASTE.map(([, words], part) =>
      element("span", {}, element("span", {class: `key waste${part}`, "aria-hidden": "true"}), words)), "resident", "split"],
    rows.map(({entry, words, waste}) => [String(entry.name), words, ...WASTE.map(([key]) => bytesText(waste[key])),
      bytesText(waste.resident_bytes), bar(waste)])));
}
