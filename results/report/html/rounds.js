// rounds.js - each round as a dot: how the candidate did beside the baseline of the same round; with their distribution and the 95 % range of the change.

const ROW = {height: 84, ridge: 42, dots: 50, last: 78}; // from a row's top, in pixels

// Rounds that something disturbed do not decide how wide the picture is: they stand at its edge.
function usualOf(ratios) {
  const logs = ratios.filter((ratio) => ratio > 0).map(Math.log).sort((one, other) => one - other);
  const at = (part) => logs[Math.round(part * (logs.length - 1))], far = 3 * (at(0.75) - at(0.25)) + 0.005;
  return logs.filter((one) => Math.abs(one - at(0.5)) <= far).map(Math.exp);
}

// Gaussian kernels on logarithms (B. W. Silverman, "Density estimation", 1986, 3.31), as a path above y.
function ridgeOf(ratios, place, y) {
  const logs = usualOf(ratios).map(Math.log), count = logs.length, mean = logs.reduce((sum, one) => sum + one, 0) / count;
  const width = 0.9 * Math.sqrt(logs.reduce((sum, one) => sum + (one - mean) ** 2, 0) / (count - 1)) * count ** -0.2;
  if (count < 5 || !(width > 0)) return [];
  const low = Math.min(...logs) - 3 * width, high = Math.max(...logs) + 3 * width;
  const points = Array.from({length: 61}, (_, at) => low + (high - low) * at / 60)
    .map((log) => [log, logs.reduce((sum, one) => sum + Math.exp(-(((log - one) / width) ** 2) / 2), 0)]);
  const most = Math.max(...points.map(([, density]) => density));
  return [drawn("path", {class: "ridge", d: `M${place.x.at(Math.exp(low))} ${y}${points.map(([log, density]) => `L${place.x.at(Math.exp(log))} ${y - 22 * density / most}`).join("")}Z`})];
}

function rowOf({name, time, ratios, isControl}, place, top) {
  const {x, left, right} = place, y = top + ROW.ridge, rounds = Math.max(1, ratios.length - 1);
  const inside = (ratio) => Math.max(left, Math.min(right, x.at(ratio)));
  const dots = ratios.flatMap((ratio, at) => (ratio > 0 ? [drawn("circle", {class: ratio < x.low || ratio > x.high ? "round beyond" : "round", cx: inside(ratio),
    cy: top + ROW.dots + (ROW.last - ROW.dots) * at / rounds, r: ratios.length > 60 ? 2 : 3.5}, drawn("title", {}, `round ${at + 1}: ${percentText(ratio)}`))] : []));
  const range = isNumber(time.ratio_low) && isNumber(time.ratio_high) ? [drawn("rect", {class: "range", x: inside(time.ratio_low), y: y - 3,
    width: Math.max(2, inside(time.ratio_high) - inside(time.ratio_low)), height: 6})] : [];
  const middle = isNumber(time.ratio) ? [drawn("rect", {class: "middle", x: inside(time.ratio) - 1.5, y: y - 9, width: 3, height: 18})] : [];
  const word = shownWord(time.verdict, time.ratio_low, time.ratio_high), [judged, sign] = VERDICTS[word] || ["open", "?"];
  const words = isNumber(time.ratio) ? `${percentText(time.ratio)}${isControl || !isNamed(word) ? "" : ` ${sign} ${word}`}` : "";
  const room = Math.max(8, Math.floor((right - left) / 9) - words.length);
  return drawn("g", {class: isControl ? "row control" : "row"}, line("grid", left, top, right, top), ...ridgeOf(ratios, place, y), ...dots, ...range, ...middle,
    drawn("text", {class: "name", x: left, y: top + 13}, name.length > room ? `${name.slice(0, room)}…` : name,
      drawn("tspan", {class: `change ${isControl ? "open" : judged}`, dx: 8}, words)));
}

function drawRounds(rows, width) {
  const top = 22, bottom = top + rows.length * ROW.height, place = {left: 12, right: width - 12, top, bottom, isRatio: true};
  place.x = scaleOf("ratio", ratioReach(rows.flatMap(({time, ratios}) => [time.ratio_low, time.ratio_high, time.ratio, ...usualOf(ratios)]), 0.1), place.left, place.right, width / 90);
  const one = place.x.at(1), sides = [["faster", "end", -8, one - place.left], ["slower", "start", 8, place.right - one]];
  return drawn("svg", {class: "drawing rounds", viewBox: `0 0 ${width} ${bottom + 24}`}, ...axes(place), line("axis", one, top, one, bottom),
    ...sides.filter(([, , , room]) => room > 70).map(([words, side, dx]) => label(`tick ${side}`, one + dx, top - 8, side === "end" ? `← ${words}` : `${words} →`)),
    ...rows.map((row, at) => rowOf(row, place, top + at * ROW.height)));
}

function roundsSection(workload) {
  const entries = listOf(workload.candidates).map(objectOf), control = objectOf(workload.control), baseline = String(objectOf(entries[0]).name);
  const rows = [...entries.slice(1).map((entry) => ({entry, name: String(entry.name)})), {entry: control, name: `${baseline} again, which shows chance`, isControl: true}]
    .map((row) => ({...row, time: objectOf(row.entry.time), ratios: listOf(row.entry.round_ratios)})).filter(({ratios}) => ratios.some((ratio) => ratio > 0));
  if (rows.length === 0) return null;
  const key = (kind, words) => element("span", {class: "entry"}, drawn("svg", {class: "swatch", viewBox: "0 0 24 12", "aria-hidden": "true"}, ...kind), words);
  return section(`Time in malloc against ${baseline}, round by round`, null, element("div", {class: "legend"},
    key([drawn("circle", {class: "round", cx: 12, cy: 6, r: 3})], "a round, the first on top"), key([drawn("path", {class: "ridge", d: "M0 12Q12 -10 24 12Z"})], "their distribution"),
    key([drawn("rect", {class: "range", x: 0, y: 3, width: 24, height: 6}), drawn("rect", {class: "middle", x: 11, y: 0, width: 3, height: 12})], "the change with its 95 % range"),
    rows.some(({ratios}) => usualOf(ratios).length < ratios.filter((ratio) => ratio > 0).length) ? key([drawn("circle", {class: "round beyond", cx: 12, cy: 6, r: 3})], "beyond the edge") : null),
  sheet(element("div", {class: "plot", role: "img", "aria-label": rows.map(({name, time}) => `${name} ${percentText(time.ratio)}`).join(", ")}), (width) => drawRounds(rows, width)));
}
