// flame.js - a tree of calls as boxes: a caller above those it calls, each as wide as its value. The canvas has the boxes, the
// words about them stand beside it, so that a screen reader and a key reach all that a pointer does.

const data = JSON.parse(document.getElementById("data").textContent);
const ROW = 20, ROWS_MAX = 160, ROWS_PAPER = 24, PAPER_WIDTH = 1032, WIDTH_MIN = 1, TEXT_MIN = 26, FONT = "12px system-ui, \"DejaVu Sans\", sans-serif";
const UNIT_TEXTS = {bytes: bytesText, count: wholeText};

// ---- the tree: numbers of nodes; the last stands above all tops.

const count = data.parents.length, ROOT = count;
const parents = Int32Array.from(data.parents, (back, node) => (back > 0 ? node - back : ROOT));
const firsts = new Int32Array(count + 2), children = new Int32Array(count);
for (const parent of parents) firsts[parent + 1]++;
for (let node = 0; node <= count; node++) firsts[node + 1] += firsts[node];
{
  const next = firsts.slice();
  parents.forEach((parent, node) => { children[next[parent]++] = node; });
}
const frames = Int32Array.from(data.frames), nodeFrames = Int32Array.from(data.node_frames); // of a frame three: function, module, file
let holder = 0;
const holders = Int32Array.from(data.holders, (step) => { holder += step; return holder; });
const moduleOf = (node) => frames[3 * nodeFrames[node] + 1];
const nameOf = (node, part) => data.strings[frames[3 * nodeFrames[node] + part]] ?? null;
const functionOf = (node) => (node === ROOT ? "all" : nameOf(node, 0) ?? "[unknown]");

// The value of a node with all below it, made when it is first asked for; and the basis of estimates, which adds up alike.
const OWN = 0, PARTS = ["own", "samples", "variances"];
const totalsMade = new Map();
function totalsOf(metric, part = OWN) {
  const key = PARTS.length * metric + part;
  if (totalsMade.has(key)) return totalsMade.get(key);
  const totals = new Float64Array(count + 1), own = data.metrics[metric][PARTS[part]];
  holders.forEach((node, at) => { totals[node] = own[at]; });
  for (let node = count - 1; node >= 0; node--) totals[parents[node]] += totals[node];
  totalsMade.set(key, totals);
  return totals;
}
const isEstimate = (metric) => data.metrics[metric].samples !== undefined;
const amountOf = (metric, node) => PARTS.slice(0, isEstimate(metric) ? PARTS.length : 1).map((_, part) => totalsOf(metric, part)[node]);
const less = (one, other) => one.map((part, at) => part - other[at]);
const more = (one, other) => one.map((part, at) => part + other[at]);

// The largest first, so that where one is too narrow to be seen all that follow are.
const ordersMade = new Map();
function orderOf(node) {
  const made = ordersMade.get(node);
  if (made) return made;
  const totals = totalsOf(now.metric);
  const order = Array.from(children.subarray(firsts[node], firsts[node + 1])).filter((child) => totals[child] > 0)
    .sort((one, other) => totals[other] - totals[one] || one - other);
  ordersMade.set(node, order);
  return order;
}

// ---- what is shown

const now = {metric: data.metrics[data.shown] ? data.shown : 0, focus: ROOT, chosen: ROOT, found: null, paper: false};
let rows = []; // of each row: boxes [x, width, node]

const metricText = (metric, value) => UNIT_TEXTS[data.metrics[metric].unit](value);

// Words for an amount, as `mallab sites` has them (convert/sites/sites.c): with its 95 % range, of few samples a bound alone.
const FEW_MOST = [3.689, 5.572, 7.225, 8.767, 10.242, 11.668, 13.059, 14.423, 15.763, 17.085];
const isTold = ([value, samples, variance]) => !(variance > 0) || samples >= FEW_MOST.length || Math.sqrt(variance) <= 0.05 * value;
function amountText(metric, amount) {
  const [value, samples, variance] = amount, spread = 1.96 * Math.sqrt(variance > 0 ? variance : 0);
  if (!isTold(amount)) return samples > 0 ? `less than ${metricText(metric, value / samples * FEW_MOST[samples])}` : DASH;
  const below = data.metrics[metric].value === "live" ? 2 * spread : spread; // when the peak was is an estimate, too
  return metricText(metric, value) + (spread > 0 ? ` [${metricText(metric, Math.max(0, value - below))} to ${metricText(metric, value + spread)}]` : "");
}
const shareText = (part, whole) => (whole > 0 ? `${significant(100 * part / whole)} %` : DASH);
const stateOf = (metric) => (data.metrics[metric].before ? "before" : "now");

