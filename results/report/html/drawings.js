// drawings.js - the drawing of a chart's object (html.h): lines, days, percentiles, ranges, a heat map; and the begin: each in the place that the
// page has for it, again on paper.

const WRITTEN = {time: timeText, bytes: bytesText, ratio: percentText};

const LINES = {
  lines: (spec) => ({x: spec.x, xText: WRITTEN[spec.x_as], series: spec.series}),
  percentiles: percentiles,
  days: days,
};

// Percentiles on an axis of nines: 90, 99, 99.9 ... at equal steps, so that the slow few have room.
function percentiles(spec) {
  const sumOf = (counts) => listOf(counts).reduce((sum, count) => sum + (isNumber(count) ? count : 0), 0);
  const lines = spec.series.map((one) => ({...one, all: sumOf(one.values.count)})).filter((one) => one.all > 0);
  if (lines.length === 0) return null;
  const nines = Math.max(2, Math.min(8, Math.log10(Math.max(...lines.map((one) => one.all)))));
  const x = Array.from({length: 241}, (_, at) => 10 ** (nines * at / 240)); // 1 over the share of slower calls
  const series = lines.map(({label, colour, all, values}) => {
    const counts = listOf(values.count);
    let bucket = 0, before = 0;
    return {label, colour, values: x.map((slower) => {
      while (bucket < counts.length - 1 && before + (counts[bucket] || 0) <= all * (1 - 1 / slower)) before += counts[bucket++] || 0;
      const middle = (listOf(values.low_ns)[bucket] + listOf(values.high_ns)[bucket]) / 2;
      return isNumber(middle) ? Math.max(middle, 1) : null;
    })};
  });
  const share = (slower) => `${Number((100 * (1 - 1 / slower)).toPrecision(Math.max(2, Math.ceil(Math.log10(slower)) + 2)))} %`;
  return {x, xKind: "nines", yKind: "log", yText: timeText, xText: share, series};
}

// Lines with dates of their own share an axis.
function days(spec) {
  const x = [...new Set(spec.series.flatMap((one) => one.dates))].sort((one, other) => one - other), span = x[x.length - 1] - x[0];
  if (x.length === 0) return null;
  const series = spec.series.map(({label, colour, dates, values}) => ({label, colour, values: x.map((date) => values[dates.lastIndexOf(date)] ?? null)}));
  return {x, xKind: "date", yKind: spec.y_as === "ratio" ? "ratio" : "linear", isDotted: true, pad: span > 0 ? span * 0.03 : 43200,
    xText: (seconds) => new Date(seconds * 1000).toUTCString().slice(5, 22), series};
}

// ---- ranges: a row for each candidate, its change in the middle of its range.

const ROW = 44; // pixels

function rangeOf({name, words, ratio, low, high, colour, is_control: isControl}, place, top) {
  const {x, left, right} = place, y = top + 28, room = Math.max(8, Math.floor((right - left) / 9) - words.length);
  const range = isNumber(low) && isNumber(high) ? [drawn("rect", {class: "range", x: x.at(low), y: y - 3, width: Math.max(2, x.at(high) - x.at(low)), height: 6})] : [];
  const middle = isNumber(ratio) ? [drawn("rect", {class: "middle", x: x.at(ratio) - 1.5, y: y - 9, width: 3, height: 18})] : [];
  return drawn("g", {class: `row c${colour}${isControl ? " control" : ""}`}, line("grid", left, top, right, top), ...range, ...middle,
    drawn("text", {class: "name", x: left, y: top + 13}, name.length > room ? `${name.slice(0, room)}…` : name, drawn("tspan", {class: "open", dx: 8}, words)));
}

function drawRanges({rows, less, more}, width) {
  const top = 22, bottom = top + rows.length * ROW, place = {left: 12, right: width - 12, top, bottom, isRatio: true};
  place.x = scaleOf("ratio", ratioReach(rows.flatMap(({low, high, ratio}) => [low, high, ratio]), 0.1), place.left, place.right, width / 90);
  const one = place.x.at(1), sides = [[`← ${less}`, "end", -8, one - place.left], [`${more} →`, "start", 8, place.right - one]];
  return drawn("svg", {class: "drawing ranges", viewBox: `0 0 ${width} ${bottom + 24}`}, ...axes(place), line("axis", one, top, one, bottom),
    ...sides.filter(([, , , room]) => room > 70).map(([words, side, dx]) => label(`tick ${side}`, one + dx, top - 8, words)),
    ...rows.map((row, at) => rangeOf(row, place, top + at * ROW)));
}

