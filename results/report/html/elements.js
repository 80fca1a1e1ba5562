// elements.js - words and elements of the page: numbers as people read them, and text nodes of the words in a result.

// ---- numbers as people read them. What is no number is a dash, whatever a result file held.

const isNumber = (value) => typeof value === "number" && Number.isFinite(value);
const listOf = (value) => (Array.isArray(value) ? value : []);

const DASH = "–";
const MINUS = "−";

function significant(value, digits = 3) {
  if (!isNumber(value)) return DASH;
  const size = Math.abs(value);
  const decimals = size === 0 ? 0 : Math.max(0, Math.min(digits, digits - 1 - Math.floor(Math.log10(size))));
  return value.toLocaleString("en-US", {minimumFractionDigits: decimals, maximumFractionDigits: decimals})
    .replace("-", MINUS);
}

// The largest unit that leaves at least 1 of it.
function inUnits(value, units) {
  if (!isNumber(value)) return DASH;
  let chosen = units[0];
  for (const unit of units) if (Math.abs(value) >= unit[0]) chosen = unit;
  return `${significant(value / chosen[0])} ${chosen[1]}`;
}

const BYTE_UNITS = [[1, "B"], [1e3, "kB"], [1e6, "MB"], [1e9, "GB"], [1e12, "TB"]];
const TIME_UNITS = [[1, "ns"], [1e3, "µs"], [1e6, "ms"], [1e9, "s"]];
const COUNT_UNITS = [[1, ""], [1e3, "k"], [1e6, "M"], [1e9, "G"]];

const bytesText = (value) => (value === 0 ? "0" : inUnits(value, BYTE_UNITS));
// Words for a time as the terminal has them (footprint/base/support.c): three digits up to 100 s, then minutes with seconds, and hours with minutes.
function longText(seconds) {
  const two = (number) => String(number).padStart(2, "0");
  if (seconds < 5999.5) return `${Math.floor(Math.round(seconds) / 60)} min ${two(Math.round(seconds) % 60)} s`;
  return `${Math.floor(seconds / 3600).toLocaleString("en-US")} h ${two(Math.floor(seconds / 60) % 60)} min`;
}
const timeText = (value) => (value === 0 ? "0" : isNumber(value) && value >= 99.95e9 ? longText(value / 1e9) : inUnits(value, TIME_UNITS));
const countText = (value) => (isNumber(value) && Math.abs(value) < 1e4
  ? significant(value) : inUnits(value, COUNT_UNITS).trim());
const wholeText = (value) => (isNumber(value) ? Math.round(value).toLocaleString("en-US") : DASH);

function percentText(ratio) {
  if (!isNumber(ratio)) return DASH;
  const percent = (ratio - 1) * 100;
  const size = Math.abs(percent);
  const sign = percent < 0 && size >= 0.05 ? MINUS : "+"; // zero has one sign, as on the screen
  return `${sign}${size.toFixed(size < 99.95 ? 1 : 0)} %`;
}

// ---- elements of the page. Words of results become text nodes, never markup.

function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key === "on") for (const [event, action] of Object.entries(value)) made.addEventListener(event, action);
    else if (value !== null && value !== undefined && value !== false) made.setAttribute(key, value === true ? "" : value);
  }
  for (const child of children.flat(2)) if (child !== null && child !== undefined) made.append(child);
  return made;
}

const SVG = "http://www.w3.org/2000/svg";

function drawn(name, attributes, ...children) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes || {})) made.setAttribute(key, value);
  made.append(...children.filter((child) => child !== null));
  return made;
}

// Tells screen readers when something on the page changed by a key.
function say(words) {
  document.getElementById("said").textContent = words;
}