const statesOf = (value) => data.metrics.map((_, at) => at).filter((at) => data.metrics[at].value === value);

// [over, under]: the metrics whose ratio colours a box; null: nothing to compare with.
function ratioOf(metric) {
  const base = data.metrics[metric].base;
  if (base >= 0) return [metric, base];
  const after = data.metrics.findIndex((other) => other.base === metric);
  return data.metrics[metric].before && after >= 0 ? [after, metric] : null;
}

// ---- colours: of the ratio on a scale from a half to the double; without one, of the module.

let paints = null;
function colour(name) {
  const value = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  return [1, 3, 5].map((at) => parseInt(value.slice(at, at + 2), 16));
}
const mixed = (one, other, share) => `rgb(${one.map((part, at) => Math.round(part + (other[at] - part) * share)).join(" ")})`;
function preparePaints() {
  const even = colour("--flame-even");
  const scale = Array.from({length: 41}, (_, at) => mixed(even, colour(at < 20 ? "--flame-less" : "--flame-more"), Math.abs(at - 20) / 20));
  paints = {scale, even: scale[20], modules: new Map(), text: mixed(colour("--text"), even, 0), rest: mixed(even, colour("--ground"), 0.55)};
  if (ratioOf(now.metric)) return;
  const totals = totalsOf(now.metric), sums = new Map(); // counted where a stack enters a module
  for (let node = 0; node < count; node++) {
    const module = moduleOf(node);
    if (parents[node] === ROOT || moduleOf(parents[node]) !== module) sums.set(module, (sums.get(module) ?? 0) + totals[node]);
  }
  [...sums.keys()].sort((one, other) => sums.get(other) - sums.get(one)).slice(0, 8)
    .forEach((module, rank) => paints.modules.set(module, mixed(even, colour(`--c${rank}`), 0.42)));
}
function paintOf(node, pair) {
  if (now.found && !now.found.inside[node]) return paints.rest;
  if (!pair) return node === ROOT ? paints.even : paints.modules.get(moduleOf(node)) ?? paints.even;
  const over = totalsOf(pair[0])[node], under = totalsOf(pair[1])[node];
  if (!(over > 0) && !(under > 0)) return paints.even;
  const steps = under > 0 && over > 0 ? Math.log2(over / under) : over > 0 ? 1 : -1;
  return paints.scale[20 + Math.round(20 * Math.max(-1, Math.min(1, steps)))];
}

// ---- drawing

const canvas = element("canvas", {}), mark = element("div", {class: "mark", hidden: true});
const stage = element("div", {class: "stage", tabindex: "0", role: "application", "aria-label": "Stacks: down to the largest called, up to the caller, left and right beside, Enter zooms, Escape goes back, slash searches"}, canvas, mark);
const told = element("p", {class: "told"}), path = element("nav", {class: "path", "aria-label": "Callers of what is zoomed into"});

function place(width) {
  const totals = totalsOf(now.metric), rowsMax = now.paper ? ROWS_PAPER : ROWS_MAX;
  rows = [];
  const put = (node, x, wide, row) => {
    (rows[row] ??= []).push([x, wide, node]);
    if (row + 1 >= rowsMax) return;
    const order = orderOf(node);
    const scale = wide / Math.max(totals[node], order.reduce((sum, child) => sum + totals[child], 0));
    for (const child of order) {
      const own = totals[child] * scale;
      if (own < WIDTH_MIN) break;
      put(child, x, own, row + 1);
      x += own;
    }
  };
  if (totals[now.focus] > 0) put(now.focus, 0, width, 0);
}

function draw() {
  const width = now.paper ? PAPER_WIDTH : stage.clientWidth, grain = now.paper ? 2 : window.devicePixelRatio || 1;
  if (!paints) {
    preparePaints();
    showLegend();
  }
  place(width);
  const height = Math.max(1, rows.length) * ROW, pen = canvas.getContext("2d"), pair = ratioOf(now.metric);
  canvas.width = Math.round(width * grain);
  canvas.height = Math.round(height * grain);
  canvas.style.height = `${height}px`;
  pen.scale(grain, grain);
  pen.font = FONT;
  pen.textBaseline = "middle";
  const letter = pen.measureText("abcdefghijklmnopqrstuvwxyz_").width / 27;
  rows.forEach((boxes, row) => {
    for (const [x, wide, node] of boxes) {
      pen.fillStyle = paintOf(node, pair);
      pen.fillRect(x, row * ROW, Math.max(wide - (wide > 3 ? 1 : 0), WIDTH_MIN), ROW - 1);
      if (wide < TEXT_MIN) continue;
      const name = functionOf(node), room = Math.floor((wide - 8) / letter);
      pen.fillStyle = paints.text;
      pen.fillText(name.length > room ? `${name.slice(0, Math.max(1, room - 1))}…` : name, x + 4, row * ROW + ROW / 2, wide - 6);
    }
  });
  showMark();
}

