// parts.js - the parts of a workload's article below its table. Each where its data is.

// ---- charts of one workload: resident over time, sizes, lifetimes, calls. Each where its data is.

function residentSection(workload) {
  const series = objectOf(workload.series);
  const times = listOf(series.time_ns);
  if (times.length < 2)
    return absent("Resident over time", "the workload is one window long, so there is no course to show; convert it in smaller windows:",
      "mallab convert --help");
  const lines = [{label: "live bytes", values: listOf(series.live_bytes), isLive: true}];
  listOf(workload.candidates).forEach((entry, at) => {
    const values = listOf(listOf(series.resident_bytes)[at]);
    if (values.some(isNumber) && !isNamed(entry.failed)) lines.push({label: String(entry.name), values, colour: at});
  });
  const hasTime = times[times.length - 1] > times[0];
  const x = hasTime ? times : times.map((_, at) => at);
  return section("Resident memory over recorded time", "Median of the rounds, with what is held from the start, over what the program had asked for and not yet freed. Drag to zoom, click a name to hide its line.",
    chart({title: "Resident memory over recorded time", caption: false, x, series: lines, yText: bytesText,
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
  return chart({title, x: rows.map((_, at) => at), series: series.map(shares), isBars: true, yText: (value) => `${significant(value, 2)} %`,
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

const OF_ONE = "it is of one process, and a group was replayed; --process PID chooses one";

// ---- single calls: by percentile, over recorded time, by call.

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
  return chart({title: "Latency of single calls by percentile", x, xKind: "nines", yKind: "log", series, yText: timeText,
    xText: (value) => share(value), xLabel: "share of calls that are not slower"});
}

function mapsOf(workload) {
  return listOf(workload.candidates).map((entry) => [entry, objectOf(objectOf(entry.latency).map)])
    .filter(([, map]) => listOf(map.cells).length > 0 && listOf(map.row_low_ns).length > 0 && map.steps > 0 && map.steps <= 2000);
}

const SHADES = 6; // of a heat map: equal steps of the logarithm of the count

function drawMap(map, width) {
  const span = map.over === "ops" ? map.span_ops : map.span_ns, text = map.over === "ops" ? countText : timeText;
  const cells = map.cells.filter((cell) => Array.isArray(cell) && cell.every(isNumber) && cell[2] > 0), rows = cells.map((cell) => cell[1]);
  const most = cells.reduce((found, cell) => Math.max(found, cell[2]), 1), top = rows.reduce((one, other) => Math.max(one, other), 0), bottom = rows.reduce((one, other) => Math.min(one, other), top);
  const height = Math.min(300, Math.max(180, Math.round(width * 0.36))), key = height + 22;
  const place = {left: 66, right: width - 12, top: 8, bottom: height - 24, isRatio: false};
  place.x = scaleOf("linear", [0, isNumber(span) && span > 0 ? span : 1], place.left, place.right, width / 90, text);
  const wide = (place.right - place.left) / map.steps, tall = (place.bottom - place.top) / (top - bottom + 1), words = Array.from({length: SHADES}, () => "");
  for (const [step, row, count] of cells)
    words[Math.min(SHADES - 1, Math.floor(SHADES * Math.log(count) / Math.log(most + 1)))] += `M${(place.left + step * wide).toFixed(1)} ${(place.top + (top - row) * tall).toFixed(1)}h${wide.toFixed(2)}v${tall.toFixed(2)}h${(-wide).toFixed(2)}z`;
  const every = Math.max(1, Math.ceil(22 / tall)), shade = Math.min(52, (width - 100) / SHADES);
  const named = evenWhole(bottom, top).filter((row) => (row - bottom) % every === 0 && isNumber(map.row_low_ns[row]));
  const keyWords = (part) => wholeText(Math.ceil((most + 1) ** (part / SHADES)));
  return drawn("svg", {class: "drawing", viewBox: `0 0 ${width} ${key + 18}`}, drawn("rect", {class: "map", x: place.left, y: place.top, width: place.right - place.left, height: place.bottom - place.top}),
    ...words.map((d, at) => drawn("path", {class: `shade s${at}`, d})), ...axes(place),
    ...named.map((row) => label("tick end", place.left - 8, place.top + (top - row + 1) * tall, timeText(map.row_low_ns[row]))),
    label("tick", 4, key + 4, "calls"), ...words.map((_, at) => drawn("rect", {class: `shade s${at}`, x: 66 + at * shade, y: key - 6, width: shade, height: 8})),
    ...words.map((_, at) => label("tick", 66 + at * shade, key + 14, at === 0 ? "1" : keyWords(at))));
}

// Mean time by call, the calls made most often first: of all candidates the same ones.
function callTable(workload) {
  const entries = listOf(workload.candidates).filter((entry) => listOf(objectOf(entry.latency).by_call).length > 0);
  if (entries.length === 0) return null;
  const groupsOf = (entry) => listOf(entry.latency.by_call).map(objectOf);
  const calls = groupsOf(entries[0]).filter((group) => isNamed(group.call)).sort((one, other) => other.count - one.count).slice(0, 12);
  const figure = (entry, call, key) => significant((groupsOf(entry).find((group) => group.call === call) || {})[key]);
  const net = objectOf(entries[0].latency).floor_subtracted === true ? ", less the harness' own" : "";
  return [element("p", {class: "explain above"}, `By call, in ns: mean${net}, and in brackets what 99.9 % of calls do not exceed.`),
    plainTable("Latency by call", ["Call", "calls", ...entries.map((entry) => String(entry.name))], calls.map((group) =>
      [group.call, wholeText(group.count), ...entries.map((entry) => `${figure(entry, group.call, "typical_ns")} (${figure(entry, group.call, "p99_9_ns")})`)]))];
}

function latencySection(workload) {
  const failed = listOf(workload.candidates).filter((entry) => isNamed(objectOf(entry.latency).unavailable));
  const lines = latencyChart(workload), maps = mapsOf(workload);
  if (!lines && maps.length === 0)
    return absent("Latency of single calls", failed.length > 0 ? objectOf(failed[0].latency).unavailable : workload.group_processes > 1 ? OF_ONE : "not measured; to have it:",
      failed.length > 0 || workload.group_processes > 1 ? null : "mallab ab --latency");
  const picture = sheet(element("div", {class: "plot", role: "img"}), (width) => drawMap(maps[Number(select.value)][1], width));
  const select = element("select", {on: {change: () => {
    picture.setAttribute("aria-label", `${maps[Number(select.value)][0].name}: calls by latency over recorded time; darker where more calls took so long`);
    sheets.get(picture).draw(sheets.get(picture).width);
  }}}, maps.map(([entry], at) => element("option", {value: at}, String(entry.name))));
  return section("Latency of single calls", "Passes of their own, each call timed by itself; not in it: first touches of new memory by the program. Of the "
    + "first pass.", lines, maps.length > 0 ? element("figure", {class: "chart"}, element("figcaption", {}, element("label", {}, "Calls by latency over recorded time: ", select)), picture) : null, callTable(workload));
}

// ---- what is resident beyond the live bytes, and what it takes from the kernel.

const WASTE = [["live_bytes", "live"], ["rounding_bytes", "rounding"], ["metadata_bytes", "books"], ["cached_bytes", "cached"],
  ["rest_bytes", "rest"], ["start_bytes", "from the start"]];

function wasteSection(workload) {
  const rows = [];
  for (const entry of listOf(workload.candidates).filter((one) => !isNamed(one.failed)))
    for (const [key, words] of [["peak", "near the live peak"], ["end", "at the end"]]) {
      const waste = {...objectOf(objectOf(entry.waste)[key])};
      // Results of former versions: free memory below 0 was no figure, nor what it made of the rest.
      for (const part of ["cached_bytes", "metadata_bytes"])
        if (waste[part] < 0) [waste.rest_bytes, waste[part]] = [waste.rest_bytes + waste[part], null];
      const start = objectOf(entry.resident).own_start_bytes;
      if (isNumber(start)) [waste.start_bytes, waste.resident_bytes] = [start, waste.resident_bytes + start];
      if (isNumber(waste.resident_bytes)) rows.push({entry, words, waste});
    }
  if (rows.length === 0 && workload.group_processes > 1)
    return absent("Where memory goes", OF_ONE);
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
    // Where parts reach beyond it, some of them are not resident: rest is negative.
    const end = Math.min(99.4, 100 * Math.max(0, waste.resident_bytes) / widest);
    made.append(drawn("rect", {class: "mark", x: end, y: 0, height: 10, width: 0.6}));
    return made;
  };
  const [unit, text] = oneUnit(rows.map(({waste}) => waste.resident_bytes), BYTE_UNITS);
  return section("Where memory goes", `In ${unit}, as far as the allocator tells. Near the live peak: the highest among the moments at which all threads rest. The mark on a bar is what is resident: `
    + "where the parts reach beyond it they are not all in memory, and there is no rest.",
    plainTable("Waste", ["Candidate", "", ...WASTE.map(([, words], part) =>
      element("span", {}, element("span", {class: `key waste${part}`, "aria-hidden": "true"}), words)), "resident", "split"],
    rows.map(({entry, words, waste}) => [String(entry.name), words, ...WASTE.map(([key]) => (key === "rest_bytes" && waste[key] < 0 ? DASH : text(waste[key]))),
      text(waste.resident_bytes), bar(waste)])));
}

// Calls to the kernel between the first op and the last, the kinds that any candidate made.
function kernelSection(workload) {
  const rows = listOf(workload.candidates).filter((entry) => !isNamed(entry.failed) && isNumber(objectOf(entry.system_calls).total));
  if (rows.length === 0) return null;
  const kinds = [...new Set(rows.flatMap((entry) => Object.keys(entry.system_calls)))]
    .filter((kind) => kind !== "total" && rows.some((entry) => entry.system_calls[kind] > 0));
  return section("What it takes from the kernel", "System calls of the allocator in one run, by kind; page faults of a timed run, the median.",
    plainTable("System calls", ["Candidate", "system calls", ...kinds, "page faults"], rows.map((entry) => [String(entry.name),
      wholeText(entry.system_calls.total), ...kinds.map((kind) => wholeText(entry.system_calls[kind])), wholeText(entry.faults_minor)])));
}
