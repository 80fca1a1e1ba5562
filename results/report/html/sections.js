// sections.js - a result and its workloads from top to bottom: the decision, then charts, then what it all rests on.

// The lines that the table has below it, less those that a part of this page shows: notes[] of the result. To paste: never wrapped.
function notesOf(notes) {
  const rows = listOf(notes).map(objectOf).filter((note) => isNamed(note.text) && note.severity !== "advice");
  return rows.length === 0 ? null : element("ul", {class: "notes"}, rows.map((note) =>
    element("li", {class: note.severity === "warning" ? "warning" : null}, element("strong", {}, `${note.label}: `), note.text,
      ...(isNamed(note.detail) ? [": ", element("code", {class: "command whole", tabindex: "0"}, note.detail)] : []))));
}

// Notes before the verdict stand above everything: nothing below counts without them.
function notesAbove(notes) {
  const first = listOf(notes).findIndex((note) => objectOf(note).severity === "advice");
  return first > 0 ? first : 0;
}

const verdictLines = (workload) => listOf(workload.notes).map(objectOf).filter((note) => isNamed(note.text) && note.severity === "advice");

function verdictOf(workload) {
  const notes = verdictLines(workload), lines = notes.filter((note) => !isNamed(note.detail)).map((note) => element("li", {}, note.text));
  const tries = notes.filter((note) => isNamed(note.detail)).map((note) => element("p", {class: "small"}, `To try ${note.text}: `, element("code", {class: "command whole", tabindex: "0"}, note.detail)));
  return lines.length > 0 || tries.length > 0 ? [element("div", {class: "advice"}, element("strong", {}, "Verdict"), element("ul", {class: "bars"}, lines), tries)] : [];
}

function workloadFacts(workload) {
  const facts = [];
  const add = (words, value) => value && facts.push(element("div", {}, element("dt", {}, words), element("dd", {}, value)));
  add("Program", isNamed(workload.program_words) ? workload.program_words : isNamed(workload.program) ? workload.program : null);
  add("Share", isNamed(workload.share_words) ? workload.share_words : null);
  add("Calls", wholeText(workload.ops - (workload.inherited_ops || 0)));
  add("Threads", wholeText(workload.threads));
  add("Recorded", workload.duration_ns > 0 ? timeText(workload.duration_ns) : null);
  add("Live peak", bytesText(workload.live_peak_bytes));
  add("Rounds", wholeText(workload.rounds));
  return element("dl", {class: "facts"}, facts);
}

