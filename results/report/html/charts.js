// charts.js - line and bar charts by uPlot: legend that toggles, zoom by mouse and keys, colours of the theme.

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
// what points.js takes: points, pad, isTime, told, under, over. x rises; values are as long as x, null where there is none.
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
