// sections.js - a result and its workloads from top to bottom: the decision, then charts, then what it all rests on.

function noiseLine(workload) {
  const time = noiseOf(workload, "time", ""), peak = noiseOf(workload, "resident", "peak_");
  if (!time && !peak) return null;
  const span = (range) => (range ? `${percentText(range[0])} to ${percentText(range[1])}` : DASH);
  return element("p", {class: "noise-line"}, element("strong", {}, "Noise floor: "), "the baseline against itself differs by ",
    span(time), " in time and ", span(peak), " in peak memory. A difference counts when its interval leaves out 0 and its middle lies outside this.");
}

function workloadFacts(workload) {
  const facts = [];
  const add = (words, value) => value && facts.push(element("div", {}, element("dt", {}, words), element("dd", {}, value)));
  add("Program", isNamed(workload.program_words) ? workload.program_words : isNamed(workload.program) ? workload.program : null);
  add("Calls", wholeText(workload.ops));
  add("Threads", wholeText(workload.threads));
  add("Recorded", workload.duration_ns > 0 ? timeText(workload.duration_ns) : null);
  add("Live peak", bytesText(workload.live_peak_bytes));
  add("Rounds", wholeText(workload.rounds));
  return element("dl", {class: "facts"}, facts);
}

function warnings(result, workload) {
  const words = [];
  if (workload.complete === false)
    words.push(`The recording is incomplete: ${workload.incomplete_why || "the cause is not told"}; ${wholeText(workload.lost_calls)} calls are missing`
      + `${workload.lost_known === false ? ", perhaps more" : ""}.`);
  if (isNumber(workload.rounds) && workload.rounds < 8)
    words.push(`${workload.rounds} rounds: a verdict takes at least 8 (mallab ab -n 10).`);
  for (const entry of [...listOf(workload.candidates), objectOf(workload.control)])
    if (isNamed(entry.failed)) words.push(`${entry.name} failed: ${entry.failed}`);
  for (const one of listOf(result.disturbances).map(objectOf))
    if (isNamed(one.text)) words.push(isNamed(one.remedy) ? `${one.text}: ${one.remedy}` : one.text);
  for (const one of listOf(result.missing).map(objectOf)) words.push(`${one.name} was not measured: ${one.reason}`);
  return words.length === 0 ? null : element("ul", {class: "warnings"}, words.map((line) => element("li", {}, line)));
}

function fidelitySection(result) {
  const rows = listOf(result.candidates).map(objectOf).filter((entry) => entry.real && entry.predicted);
  if (rows.length === 0)
    return absent("Fidelity", "how near the replay comes to the real program was not measured; to measure it:", "mallab validate -- COMMAND");
  const share = (value) => (isNumber(value) ? percentText(1 + value) : DASH);
  return section("Fidelity: reality beside prediction", "The real program was run under each candidate. Errors are predicted over real, less 1.",
    plainTable("Fidelity", ["Candidate", "real peak", "predicted peak", "error, all", "error, heap", "time's sign"],
      rows.map((entry) => { const real = objectOf(entry.real), told = objectOf(entry.predicted), error = objectOf(entry.error);
        return [String(entry.name), bytesText(real.peak_total_bytes), bytesText(told.peak_total_bytes), share(error.peak_total), share(error.peak_heap),
          isNamed(error.time_sign) ? error.time_sign : DASH]; })));
}

// As a shell takes it: a name in a result cannot become another command when the line is pasted.
const shellWord = (word) => (/^[A-Za-z0-9_@%+=:,./-]+$/.test(word) && !word.startsWith("-") ? word : `'${word.replaceAll("'", "'\\''")}'`);

function commandOf(result) {
  const first = objectOf(listOf(result.workloads)[0]);
  const names = listOf(first.candidates).map((entry) => String(objectOf(entry).name));
  const files = listOf(result.workloads).map((workload) => String(objectOf(workload).name));
  const words = ["mallab", "ab", "-a", names.join(","), "-b", String(result.baseline), "-n", String(result.rounds_asked ?? result.rounds),
    "--seed", String(result.seed)];
  if (isNamed(result.touch) && result.touch !== "page") words.push("--touch", result.touch);
  return [...words.map((word, at) => (at % 2 === 0 && word.startsWith("-") ? word : shellWord(word))),
    ...files.map((file) => shellWord(file.startsWith("-") ? `./${file}` : file))].join(" ");
}

function basisSection(result) {
  const machine = objectOf(result.machine);
  const rows = [];
  const add = (words, value) => rows.push([words, value === null || value === undefined || value === "" ? DASH : String(value)]);
  add("Processor", machine.cpu);
  add("Processors", `${machine.cpus ?? DASH} usable, ${machine.cores ?? DASH} cores`);
  add("Memory", bytesText(machine.memory_bytes));
  add("Kernel, C library", [machine.kernel, machine.libc].filter(isNamed).join(", "));
  add("Virtual machine", machine.virtual_machine === true ? "yes" : machine.virtual_machine === false ? "no" : null);
  add("Huge pages", machine.transparent_huge_pages);
  add("Governor", machine.governor);
  add("Load before", machine.load_1_minute);
  add("mallab", result.mallab_version);
  add("Measured", result.created_unix_ns > 0 ? new Date(result.created_unix_ns / 1e6).toISOString().replace("T", " ").slice(0, 16) + " UTC" : null);
  add("Rounds", `${wholeText(result.rounds)} of ${wholeText(result.rounds_asked ?? result.rounds)}${result.stopped === true ? ", stopped" : ""}`);
  add("Seed, resamples", `${result.seed}, ${result.resamples ?? DASH}`);
  add("Writes to new memory", result.touch);
  const settings = [];
  for (const workload of listOf(result.workloads).slice(0, 1))
    for (const entry of [...listOf(workload.candidates), objectOf(workload.floor)].filter((one) => isNamed(one.name)))
      settings.push([entry.name, isNamed(entry.version) ? entry.version : DASH,
        Object.entries(objectOf(entry.environment)).map(([key, value]) => `${key}=${value}`).join(" ") || DASH, entry.library || DASH]);
  return section("What it rests on", null,
    element("p", {}, "To measure again: ", element("code", {class: "command"}, commandOf(result))),
    element("div", {class: "pair"}, plainTable("Machine and settings", ["", ""], rows),
      plainTable("Candidates and their settings", ["Candidate", "Version", "Settings", "Library"], settings)));
}

function workloadSection(result, workload, id) {
  return element("article", {id, class: "workload", "aria-labelledby": `${id}-title`},
    element("h2", {id: `${id}-title`}, isNamed(workload.name) ? workload.name : "workload"),
    workloadFacts(workload),
    isNamed(workload.advice) ? element("p", {class: "advice"}, element("strong", {}, "Advice. "), workload.advice) : null,
    candidateTable(workload), noiseLine(workload), warnings(result, workload),
    residentSection(workload), wasteSection(workload), latencySection(workload), ...profileSections(workload));
}