// As a shell takes it: a name in a result cannot become another command when the line is pasted.
const shellWord = (word) => (/^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

// What differs from the defaults of `mallab ab`.
function optionsOf(result, workload) {
  const options = ["-n", String(result.rounds_asked ?? result.rounds), "--seed", String(result.seed)];
  if (isNamed(result.touch) && result.touch !== "page") options.push("--touch", result.touch);
  if (listOf(workload.candidates).some((entry) => objectOf(objectOf(entry).latency).passes > 0)) options.push("--latency");
  if (isNumber(result.memory_rounds_asked) && result.memory_rounds_asked !== 3) options.push("--memory-rounds", String(result.memory_rounds_asked));
  if (result.memory_rounds_asked > 0 && result.memory_idle_ms >= 0 && result.memory_idle_ms !== 60000) options.push("--idle", `${result.memory_idle_ms}ms`);
  if (isNumber(result.limit_bytes)) options.push("--limit", String(result.limit_bytes));
  if (isNamed(result.limit_by)) options.push("--limit-by", result.limit_by.startsWith("cgroup") ? "cgroup" : "data");
  if (result.check === true) options.push("--check");
  if (result.one_thread === true) options.push("--one-thread");
  return options;
}

function confirmCommandOf(result) {
  const about = objectOf(result.confirmation);
  const names = [result.baseline, ...listOf(result.confirmed).map(objectOf).filter((one) => one.control !== true).map((one) => one.candidate)];
  const words = ["mallab", "confirm", "-a", shellWord(names.map(String).join(",")), "-b", shellWord(String(result.baseline))];
  for (const key of ["start", "ready", "load", "stop"])
    if (isNamed(about[key])) words.push(`--${key}`, shellWord(about[key]));
  return [...words, ...(isNamed(about.start) ? [] : ["--", ...listOf(about.command).map((word) => shellWord(String(word)))])].join(" ");
}

function commandOf(result) {
  if (result.confirmation && listOf(result.workloads).length === 0) return confirmCommandOf(result);
  const first = objectOf(listOf(result.workloads)[0]);
  const names = listOf(first.candidates).map((entry) => String(objectOf(entry).name));
  const words = ["mallab", "ab", "-a", shellWord(names.join(",")), "-b", shellWord(String(result.baseline)),
    ...optionsOf(result, first).map((word) => (/^--?[a-z]+(-[a-z]+)*$/.test(word) ? word : shellWord(word)))];
  const files = listOf(result.workloads).map((workload) => String(objectOf(workload).name));
  return [...words, ...files.map((file) => shellWord(file.startsWith("-") ? `./${file}` : file))].join(" ");
}

// The program itself, of which nothing was replayed: what ran, in the words of the screen.
const confirmHead = ({ran, counts}) => [element("h2", {}, wrapping(ran)), element("p", {class: "explain"}, counts)];

function basisSection(result) {
  const machine = objectOf(result.machine);
  const rows = [];
  const add = (words, value) => rows.push([words, value === null || value === undefined || value === "" ? DASH : wrapping(value)]);
  add("Processor", machine.cpu);
  add("Processors", `${machine.cpus ?? DASH} usable, ${machine.cores ?? DASH} cores`);
  add("Memory", bytesText(machine.memory_bytes));
  add("Kernel, C library", [machine.kernel, machine.libc].filter(isNamed).join(", "));
  add("Virtual machine", machine.virtual_machine === true ? "yes" : machine.virtual_machine === false ? "no" : null);
  add("Huge pages", machine.transparent_huge_pages);
  add("Governor", machine.governor);
  add("Load before", isNumber(machine.load_1_minute) ? significant(machine.load_1_minute) : null);
  add("mallab", result.mallab_version);
  add("Measured", result.created_unix_ns > 0 ? new Date(result.created_unix_ns / 1e6).toISOString().replace("T", " ").slice(0, 16) + " UTC" : null);
  if (!result.confirm_table) add("Rounds", `${wholeText(result.rounds)} of ${wholeText(result.rounds_asked ?? result.rounds)}${result.stopped === true ? ", stopped" : ""}`);
  add("Seed, resamples", `${result.seed}, ${result.resamples ?? DASH}`);
  if (!result.confirm_table) add("Memory rounds, rest", isNumber(result.memory_rounds_asked)
    ? `${result.memory_rounds_asked} on the recorded clock, ${result.memory_idle_ms > 0 ? timeText(result.memory_idle_ms * 1e6) : "none"}` : null);
  add("Limit of memory", isNumber(result.limit_bytes) ? `${bytesText(result.limit_bytes)}${isNamed(result.limit_by) ? `, by ${result.limit_by}` : ""}` : "none");
  add("Writes to new memory", result.touch);
  const settings = [];
  for (const workload of listOf(result.workloads).slice(0, 1))
    for (const entry of [...listOf(workload.candidates), objectOf(workload.floor)].filter((one) => isNamed(one.name)))
      settings.push([wrapping(entry.name), isNamed(entry.version) ? entry.version : DASH,
        wrapping(Object.entries(objectOf(entry.environment)).map(([key, value]) => `${key}=${value}`).join(" ") || DASH), isNamed(entry.library) ? wrapping(entry.library) : DASH]);
  return element("details", {class: "part"}, element("summary", {}, "What it rests on: machine, settings, and the command to measure again"),
    element("p", {}, "To measure again: ", element("code", {class: "command"}, commandOf(result))),
    element("div", {class: "pair"}, plainTable("Machine and settings", ["", ""], rows),
      plainTable("Candidates and their settings", ["Candidate", "Version", "Settings", "Library"], settings)));
}

// The decision, and below it, closed where it is one of several, what it comes from.
function workloadSection(result, workload, {id, name, isAlone}) {
  const above = notesAbove(workload.notes), notes = listOf(workload.notes);
  const decision = [notesOf(notes.slice(0, above)), verdictOf(workload), workloadFacts(workload), candidateTable(workload), roundsSection(workload), notesOf(notes.slice(above))];
  const parts = [residentSection(workload), wasteSection(workload), latencySection(workload), kernelSection(workload), ...profileSections(workload)];
  if (isAlone) return element("article", {id, class: "workload", "aria-labelledby": `${id}-title`}, element("h2", {id: `${id}-title`}, name), decision, parts);
  const verdict = verdictLines(workload).filter((note) => !isNamed(note.detail)).map((note) => note.text).join("; ");
  return element("details", {id, class: "workload"}, element("summary", {}, element("h2", {}, name), element("span", {class: "small"}, verdict)), decision, parts);
}
