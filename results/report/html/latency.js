// latency.js - single calls: by percentile, over recorded time, by call.

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

// Mean time by call, the calls made most often first: of all candidates the same ones.
function callTable(workload) {
  const entries = listOf(workload.candidates).filter((entry) => listOf(objectOf(entry.latency).by_call).length > 0);
  if (entries.length === 0) return null;
  const groupsOf = (entry) => listOf(entry.latency.by_call).map(objectOf);
  const calls = groupsOf(entries[0]).filter((group) => isNamed(group.call)).sort((one, other) => other.count - one.count).slice(0, 12);
  const figure = (entry, call, key) => timeText((groupsOf(entry).find((group) => group.call === call) || {})[key]);
  const net = objectOf(entries[0].latency).floor_subtracted === true ? ", less the harness' own" : "";
  return [element("p", {class: "explain above"}, `By call: mean${net}, and in brackets what 99.9 % of calls do not exceed.`),
    plainTable("Latency by call", ["Call", "calls", ...entries.map((entry) => String(entry.name))], calls.map((group) =>
      [group.call, wholeText(group.count), ...entries.map((entry) => `${figure(entry, group.call, "typical_ns")} (${figure(entry, group.call, "p99_9_ns")})`)]))];
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
    + "first pass.", lines, maps.length > 0 ? element("label", {class: "choose"}, "Heat map of ", select) : null, pictures, callTable(workload));
}
