// charts.js - charts as SVG. Their colours come from the style sheet, so no theme draws anew, and they scale to any paper.

const DASHES = ["", "8 4", "2 3", "10 3 2 3", "5 2", "1 2", "12 6", "6 2 1 2", "4 4", "14 2 2 2", "3 6", "7 1"];

// ---- scales: from values to places, with the ticks that people count by.

function evenTicks(low, high, most) {
  const rough = (high - low) / most, power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((one) => one * power >= rough * 0.999);
  const first = Math.ceil(low / step - 1e-6);
  return Array.from({length: Math.max(0, Math.floor(high / step + 1e-6) - first + 1)}, (_, at) => Number(((first + at) * step).toPrecision(12)));
}

// Powers of the least base that are not too many.
function powerTicks(low, high, most, bases) {
  const powers = (base) => evenWhole(Math.ceil(Math.log(low) / Math.log(base) - 1e-6), Math.floor(Math.log(high) / Math.log(base) + 1e-6)).map((at) => base ** at);
  return powers(bases.find((base) => Math.log(high / low) / Math.log(base) <= most) ?? 1e6);
}
const evenWhole = (first, last) => Array.from({length: Math.max(0, last - first + 1)}, (_, at) => first + at);

// x0.5, x1, x2; where the range is small per cent.
const isWide = (low, high) => high / low >= 2.2;
const BETWEEN = [0.25, 0.33, 0.5, 0.67, 1, 1.5, 2, 3, 4]; // where powers of 2 would be two
const ratioTicks = (low, high, most) => (!isWide(low, high) ? evenTicks(low - 1, high - 1, most).map((difference) => 1 + difference)
  : high / low < 6 ? BETWEEN.filter((ratio) => ratio >= low && ratio <= high) : powerTicks(low, high, most, [2, 4, 10, 100]));
const timesText = (ratio) => `×${Number(ratio.toPrecision(3))}`;
const tickPercent = (ratio) => (Math.abs(ratio - 1) < 1e-9 ? "0 %" : `${ratio < 1 ? MINUS : "+"}${Number(Math.abs(100 * (ratio - 1)).toPrecision(3))} %`);

const CLOCK = [1, 5, 15, 30, 60, 300, 900, 1800, 3600, 10800, 21600, 43200, 86400, 172800, 604800, 1209600, 2592000, 7776000, 31536000];
function dateTicks(low, high, most) {
  const step = CLOCK.find((one) => (high - low) / one <= most) ?? 31536000 * Math.ceil((high - low) / most / 31536000);
  return evenWhole(Math.ceil(low / step), Math.floor(high / step)).map((at) => at * step);
}
function dateTick(seconds, low, high) {
  const words = new Date(seconds * 1000).toUTCString(); // "Tue, 14 Nov 2023 22:13:20 GMT"
  return high - low < 600 ? words.slice(17, 25) : high - low < 3 * 86400 ? words.slice(17, 22) : high - low < 3e7 ? words.slice(5, 11) : words.slice(8, 16);
}

const TICKS = {linear: evenTicks, nines: (low, high) => evenWhole(0, Math.floor(Math.log10(high))).map((at) => 10 ** at), log: (low, high, most) => powerTicks(low, high, most, [10, 100, 1e4]), ratio: ratioTicks, date: dateTicks};

// kind: of TICKS; places from..to; most: of ticks. at(value) is a place, back(place) a value.
function scaleOf(kind, [low, high], from, to, most, text) {
  const isLog = kind !== "linear" && kind !== "date", into = isLog ? Math.log : Number, out = isLog ? Math.exp : Number;
  const span = into(high) - into(low) || 1;
  const words = kind === "ratio" ? (isWide(low, high) ? timesText : tickPercent) : kind === "date" ? (value) => dateTick(value, low, high) : text;
  return {low, high, at: (value) => from + (to - from) * (into(value) - into(low)) / span,
    back: (place) => out(into(low) + span * (place - from) / (to - from)), ticks: TICKS[kind](low, high, Math.max(2, most)).map((value) => [value, words(value)])};
}

