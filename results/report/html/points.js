// points.js - charts in which each point stands for something: intervals through them, marks of moves, names by mouse and keys.
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
