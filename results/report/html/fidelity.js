// fidelity.js - of a validation: reality beside prediction, and the bars.

const BARS = [["peak_total", "Peak within 3 % in total"], ["peak_heap", "Peak within 10 % in the heap's part"],
  ["memory_order", "Order of candidates whose real peaks differ by more than 5 %"],
  ["time_sign", "Sign of the time difference, where reality is outside its noise"]];

const SIGNS = {right: "right", wrong: "wrong", noise: "not judged: noise, or under 8 rounds", unknown: "not known"};

function signedTime(ns) {
  return isNumber(ns) ? `${ns < 0 ? MINUS : "+"}${timeText(Math.abs(ns))}` : DASH;
}

// Of a bar of memory also: how many of its figures lie within what real runs did.
function barLine([key, words], bars, within) {
  const bar = objectOf(bars[key]), own = objectOf(within[key]);
  const isMet = bar.checked > 0 && bar.met === bar.checked;
  const [kind, sign, told] = !(bar.checked > 0) ? ["open", "?", "no figure"] : isMet ? ["good", "✓", "met"] : ["bad", "✗", "missed"];
  return element("li", {}, element("span", {class: `verdict ${kind}`}, element("span", {"aria-hidden": "true"}, `${sign} `), told),
    ` ${words}${bar.checked > 0 ? `: ${wholeText(bar.met)} of ${wholeText(bar.checked)}` : ""}${own.checked > 0 ? `; within reality's own range: ${wholeText(own.met)} of ${wholeText(own.checked)}` : ""}`);
}

// Results of earlier versions are of one recording and do not say so.
function recordingsLine(about) {
  if (!(about.recordings_asked > 1)) return null;
  const fewer = about.recordings < about.recordings_asked ? `, of the ${wholeText(about.recordings_asked)} asked for` : "";
  return element("p", {class: "explain above"}, about.recordings > 1
    ? `What is predicted of memory is the median over ${wholeText(about.recordings)} recordings${fewer}.`
    : `What is predicted of memory is of one recording alone${fewer}.`);
}

function fidelitySection(result) {
  const rows = listOf(result.candidates).map(objectOf).filter((entry) => entry.real && entry.predicted);
  if (rows.length === 0)
    return absent("Fidelity", "how near the replay comes to the real program was not measured; to measure it:", "mallab validate -- COMMAND");
  const share = (value) => (isNumber(value) ? percentText(1 + value) : DASH);
  const about = objectOf(result.validation);
  const memory = rows.map((entry) => {
    const real = objectOf(entry.real), told = objectOf(entry.predicted), error = objectOf(entry.error);
    return [String(entry.name), bytesText(real.peak_total_bytes), bytesText(told.peak_total_bytes), share(error.peak_total),
      bytesText(real.peak_heap_bytes), bytesText(told.peak_heap_bytes), share(error.peak_heap), share(error.mean_heap), share(error.end_heap)];
  });
  const time = rows.map((entry, at) => {
    const real = objectOf(entry.real), told = objectOf(entry.predicted), error = objectOf(entry.error);
    if (at === 0) return [String(entry.name), timeText(real.cpu_ns), "baseline", DASH, DASH];
    return [String(entry.name), signedTime(real.time_difference_ns), isNumber(real.time_ratio_low)
      ? `${percentText(real.time_ratio_low)} to ${percentText(real.time_ratio_high)}` : DASH, signedTime(told.time_difference_ns),
    SIGNS[error.time_sign] || DASH];
  });
  const failed = rows.filter((entry) => isNamed(entry.failed)).map((entry) => `${entry.name} failed: ${entry.failed}`);
  return section("Fidelity: reality beside prediction", "The real program was run under each candidate. Errors are predicted over real, less 1.",
    about.bars ? element("ul", {class: "bars"}, BARS.map((bar) => barLine(bar, objectOf(about.bars), objectOf(about.within_reality)))) : null,
    recordingsLine(about),
    plainTable("Memory", ["Candidate", "real peak", "predicted", "error", "real, heap", "predicted", "error", "error of the mean, heap", "error of the end, heap"], memory),
    element("p", {class: "explain above"}, `Processor time ${about.time_of === "process" ? "of the process" : "of the whole command"} beside `
      + "the baseline's, and what the replay makes of the difference."),
    plainTable("Time", ["Candidate", "real", "95 % range", "predicted", "its sign"], time),
    failed.length > 0 ? element("ul", {class: "warnings"}, failed.map((line) => element("li", {}, line))) : null);
}