// ---- words

function words(node) {
  const totals = totalsOf(now.metric), metric = data.metrics[now.metric], pair = ratioOf(now.metric);
  const parts = [];
  if (node !== ROOT) parts.push([nameOf(node, 1), nameOf(node, 2)].filter((part) => part !== null).join(", "));
  const amount = amountOf(now.metric, node);
  let own = amount;
  for (let at = firsts[node]; at < firsts[node + 1]; at++) own = less(own, amountOf(now.metric, children[at]));
  parts.push(`${amountText(now.metric, amount)} ${metric.words}${isTold(amount) ? `, ${shareText(totals[node], totals[ROOT])} of all` : ""}`);
  if (node !== ROOT && own[0] < amount[0] && own[0] > 0) parts.push(`${amountText(now.metric, own)} of it in the function itself`);
  if (pair && isTold(amountOf(pair[0], node)) && isTold(amountOf(pair[1], node))) parts.push(`${percentText(totalsOf(pair[0])[node] / totalsOf(pair[1])[node])} against before`);
  return [functionOf(node), ` ${parts.filter(Boolean).join(" · ")}`];
}

function tell(node, aloud) {
  const [name, rest] = words(node);
  told.replaceChildren(element("strong", {}, name), rest);
  if (aloud) say(name + rest);
}

function boxOf(node) {
  for (let row = 0; row < rows.length; row++) for (const box of rows[row]) if (box[2] === node) return [row, box];
  return null;
}

function showMark() {
  const box = boxOf(now.chosen);
  mark.hidden = !box || now.paper;
  if (!box) return;
  mark.style.top = `${box[0] * ROW}px`;
  mark.style.left = `${box[1][0]}px`;
  mark.style.width = `${Math.max(3, box[1][1])}px`;
}

function choose(node, aloud) {
  now.chosen = node;
  showMark();
  tell(node, aloud);
  const box = aloud ? boxOf(node) : null;
  if (!box) return;
  const y = stage.getBoundingClientRect().top + box[0] * ROW;
  if (y < 0 || y + ROW > window.innerHeight) window.scrollBy(0, y - window.innerHeight / 2);
}

function showPath() {
  const callers = [];
  for (let node = now.focus; node !== ROOT;) callers.unshift(node = parents[node]);
  const shown = callers.length > 7 ? [callers[0], null, ...callers.slice(-5)] : callers;
  path.replaceChildren(...shown.map((node) => (node === null ? element("span", {}, "…")
    : element("button", {type: "button", class: "quiet", on: {click: () => zoom(node)}}, functionOf(node)))));
}

function zoom(node) {
  now.focus = node;
  showPath();
  draw();
  choose(node, true);
}

// ---- search: frames whose words have it; what they hold is counted at the topmost of each stack.

let lowered = null;
const result = element("span", {class: "small", role: "status"});
function search(text) {
  const wanted = text.trim().toLowerCase(), totals = totalsOf(now.metric);
  now.found = null;
  if (wanted !== "") {
    lowered ??= data.strings.map((string) => string.toLowerCase());
    const hasIt = lowered.map((string) => string.includes(wanted));
    const matching = Uint8Array.from({length: frames.length / 3}, (_, at) => Number([0, 1, 2].some((part) => hasIt[frames[3 * at + part]])));
    const inside = new Uint8Array(count + 1), under = new Uint8Array(count + 1), functions = matching.reduce((sum, is) => sum + is, 0);
    let sum = amountOf(now.metric, ROOT).map(() => 0);
    for (let node = 0; node < count; node++) {
      inside[node] = matching[nodeFrames[node]];
      if (inside[node] && !under[parents[node]]) sum = more(sum, amountOf(now.metric, node));
      under[node] = inside[node] | under[parents[node]];
    }
    now.found = {inside};
    result.textContent = `${wholeText(functions)} function${functions === 1 ? "" : "s"}, ${amountText(now.metric, sum)}${isTold(sum) ? `, ${shareText(sum[0], totals[ROOT])} of all` : ""}`;
  } else result.textContent = "";
  draw();
}

// ---- controls

