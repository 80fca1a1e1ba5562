// elements.js - elements of the page. Words of results become text nodes, never markup.

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
  made.append(...children);
  return made;
}

// What screen readers are told when something on the page changed by a key.
function say(words) {
  document.getElementById("said").textContent = words;
}

function section(title, explanation, ...content) {
  return element("section", {class: "part"}, element("h3", {}, title),
    explanation ? element("p", {class: "explain"}, explanation) : null, ...content);
}

function absent(title, words, command) {
  return element("p", {class: "absent"}, element("strong", {}, `${title}: `), words,
    command ? " " : null, command ? element("code", {}, command) : null);
}

// Columns of figures stand on the right, digits below digits; words on the left.
const isFigure = (cell) => /^[+\u2212\u2013\d]/.test(Array.isArray(cell) ? cell[0] : typeof cell === "string" ? cell : "");

function plainTable(caption, heads, rows) {
  const isRight = heads.map((_, at) => at > 0 && rows.length > 0 && rows.every((row) => isFigure(row[at])));
  const side = (at) => (isRight[at] ? {class: "number"} : {});
  return element("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": caption},
    element("table", {class: "figures"}, element("caption", {class: "unseen"}, caption),
      heads.some((head) => head !== "") ? element("thead", {}, element("tr", {}, heads.map((head, at) => element("th", {scope: "col", ...side(at)}, head)))) : null,
      element("tbody", {}, rows.map((row) => element("tr", {}, row.map((cell, at) =>
        (at === 0 ? element("th", {scope: "row"}, typeof cell === "string" && cell.length > 20 ? wrapping(cell) : cell) : element("td", side(at), cell))))))));
}

// A cell of a table that may take several lines: names of settings and files break behind their signs, where there are any.
const wrapping = (text) => element("span", {class: "words"},
  String(text).split(/(?<=[_+=,:;/&])/).flatMap((part, at) => (at > 0 ? [element("wbr"), part] : [part])));
