// charts.js - charts by uPlot.

// ---- charts in which each point stands for something: intervals through them, marks of moves, names by mouse and keys.
//
// A series has also lows and highs, and xLows and xHighs, of the intervals; signs, {sign, kind} of a point that is marked; tags,
// a word beside a point. Of the chart: told(at, series) names a point, under(plot, pen) and over(plot, pen) draw; yLeast is a value
// that is always shown, leastRoom and topRoom what is left free beyond the points, in values and as a factor.

const DATE_VALUES = [
  [3600 * 24 * 365, "{YYYY}", null, null, null, null, null, null, 1],
  [3600 * 24 * 28, "{MMM}", "\n{YYYY}", null, null, null, null, null, 1],
  [3600 * 24, "{D} {MMM}", "\n{YYYY}", null, null, null, null, null, 1],
  [60, "{HH}:{mm}", "\n{D} {MMM} {YYYY}", null, "\n{D} {MMM}", null, null, null, 1],
  [1, "{HH}:{mm}:{ss}", "\n{D} {MMM} {YYYY}", null, "\n{D} {MMM}", null, null, null, 1],
];

// From the least to the greatest of what is shown, intervals included, with the zero of a difference.
function pointsReach(settings, made, plot) {
  let low = settings.yLeast ?? Infinity, high = settings.yLeast ?? -Infinity;
  const {min, max} = plot.scales.x;
  settings.series.forEach((one, at) => made.shown[at] && one.values.forEach((value, index) => {
    if (!isNumber(value) || (isNumber(min) && (settings.x[index] < min || settings.x[index] > max))) return;
    low = Math.min(low, value, one.lows?.[index] ?? value);
    high = Math.max(high, value, one.highs?.[index] ?? value);
  }));
  if (!(low <= high)) return [0, 1];
  const room = Math.max((high - low) * 0.08 || Math.abs(high) * 0.05 || 0.01, settings.leastRoom || 0);
  return [low === settings.yLeast && low === 0 ? 0 : low - room, high + room * (settings.topRoom || 1)];
}

function drawWhiskers(settings, made, plot, pen, strokeOf) {
  const x = (value) => plot.valToPos(value, "x", true), y = (value) => plot.valToPos(value, "y", true);
  const line = (x1, y1, x2, y2) => { pen.beginPath(); pen.moveTo(x1, y1); pen.lineTo(x2, y2); pen.stroke(); };
  const density = window.devicePixelRatio || 1, cap = 3 * density;
  pen.lineWidth = 1.2 * density;
  settings.series.forEach((one, series) => made.shown[series] && one.values.forEach((value, at) => {
    if (!isNumber(value)) return;
    pen.strokeStyle = strokeOf(series);
    if (isNumber(one.lows?.[at]) && isNumber(one.highs?.[at])) {
      const middle = x(settings.x[at]);
      line(middle, y(one.lows[at]), middle, y(one.highs[at]));
      for (const end of [one.lows[at], one.highs[at]]) line(middle - cap, y(end), middle + cap, y(end));
    }
    if (isNumber(one.xLows?.[at]) && isNumber(one.xHighs?.[at])) {
      const middle = y(value);
      line(x(one.xLows[at]), middle, x(one.xHighs[at]), middle);
      for (const end of [one.xLows[at], one.xHighs[at]]) line(x(end), middle - cap, x(end), middle + cap);
    }
  }));
}

// The sign of a move, a word beside a point, and a ring round the one that is named.
function drawSigns(settings, made, plot, pen) {
  const density = window.devicePixelRatio || 1;
  const place = (series, at) => [plot.valToPos(settings.x[at], "x", true), plot.valToPos(settings.series[series].values[at], "y", true)];
  pen.textBaseline = "middle";
  settings.series.forEach((one, series) => made.shown[series] && one.values.forEach((value, at) => {
    if (!isNumber(value)) return;
    const [x, y] = place(series, at);
    if (one.signs?.[at]) {
      pen.font = `bold ${13 * density}px system-ui, sans-serif`;
      pen.textAlign = "center";
      pen.fillStyle = colourOf(one.signs[at].kind === "bad" ? "--bad" : "--good");
      pen.fillText(one.signs[at].sign, x, y - 13 * density);
    }
    if (one.tags?.[at]) {
      pen.font = `bold ${12 * density}px system-ui, sans-serif`;
      pen.textAlign = "left";
      pen.fillStyle = colourOf("--text");
      pen.fillText(one.tags[at], x + 6 * density, y - 9 * density);
    }
  }));
  if (made.at && made.shown[made.at.series]) {
    pen.strokeStyle = colourOf("--text");
    pen.lineWidth = 2 * density;
    pen.beginPath();
    pen.arc(...place(made.at.series, made.at.at), 8 * density, 0, 2 * Math.PI);
    pen.stroke();
  }
}

