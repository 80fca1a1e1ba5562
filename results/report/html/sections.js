// sections.js - a result and its workloads from top to bottom: the decision, then charts, then what it all rests on.

function noiseLine(workload) {
  return isNamed(workload.noise_words) ? element("p", {class: "noise-line"}, element("strong", {}, "Noise: "), workload.noise_words, ".") : null;
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

// What a failure holds beyond its words.
function failureWords(failure) {
  const told = [];
  if (isNumber(failure.live_bytes) && failure.cause !== "oom") told.push(`${bytesText(failure.live_bytes)} in ${wholeText(failure.live_objects)} objects were live`);
  if (isNumber(failure.limit_bytes) && failure.cause !== "limit" && failure.cause !== "oom") told.push(`the limit was ${bytesText(failure.limit_bytes)}`);
  return told.length > 0 ? ` (${told.join("; ")})` : "";
}

// What was lost is told apart from what was left out as asked: windows that are removed, and objects made unrecorded.
function lossWords(workload) {
  const told = [];
  if (workload.lost_calls > 0) told.push(`${wholeText(workload.lost_calls)} calls were lost${workload.lost_known === false ? ", perhaps more" : ""}`);
  else told.push(workload.lost_known === false ? "how many calls were lost is not known" : "no call of what was recorded was lost");
  if (workload.removed_calls > 0) told.push(`${wholeText(workload.removed_calls)} calls were in windows that are removed`);
  if (workload.left_out_calls > 0) told.push(`${wholeText(workload.left_out_calls)} calls on objects that were made unrecorded are left out`);
  return told.join("; ");
}

function incompleteness(workload) {
  return workload.complete !== false ? null : element("p", {class: "incomplete"},
    `The recording is not whole: ${workload.incomplete_why || "the cause is not told"}; ${lossWords(workload)}.`);
}

function warnings(result, workload) {
  const lines = [];
  if (workload.live === "from_middle")
    lines.push("What was live when the recording begins is not known: live bytes and resident memory are lower bounds.");
  if (workload.live === "left_behind")
    lines.push("What merged processes left behind when they ended stays live: live bytes and resident memory are upper bounds.");
  if (workload.live === "paused")
    lines.push("What was made or released in pauses is not known: live bytes and resident memory are not exact.");
  if (isNumber(workload.rounds) && workload.rounds < 8)
    lines.push(`${workload.rounds} rounds: a verdict takes at least 8 (mallab ab -n 10).`);
  for (const entry of [...listOf(workload.candidates), objectOf(workload.control)]) {
    if (isNamed(entry.failed)) lines.push(`${entry.name}: ${entry.failed.startsWith("died") ? "" : "failed: "}${entry.failed}${failureWords(objectOf(entry.failure))}`);
    if (isNamed(objectOf(entry.resident).not_predicted_why))
      lines.push(`Memory of ${entry.name} is not predicted: ${entry.resident.not_predicted_why}`);
    if (listOf(entry.substituted).length > 0)
      lines.push(`${entry.name} has no ${entry.substituted.join(", ")}: another of its functions stood in.`);
    if (isNamed(objectOf(entry.latency).unavailable)) lines.push(`Latency of ${entry.name} was not measured: ${entry.latency.unavailable}`);
  }
  if (isNamed(workload.start_words)) lines.push(`At start: ${workload.start_words}.`);
  if (isNamed(workload.unproven_words)) lines.push(`Settings without proof: ${workload.unproven_words}.`);
  if (isNamed(workload.end_words)) lines.push(`At the end ${workload.end_words}.`);
  if (result.one_thread === true && workload.threads > 1)
    lines.push(`The calls of ${wholeText(workload.threads)} threads were replayed on one (--one-thread), which can reverse a verdict.`);
  const timed = workload.ops - (workload.inherited_ops || 0);
  if (isNumber(timed) && timed < 20000)
    lines.push(`${wholeText(timed)} calls are few: the allocators' own start may be most of what is measured.`);
  if (isNamed(workload.unsteady_words)) lines.push(`Unsteady: ${workload.unsteady_words}.`);
  if (isNamed(workload.steadiness_words)) lines.push(`Steadiness: ${workload.steadiness_words}.`);
  if (workload.inherited_ops > 0)
    lines.push(`${wholeText(workload.inherited_ops)} calls create what was there before; they are not timed.`);
  if (workload.memory_rounds === 0)
    lines.push("Resident memory is of the timed runs, on the machine's clock: what allocators give back by the clock they had little time for.");
  for (const one of listOf(result.disturbances).map(objectOf))
    if (isNamed(one.text)) lines.push(isNamed(one.remedy) ? `${one.text}: ${one.remedy}` : one.text);
  for (const one of listOf(result.missing).map(objectOf)) lines.push(`${one.name} was not measured: ${one.reason}`);
  return lines.length === 0 ? null : element("ul", {class: "warnings"}, lines.map((line) => element("li", {}, line)));
}

// As a shell takes it: a name in a result cannot become another command when the line is pasted.
const shellWord = (word) => (/^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

// What differs from the defaults of `mallab ab`. A validation is repeated with the program's own arguments.
function optionsOf(result, workload) {
  const options = ["-n", String(result.rounds_asked ?? result.rounds), "--seed", String(result.seed)];
  if (isNamed(result.touch) && result.touch !== "page") options.push("--touch", result.touch);
  const recordings = objectOf(result.validation).recordings_asked;
  if (isNumber(recordings) && recordings !== 3) options.push("--recordings", String(recordings));
  if (objectOf(result.validation).time_of === "process" && isNamed(result.validation.process)) options.push("--process", shellWord(result.validation.process));
  if (result.validation) return options;
  if (listOf(workload.candidates).some((entry) => objectOf(objectOf(entry).latency).passes > 0)) options.push("--latency");
  if (isNumber(result.memory_rounds_asked) && result.memory_rounds_asked !== 3) options.push("--memory-rounds", String(result.memory_rounds_asked));
  if (result.memory_rounds_asked > 0 && result.memory_idle_ms >= 0 && result.memory_idle_ms !== 60000) options.push("--idle", `${result.memory_idle_ms}ms`);
  if (isNumber(result.limit_bytes)) options.push("--limit", String(result.limit_bytes));
  if (isNamed(result.limit_by)) options.push("--limit-by", result.limit_by.startsWith("cgroup") ? "cgroup" : "data");
  if (result.check === true) options.push("--check");
  if (result.one_thread === true) options.push("--one-thread");
  return options;
}

function tuneCommandOf(result) {
  const tune = result.tune, words = ["mallab", "tune", "-a", listOf(tune.allocators).join(","), "-b", String(tune.default), "--memory", String(tune.memory)];
  if (isNumber(tune.budget_ns)) words.push("--budget", `${Math.ceil(tune.budget_ns / 1e6)}ms`);
  return [...words, "--seed", String(tune.seed), String(objectOf(tune.workload).name)].map(shellWord).join(" ");
}

function commandOf(result) {
  if (result.tune) return tuneCommandOf(result);
  const first = objectOf(listOf(result.workloads)[0]);
  const names = listOf(first.candidates).map((entry) => String(objectOf(entry).name));
  const words = ["mallab", result.validation ? "validate" : "ab", "-a", shellWord(names.join(",")), "-b", shellWord(String(result.baseline)),
    ...optionsOf(result, first).map((word) => (/^--?[a-z]+(-[a-z]+)*$/.test(word) ? word : shellWord(word)))];
  if (result.validation)
    return [...words, "--", ...[objectOf(result.validation).command].flat().map((word) => shellWord(String(word)))].join(" ");
  const files = listOf(result.workloads).map((workload) => String(objectOf(workload).name));
  return [...words, ...files.map((file) => shellWord(file.startsWith("-") ? `./${file}` : file))].join(" ");
}

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
  add("Rounds", `${wholeText(result.rounds)} of ${wholeText(result.rounds_asked ?? result.rounds)}${result.stopped === true ? ", stopped" : ""}`);
  add("Seed, resamples", `${result.seed}, ${result.resamples ?? DASH}`);
  add("Memory rounds, rest", isNumber(result.memory_rounds_asked)
    ? `${result.memory_rounds_asked} on the recorded clock, ${result.memory_idle_ms > 0 ? timeText(result.memory_idle_ms * 1e6) : "none"}` : null);
  add("Limit of memory", isNumber(result.limit_bytes) ? `${bytesText(result.limit_bytes)}${isNamed(result.limit_by) ? `, by ${result.limit_by}` : ""}` : "none");
  add("Writes to new memory", result.touch);
  const settings = [];
  for (const workload of listOf(result.workloads).slice(0, 1))
    for (const entry of [...listOf(workload.candidates), objectOf(workload.floor)].filter((one) => isNamed(one.name)))
      settings.push([wrapping(entry.name), isNamed(entry.version) ? entry.version : DASH,
        wrapping(Object.entries(objectOf(entry.environment)).map(([key, value]) => `${key}=${value}`).join(" ") || DASH), isNamed(entry.library) ? wrapping(entry.library) : DASH]);
  return section("What it rests on", null,
    element("p", {}, "To measure again: ", element("code", {class: "command"}, commandOf(result))),
    element("div", {class: "pair"}, plainTable("Machine and settings", ["", ""], rows),
      plainTable("Candidates and their settings", ["Candidate", "Version", "Settings", "Library"], settings)));
}

function workloadSection(result, workload, id) {
  return element("article", {id, class: "workload", "aria-labelledby": `${id}-title`},
    element("h2", {id: `${id}-title`}, isNamed(workload.name) ? workload.name : "workload"),
    incompleteness(workload), workloadFacts(workload),
    isNamed(workload.advice) ? element("p", {class: "advice"}, element("strong", {}, "Advice. "), workload.advice) : null,
    ...listOf(workload.deploy).map((one) => element("p", {}, `To paste, ${one.name}: `, element("code", {class: "command whole", tabindex: "0"}, String(one.line)))),
    candidateTable(workload), noiseLine(workload), warnings(result, workload),
    residentSection(workload), wasteSection(workload), latencySection(workload), kernelSection(workload),
    wholeSection(workload, result), placementSection(workload), ...profileSections(workload));
}
