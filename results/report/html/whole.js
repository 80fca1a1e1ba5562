// whole.js - whole processes of the replays, timed by hyperfine: a check that needs no trust in our clock.

function wholeSection(workload, result) {
  const rows = [...listOf(workload.candidates), objectOf(workload.floor)].map((entry, at, all) =>
    ({name: at === all.length - 1 ? `${entry.name} (the harness alone)` : String(entry.name), isBaseline: at === 0, whole: objectOf(entry.whole_process)}));
  if (!rows.some(({whole}) => isNumber(whole.wall_ns_median) || isNamed(whole.failed)))
    return result.validation || result.tune ? null
      : absent("Whole processes", "the replays were not timed from outside; to have it:", "mallab ab --hyperfine");
  const told = rows.filter(({whole}) => isNumber(whole.wall_ns_median)), failed = rows.filter(({whole}) => isNamed(whole.failed));
  return section("Whole processes, timed by hyperfine", "Each replay from its start to its end, in rounds of its own: loading, reading and decoding the workload "
    + "are in it, and none is all of that without an allocator. It bears no verdict.",
    plainTable("Whole processes", ["Candidate", "wall, median", "change", "95 % range", "user, mean", "system, mean", "rounds"],
      told.map(({name, isBaseline, whole}) => [name, timeText(whole.wall_ns_median),
      isBaseline ? "baseline" : percentText(whole.ratio), isNumber(whole.ratio_low) ? `${percentText(whole.ratio_low)} to ${percentText(whole.ratio_high)}` : DASH,
      timeText(whole.user_ns_mean), timeText(whole.system_ns_mean), wholeText(whole.rounds)])),
    failed.length > 0 ? element("ul", {class: "warnings"}, failed.map(({name, whole}) => element("li", {}, `${name}: ${whole.failed}`))) : null);
}