const ratioReach = (values, room = 0.06) => {
  const logs = [0, ...values.filter((value) => isNumber(value) && value > 0).map(Math.log)];
  const low = Math.min(...logs), high = Math.max(...logs), more = Math.max((high - low) * room, 0.01);
  return [Math.exp(low - more), Math.exp(high + more)];
};

// ---- drawings are made for a width: anew when that changes, when what hides them opens, and for paper.

const sheets = new Map(); // by their holder
const PAPER = 900; // of its width, in pixels of the style sheet
let onPaper = false;

function redraw(holder) {
  const sheet = sheets.get(holder);
  const width = onPaper ? PAPER : Math.floor(holder.clientWidth);
  if (holder.clientWidth > 0 && width !== sheet.width) sheet.draw(sheet.width = width);
}

const widths = new ResizeObserver((seen) => seen.forEach(({target}) => redraw(target)));

// draw(width) gives the drawing, or null to leave the holder as it is.
function sheet(holder, draw) {
  sheets.set(holder, {width: 0, draw: (width) => holder.replaceChildren(draw(width))});
  widths.observe(holder);
  return holder;
}

const line = (kind, x1, y1, x2, y2) => drawn("line", {class: kind, x1, y1, x2, y2});
const label = (kind, x, y, words) => drawn("text", {class: kind, x, y}, words);

// Grid and words of both axes. place: left, right, top, bottom, x, y; y may be missing. A word that would touch the last is left out.
function axes(place) {
  const made = [];
  let free = -Infinity;
  for (const [value, words] of place.x.ticks) {
    const x = place.x.at(value), half = words.length * 3.4;
    made.push(line(place.isRatio && value === 1 ? "axis" : "grid", x, place.top, x, place.bottom));
    if (x - half < free || words === "") continue;
    made.push(label("tick middle", Math.min(x, place.right + 8 - half), place.bottom + 18, words));
    free = x + half + 6;
  }
  for (const [value, words] of place.y ? place.y.ticks : [])
    made.push(line(value === place.one ? "axis" : "grid", place.left, place.y.at(value), place.right, place.y.at(value)), label("tick end", place.left - 8, place.y.at(value) + 4, words));
  if (place.xLabel) made.push(label("tick middle", (place.left + place.right) / 2, place.bottom + 36, place.xLabel));
  return made;
}

function pathOf(xs, ys, place) {
  const tenth = (value) => Math.round(value * 10) / 10;
  return ys.map((value, at) => (isNumber(value) ? `${isNumber(ys[at - 1]) ? "L" : "M"}${tenth(place.x.at(xs[at]))} ${tenth(place.y.at(value))}` : "")).join("");
}

// ---- lines.
//
// settings: label, x, series [{label, values, colour, is_live}], xKind and yKind (of TICKS; else linear), xText, yText, xLabel, pad (beside x), isDotted. x rises;
// values are as long as x, null where there is none.

function yReach(settings, made) {
  let low = Infinity, high = -Infinity;
  settings.series.forEach((one, at) => made.shown[at] && one.values.forEach((value) => {
    if (!isNumber(value)) return;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }));
  if (settings.yKind === "ratio") return ratioReach(low <= high ? [low, high] : [], 0.14);
  if (settings.yKind === "log") return low > 0 && low < high ? [low, high] : [1, 10];
  return [0, high > 0 ? high * 1.08 : 1];
}

function drawLine(settings, one, at, place) {
  const path = pathOf(settings.x, one.values, place);
  const made = path && one.is_live ? [drawn("path", {class: "live", d: `${path}V${place.bottom}H${path.slice(1).split(" ")[0]}Z`})] : [];
  if (path) made.push(drawn("path", {class: `line ${colourClass(one, at)}`, d: path, "stroke-dasharray": dashOf(one, at)}));
  if (settings.isDotted) made.push(...one.values.map((value, index) => (isNumber(value) ? drawn("circle", {class: `dot ${colourClass(one, at)}`, cx: place.x.at(settings.x[index]), cy: place.y.at(value), r: 3.5}) : null)).filter(Boolean));
  return made;
}
const colourClass = (one, at) => (one.is_live ? "text" : `c${(one.colour ?? at) % DASHES.length}`);
const dashOf = (one, at) => (one.is_live ? "" : DASHES[(one.colour ?? at) % DASHES.length]);