// Every point that is shown, from left to right, and of one place in the order of the legend.
function pointsShown(settings, made) {
  return settings.x.flatMap((x, at) => settings.series.map((one, series) => ({x, at, series, value: one.values[at]})))
    .filter((point) => made.shown[point.series] && isNumber(point.value));
}

function namePoint(settings, made, point) {
  if (made.at && point && made.at.at === point.at && made.at.series === point.series) return;
  made.at = point;
  made.told.textContent = point ? settings.told(point.at, point.series) : "";
  made.holder.dataset.point = point ? `${point.series} ${point.at}` : "";
  made.plot.redraw(false, false);
}

const NEAR = 40; // pixels from the pointer

function nameNearest(settings, made, plot) {
  const {left, top} = plot.cursor;
  if (!(left >= 0) || !(top >= 0)) return; // gone: the last name stays, as a key's does
  let nearest = null, least = NEAR * NEAR;
  for (const point of pointsShown(settings, made)) {
    const distance = (plot.valToPos(point.x, "x") - left) ** 2 + (plot.valToPos(point.value, "y") - top) ** 2;
    if (distance < least) [nearest, least] = [point, distance];
  }
  if (nearest) namePoint(settings, made, nearest);
}

function pointsHooks(settings, made, strokeOf) {
  const kept = (draw) => (plot) => { plot.ctx.save(); draw(plot, plot.ctx); plot.ctx.restore(); };
  return {
    setCursor: [(plot) => nameNearest(settings, made, plot)],
    drawAxes: [kept((plot, pen) => settings.under && settings.under(plot, pen))],
    draw: [kept((plot, pen) => {
      pen.beginPath();
      pen.rect(plot.bbox.left, plot.bbox.top - 16, plot.bbox.width, plot.bbox.height + 16);
      pen.clip();
      drawWhiskers(settings, made, plot, pen, strokeOf);
      drawSigns(settings, made, plot, pen);
      if (settings.over) settings.over(plot, pen);
    })],
  };
}

// Arrow keys walk from point to point; what is zoomed follows.
function pointsKeys(settings, made, keys, zoom) {
  const step = (way) => {
    const points = pointsShown(settings, made);
    if (points.length === 0) return;
    const now = made.at ? points.findIndex((point) => point.at === made.at.at && point.series === made.at.series) : -1;
    const from = now >= 0 ? now : way > 0 ? -1 : points.length;
    const next = points[Math.max(0, Math.min(points.length - 1, from + way))];
    const {min, max} = made.plot.scales.x;
    if (next.x < min || next.x > max) zoom(next.x - (max - min) / 2, next.x + (max - min) / 2);
    namePoint(settings, made, next);
    say(made.told.textContent);
  };
  const near = (factor) => {
    const {min, max} = made.plot.scales.x, middle = made.at ? settings.x[made.at.at] : (min + max) / 2;
    zoom(middle - (max - min) * factor / 2, middle + (max - min) * factor / 2);
  };
  Object.assign(keys, {ArrowLeft: () => step(-1), ArrowRight: () => step(1), ArrowUp: () => step(-1), ArrowDown: () => step(1),
    Home: () => step(-Infinity), End: () => step(Infinity), "+": () => near(0.5), "=": () => near(0.5), "-": () => near(2)});
}

// ---- line and bar charts by uPlot: legend that toggles, zoom by mouse and keys, colours of the theme.

// Told apart by people who do not see red and green, and by dashes where there is no colour (Okabe and Ito's palette,
// darker or lighter so that lines have contrast on either ground).
const LINES = {
  light: ["#0060a0", "#c04a00", "#007a5a", "#a0458a", "#8a6a00", "#2f8fc4", "#555555", "#7a3b1d"],
  dark: ["#6ab8ee", "#ff9a57", "#4fd0a8", "#e69acb", "#e8c64a", "#a8dcff", "#bbbbbb", "#d9a488"],
};
const DASHES = [[], [8, 4], [2, 3], [10, 3, 2, 3], [5, 2], [1, 2], [12, 6], [6, 2, 1, 2]];

const charts = []; // of the page: redrawn when theme or width changes