const seek = element("input", {type: "search", placeholder: "Search", "aria-label": "Search functions, modules and files", on: {input: () => search(seek.value)}});
const legend = element("div", {class: "legend"}), valueChoice = element("select", {"aria-label": "Value"}), ofChoice = element("select", {"aria-label": "Recording"});

function showLegend() {
  const pair = ratioOf(now.metric);
  const modules = pair ? [] : [...paints.modules].map(([module, paint]) => {
    const key = element("span", {class: "key"});
    key.style.background = paint;
    return element("span", {}, key, data.strings[module] ?? DASH);
  });
  legend.replaceChildren(pair ? "Colour: now against before" : "Colour: the module", ...(pair ? [element("span", {class: "scale"}, "half", element("span", {class: "ramp"}), "double")] : modules));
}

function fillChoices() {
  const of = statesOf(data.metrics[now.metric].value);
  ofChoice.replaceChildren(...of.map((at) => element("option", {value: at, selected: at === now.metric}, stateOf(at))));
  ofChoice.hidden = of.length < 2;
}

function take(metric) {
  now.metric = metric;
  ordersMade.clear();
  paints = null;
  fillChoices();
  if (!(totalsOf(metric)[now.focus] > 0)) now.focus = now.chosen = ROOT;
  showPath();
  search(seek.value);
  choose(now.chosen, false);
}

// The same recording's, where it has one.
function takeValue(value) {
  const of = statesOf(value);
  take(of.find((at) => stateOf(at) === stateOf(now.metric)) ?? of[0]);
}

function neighbour(node, step) {
  if (node === now.focus) return node;
  const order = orderOf(parents[node]);
  return order[order.indexOf(node) + step] ?? node;
}

const KEYS = {
  ArrowDown: (node) => choose(orderOf(node)[0] ?? node, true),
  ArrowUp: (node) => (node === now.focus && node !== ROOT ? zoom(parents[node]) : choose(node === ROOT ? ROOT : parents[node], true)),
  ArrowLeft: (node) => choose(neighbour(node, -1), true),
  ArrowRight: (node) => choose(neighbour(node, 1), true),
  Home: () => choose(now.focus, true),
  Enter: (node) => zoom(node),
  Escape: () => zoom(ROOT),
  "/": () => seek.focus(),
};

function nodeAt(event) {
  const box = canvas.getBoundingClientRect(), x = event.clientX - box.left;
  return rows[Math.floor((event.clientY - box.top) / ROW)]?.find(([from, wide]) => x >= from && x < from + Math.max(wide, 1))?.[2];
}

function followControls() {
  const values = [...new Map(data.metrics.map((metric) => [metric.value, metric.words]))];
  valueChoice.append(...values.map(([value, text]) => element("option", {value, selected: value === data.metrics[now.metric].value}, text)));
  valueChoice.addEventListener("change", () => takeValue(valueChoice.value));
  ofChoice.addEventListener("change", () => take(Number(ofChoice.value)));
  stage.addEventListener("keydown", (event) => {
    if (!KEYS[event.key] || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    KEYS[event.key](now.chosen);
  });
  seek.addEventListener("keydown", (event) => {
    if (event.key === "Escape" || event.key === "Enter") stage.focus({preventScroll: true});
  });
  canvas.addEventListener("mousemove", (event) => { const node = nodeAt(event); if (node !== undefined) choose(node, false); });
  canvas.addEventListener("click", (event) => { const node = nodeAt(event); if (node !== undefined) zoom(node); });
  const again = () => { paints = null; draw(); };
  new ResizeObserver(() => draw()).observe(stage);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
  for (const [kind, paper] of [["beforeprint", true], ["afterprint", false]]) window.addEventListener(kind, () => { now.paper = paper; again(); });
}

// ---- the page

const title = data.title ?? "a program";
document.title = `${title} - mallab flame`;
document.getElementById("version").textContent = data.mallab_version;
document.getElementById("main").append(element("h1", {}, title));
if (count > 0 && data.metrics.length > 0) {
  document.getElementById("main").append(
    element("div", {class: "controls"}, valueChoice, ofChoice, seek, result, element("button", {type: "button", class: "quiet", on: {click: () => zoom(ROOT)}}, "Whole")),
    legend, told, path, stage);
  followControls();
  take(now.metric);
  data.metrics.forEach((_, at) => setTimeout(totalsOf, 0, at)); // a switch then finds them made
} else document.getElementById("main").append(element("p", {class: "absent"}, "There is no stack with a value."));
if (data.notes.length > 0) document.getElementById("main").append(element("ul", {class: "notes"}, data.notes.map((note) => element("li", {}, data.strings[note]))));
document.documentElement.dataset.ready = "yes";