function drawChart(settings, made, width) {
  const height = Math.min(340, Math.max(220, Math.round(width * 0.4)));
  const place = {left: 66, right: width - 12, top: 14, bottom: height - (settings.xLabel ? 42 : 24), xLabel: settings.xLabel, one: settings.yKind === "ratio" ? 1 : null};
  place.x = scaleOf(settings.xKind ?? "linear", made.reach, place.left, place.right, width / 90, settings.xText);
  place.y = scaleOf(settings.yKind ?? "linear", yReach(settings, made), place.bottom, place.top, height / 42, settings.yText);
  made.place = place;
  made.over = drawn("g", {});
  const lines = settings.series.map((one, at) => ({one, at})).filter(({at}) => made.shown[at]);
  return drawn("svg", {class: "drawing", viewBox: `0 0 ${width} ${height}`}, ...axes(place), ...lines.flatMap(({one, at}) => drawLine(settings, one, at, place)), made.over);
}

function legendOf(settings, made, rebuild) {
  return settings.series.map((one, at) => {
    const value = element("span", {class: "value"});
    const button = element("button", {type: "button", class: "entry", "aria-pressed": "true", on: {click: () => {
      made.shown[at] = !made.shown[at];
      button.setAttribute("aria-pressed", String(made.shown[at]));
      rebuild();
      say(`${one.label} ${made.shown[at] ? "shown" : "hidden"}`);
    }}}, drawn("svg", {class: "swatch", viewBox: "0 0 24 8", "aria-hidden": "true"},
      drawn("line", {class: `line ${colourClass(one, at)}`, x1: 0, x2: 24, y1: 4, y2: 4, "stroke-dasharray": dashOf(one, at)})), one.label, " ", value);
    made.values.push(value);
    return button;
  });
}

// Values at the place of the pointer stand in the legend.
function pointAt(settings, made, x, y) {
  const value = made.place.x.back(x);
  let low = 0, high = settings.x.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    [low, high] = settings.x[middle] > value ? [low, middle] : [middle, high];
  }
  const at = Math.abs(settings.x[low] - value) <= Math.abs(settings.x[high] - value) ? low : high, place = made.place.x.at(settings.x[at]);
  made.over.replaceChildren(line("cursor", place, made.place.top, place, made.place.bottom));
  made.when.textContent = settings.xText(settings.x[at]);
  settings.series.forEach((one, index) => { made.values[index].textContent = isNumber(one.values[at]) ? settings.yText(one.values[at]) : ""; });
}

function followPointer(settings, made, holder) {
  holder.addEventListener("pointermove", (event) => {
    const box = holder.firstChild.getBoundingClientRect(), scale = sheets.get(holder).width / box.width;
    pointAt(settings, made, (event.clientX - box.left) * scale, (event.clientY - box.top) * scale);
  });
}

function chart(settings) {
  const last = settings.x.length - 1, pad = settings.pad ?? 0;
  const made = {shown: settings.series.map(() => true), reach: [settings.x[0] - pad, settings.x[last] + pad], values: [], when: element("span", {class: "when"})};
  const holder = element("div", {class: "plot", role: "img", "aria-label": settings.label});
  const rebuild = () => {
    if (sheets.get(holder).width > 0) sheets.get(holder).draw(sheets.get(holder).width);
  };
  const legend = element("div", {class: "legend"}, legendOf(settings, made, rebuild), made.when);
  sheet(holder, (width) => drawChart(settings, made, width));
  followPointer(settings, made, holder);
  return [legend, holder];
}