// ---- a heat map: calls by latency over recorded time; darker where more calls took so long.

const SHADES = 6; // equal steps of the logarithm of the count
const isMap = ({values: map}) => listOf(map.cells).length > 0 && listOf(map.row_low_ns).length > 0 && map.steps > 0 && map.steps <= 2000;

function drawMap(map, width) {
  const span = map.over === "ops" ? map.span_ops : map.span_ns, text = map.over === "ops" ? countText : timeText;
  const cells = map.cells.filter((cell) => Array.isArray(cell) && cell.every(isNumber) && cell[2] > 0), rows = cells.map((cell) => cell[1]);
  const most = cells.reduce((found, cell) => Math.max(found, cell[2]), 1), top = rows.reduce((one, other) => Math.max(one, other), 0), bottom = rows.reduce((one, other) => Math.min(one, other), top);
  const height = Math.min(300, Math.max(180, Math.round(width * 0.36))), key = height + 22;
  const place = {left: 66, right: width - 12, top: 8, bottom: height - 24};
  place.x = scaleOf("linear", [0, isNumber(span) && span > 0 ? span : 1], place.left, place.right, width / 90, text);
  const wide = (place.right - place.left) / map.steps, tall = (place.bottom - place.top) / (top - bottom + 1), words = Array.from({length: SHADES}, () => "");
  for (const [step, row, count] of cells)
    words[Math.min(SHADES - 1, Math.floor(SHADES * Math.log(count) / Math.log(most + 1)))] += `M${(place.left + step * wide).toFixed(1)} ${(place.top + (top - row) * tall).toFixed(1)}h${wide.toFixed(2)}v${tall.toFixed(2)}h${(-wide).toFixed(2)}z`;
  const every = Math.max(1, Math.ceil(22 / tall)), shade = Math.min(52, (width - 100) / SHADES);
  const named = evenWhole(bottom, top).filter((row) => (row - bottom) % every === 0 && isNumber(map.row_low_ns[row]));
  return drawn("svg", {class: "drawing", viewBox: `0 0 ${width} ${key + 18}`}, drawn("rect", {class: "map", x: place.left, y: place.top, width: place.right - place.left, height: place.bottom - place.top}),
    ...words.map((d, at) => drawn("path", {class: `shade s${at}`, d})), ...axes(place),
    ...named.map((row) => label("tick end", place.left - 8, place.top + (top - row + 1) * tall, timeText(map.row_low_ns[row]))),
    label("tick", 4, key + 4, "calls"), ...words.map((_, at) => drawn("rect", {class: `shade s${at}`, x: 66 + at * shade, y: key - 6, width: shade, height: 8})),
    ...words.map((_, at) => label("tick", 66 + at * shade, key + 14, at === 0 ? "1" : wholeText(Math.ceil((most + 1) ** (at / SHADES))))));
}

function mapOf(spec) {
  const maps = spec.series.filter(isMap);
  if (maps.length === 0) return null;
  const picture = sheet(element("div", {class: "plot", role: "img", "aria-label": spec.title}), (width) => drawMap(maps[Number(select.value)].values, width));
  const select = element("select", {"aria-label": spec.title, on: {change: () => sheets.get(picture).draw(sheets.get(picture).width)}}, maps.map(({label: name}, at) => element("option", {value: at}, name)));
  return [select, picture];
}

// The drawing in the place of a chart; null: its figures are none.
function drawnOf(spec) {
  if (spec.kind === "ranges") return sheet(element("div", {class: "plot", role: "img", "aria-label": spec.rows.map(({name, words}) => `${name} ${words}`).join(", ")}), (width) => drawRanges(spec, width));
  if (spec.kind === "map") return mapOf(spec);
  const settings = LINES[spec.kind](spec);
  return settings && chart({label: spec.title, xLabel: spec.x_label, yText: WRITTEN[spec.y_as], ...settings});
}

// Paper has a width of its own; on it stands what is open.
function followPrinting() {
  for (const [kind, now] of [["beforeprint", true], ["afterprint", false]])
    window.addEventListener(kind, () => { onPaper = now; sheets.forEach((_, holder) => redraw(holder)); });
}

const CHARTS = JSON.parse(document.getElementById("data").textContent);
document.querySelectorAll("[data-chart]").forEach((place) => place.replaceWith(...[drawnOf(CHARTS[place.dataset.chart])].flat().filter(Boolean)));
sheets.forEach((_, holder) => redraw(holder));
followPrinting();
document.documentElement.dataset.ready = "yes";