function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}
const isPrinting = {now: false};
const paletteNow = () => LINES[isDark() && !isPrinting.now ? "dark" : "light"];
const colourOf = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// On a logarithmic axis lines at powers of ten only: those between would be a mesh.
const isTenth = (value) => Math.abs(Math.log10(value) - Math.round(Math.log10(value))) < 1e-6;
function axis(values, label, isLog, size = label ? 34 : 50) {
  const lines = {stroke: () => colourOf("--grid"), width: 1,
    ...(isLog ? {filter: (plot, splits) => splits.map((split) => (isTenth(split) ? split : null))} : {})};
  return {stroke: () => colourOf("--faint-text"), grid: lines, ticks: lines, font: "12px system-ui, sans-serif", labelFont: "12px system-ui, sans-serif",
    values: (plot, splits) => splits.map((split) => (split === null ? null : values(split))), label, size, labelSize: label ? 20 : 0};
}

// settings: title, x, series [{label, values, live}], xText, yText, xLabel, yLabel, xLog, yLog, bars; of a chart of points also
// points, pad, isTime, told, under, over. x rises; values are as long as x, null where there is none.
function chart(settings) {
  const holder = element("div", {class: "plot", tabindex: "0", role: "img", "aria-label": `${settings.title}. Arrow keys `
    + `${settings.points ? "go from point to point" : "move"}, plus and minus zoom, 0 shows all.`});
  const figure = element("figure", {class: "chart"});
  const legend = element("div", {class: "legend"});
  const reset = element("button", {type: "button", class: "quiet reset", disabled: true}, "Show all");
  const pad = settings.pad || 0;
  const first = settings.x[0] - pad, last = settings.x[settings.x.length - 1] + pad;
  const made = {plot: null, shown: settings.series.map(() => true), holder, range: [first, last], settings,
    at: null, told: element("p", {class: "told"})};

  const strokeOf = (at) => (settings.series[at].live ? colourOf("--text") : paletteNow()[(settings.series[at].colour ?? at) % 8]);
  const build = () => {
    if (made.plot) made.plot.destroy();
    const width = Math.max(240, holder.clientWidth);
    // Two series of bars stand side by side.
    const bars = (at) => (settings.bars ? uPlot.paths.bars(settings.series.length > 1
      ? {size: [0.4, 30], align: at === 0 ? -1 : 1} : {size: [0.8, 60], align: 0}) : undefined);
    made.plot = new uPlot({
      width, height: Math.min(340, Math.max(220, Math.round(width * 0.42))), legend: {show: false},
      cursor: {drag: {x: true, y: false, dist: 6}, points: {show: !settings.bars && !settings.points}, ...(settings.points ? {y: false, x: false} : {})},
      ...(settings.isTime ? {tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), "UTC")} : {}),
      scales: {x: {time: settings.isTime === true, distr: settings.xLog ? 3 : 1, range: (plot, low, high) => (settings.bars ? [low - 0.6, high + 0.6] : [low, high])},
        y: {distr: settings.yLog ? 3 : 1, range: settings.yLog ? undefined : settings.points ? (plot) => pointsReach(settings, made, plot)
          : (plot, low, high) => [0, isNumber(high) && high > 0 ? high * 1.06 : 1]}},
      axes: [{...axis(settings.xText, settings.xLabel, settings.xLog), space: settings.bars ? 46 : settings.points ? 58 : 70,
        ...(settings.bars ? {incrs: [1, 2, 4, 8, 16]} : {}), ...(settings.isTime ? {values: DATE_VALUES} : {})},
      axis(settings.yText, null, settings.yLog, 74)],
      series: [{}, ...settings.series.map((one, at) => ({
        label: one.label, stroke: strokeOf(at), width: one.live ? 1.5 : 2, show: made.shown[at],
        points: settings.points ? {show: true, size: settings.pointSize || 7, width: 1, fill: strokeOf(at), stroke: strokeOf(at)} : {show: false},
        dash: settings.bars ? undefined : one.live ? [] : DASHES[(one.colour ?? at) % 8], paths: one.isLineless ? () => null : bars(at),
        fill: settings.bars || one.live ? `${strokeOf(at)}${settings.bars ? "99" : "22"}` : undefined, spanGaps: settings.points === true}))],
      hooks: {...(settings.points ? pointsHooks(settings, made, strokeOf) : {setCursor: [readOut]}), setScale: [(plot, key) => {
        if (key !== "x") return;
        const {min, max} = plot.scales.x;
        made.range = [min, max];
        reset.disabled = min <= first && max >= last;
        holder.dataset.from = min;
        holder.dataset.to = max;
      }]},
    }, [settings.x, ...settings.series.map((one) => one.values)], holder);
    if (settings.points) made.plot.setScale("x", {min: first, max: last});
    paintLegend();
  };
  const values = [];
  const when = element("span", {class: "when"});
  const readOut = (plot) => {
    const at = plot.cursor.idx;
    when.textContent = isNumber(at) && settings.x[at] !== undefined ? settings.xText(settings.x[at]) : "";
    settings.series.forEach((one, index) => {
      const value = isNumber(at) ? one.values[at] : null;
      values[index].textContent = isNumber(value) ? settings.yText(value) : "";
    });
  };
  const buttons = settings.series.map((one, at) => {
    const value = element("span", {class: "value"});
    values.push(value);
    return element("button", {type: "button", class: "entry", "aria-pressed": "true", on: {click: () => {
      made.shown[at] = !made.shown[at];
      buttons[at].setAttribute("aria-pressed", String(made.shown[at]));
      made.plot.setSeries(at + 1, {show: made.shown[at]});
      say(`${one.label} ${made.shown[at] ? "shown" : "hidden"}`);
    }}}, drawn("svg", {class: "swatch", viewBox: "0 0 24 8", "aria-hidden": "true"},
      drawn("line", {x1: 0, x2: 24, y1: 4, y2: 4, "stroke-width": settings.bars ? 8 : 3,
        "stroke-dasharray": settings.bars || one.live ? "" : DASHES[(one.colour ?? at) % 8].join(" ")})), one.label, " ", value);
  });
  const paintLegend = () => buttons.forEach((button, at) => button.querySelector("line").setAttribute("stroke", strokeOf(at)));
  legend.append(...buttons, when, reset);

  const zoom = (low, high) => {
    if (!(high > low)) return;
    made.plot.setScale("x", {min: Math.max(first, low), max: Math.min(last, high)});
  };
  // Steps of what is shown; on a logarithmic axis of its logarithm.
  const moved = (part, factor) => {
    const to = settings.xLog ? Math.log : (value) => value, from = settings.xLog ? Math.exp : (value) => value;
    const [low, high] = settings.bars ? [made.plot.scales.x.min + 0.6, made.plot.scales.x.max - 0.6]
      : [made.plot.scales.x.min, made.plot.scales.x.max];
    const span = to(high) - to(low), middle = (to(high) + to(low)) / 2 + part * span;
    let begin = middle - span * factor / 2, end = middle + span * factor / 2;
    if (factor >= 1 && begin < to(first)) [begin, end] = [to(first), to(first) + end - begin];
    if (factor >= 1 && end > to(last)) [begin, end] = [to(last) - (end - begin), to(last)];
    zoom(from(begin), from(end));
  };
  const showAll = () => { made.plot.setScale("x", {min: first, max: last}); say("All shown"); };
  const keys = {ArrowLeft: () => moved(-0.2, 1), ArrowRight: () => moved(0.2, 1), "+": () => moved(0, 0.5), "=": () => moved(0, 0.5),
    "-": () => moved(0, 2), "0": showAll, Escape: showAll};
  if (settings.points) pointsKeys(settings, made, keys, zoom);
  holder.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });
  reset.addEventListener("click", showAll);
  figure.append(element("figcaption", {}, settings.title), settings.yLabel ? element("p", {class: "small"}, settings.yLabel) : "", legend, holder);
  if (settings.points) figure.append(made.told);
  made.build = () => { const range = made.range; build(); if (!settings.bars && (range[0] > first || range[1] < last)) zoom(...range); };
  made.resize = () => { if (made.plot && Math.max(240, holder.clientWidth) !== made.plot.width) made.build(); };
  charts.push(made);
  return figure;
}

// A drawing that is not uPlot's, made anew with each theme.
function painted(title, paint, label) {
  const canvas = element("canvas", {role: "img", "aria-label": label || title});
  const holder = element("div", {class: "plot"}, canvas);
  const made = {holder, build: () => {
    const width = Math.max(240, holder.clientWidth), density = window.devicePixelRatio || 1;
    const height = Math.min(300, Math.max(180, Math.round(width * 0.36)));
    canvas.width = Math.round(width * density);
    canvas.height = Math.round(height * density);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    const pen = canvas.getContext("2d");
    pen.scale(density, density);
    paint(pen, width, height);
    made.width = width;
  }, resize: () => { if (Math.max(240, holder.clientWidth) !== made.width) made.build(); }};
  charts.push(made);
  return element("figure", {class: "chart"}, element("figcaption", {}, title), holder);
}

const redrawAll = () => charts.forEach((one) => one.build());
