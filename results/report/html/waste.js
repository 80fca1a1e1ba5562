// waste.js - what is resident beyond the live bytes, and what it takes from the kernel.

const WASTE = [["live_bytes", "live"], ["rounding_bytes", "rounding"], ["metadata_bytes", "books"], ["cached_bytes", "cached"],
  ["rest_bytes", "rest"]];

function wasteSection(workload) {
  const rows = [];
  for (const entry of listOf(workload.candidates).filter((one) => !isNamed(one.failed)))
    for (const [key, words] of [["peak", "near the live peak"], ["end", "at the end"]]) {
      const waste = {...objectOf(objectOf(entry.waste)[key])};
      // Results of former versions: free memory below 0 was no figure, nor what it made of the rest.
      for (const part of ["cached_bytes", "metadata_bytes"])
        if (waste[part] < 0) [waste.rest_bytes, waste[part]] = [waste.rest_bytes + waste[part], null];
      if (isNumber(waste.resident_bytes)) rows.push({entry, words, waste});
    }
  if (rows.length === 0)
    return absent("Where memory goes", "this result does not split what is resident; a new one does, as far as the allocators tell:", "mallab ab -o RESULT.json WORKLOAD");
  const widest = Math.max(1, ...rows.map(({waste}) => Math.max(waste.resident_bytes,
    WASTE.reduce((sum, [key]) => sum + Math.max(0, waste[key] || 0), 0))));
  const bar = (waste) => {
    let at = 0;
    const made = drawn("svg", {class: "stack", viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true"});
    WASTE.forEach(([key], part) => {
      const width = 100 * Math.max(0, isNumber(waste[key]) ? waste[key] : 0) / widest;
      made.append(drawn("rect", {class: `waste${part}`, x: at, y: 0, height: 10, width}));
      at += width;
    });
    // Where parts reach beyond it, some of them are not resident: rest is negative.
    const end = Math.min(99.4, 100 * Math.max(0, waste.resident_bytes) / widest);
    made.append(drawn("rect", {class: "mark", x: end, y: 0, height: 10, width: 0.6}));
    return made;
  };
  return section("Where memory goes", "What is resident, split as far as the allocator tells: live bytes, rounding up to what it hands out, its own books, free memory "
    + "that it keeps, and the rest. Near the live peak: where live bytes are highest among the moments at which all threads rest, so live may be less than at the peak. "
    + "The mark on a bar is what is resident: where the parts reach beyond it they are not all in memory, and there is no rest. A dash: not told, or not known.",
    plainTable("Waste", ["Candidate", "", ...WASTE.map(([, words], part) =>
      element("span", {}, element("span", {class: `key waste${part}`, "aria-hidden": "true"}), words)), "resident", "split"],
    rows.map(({entry, words, waste}) => [String(entry.name), words, ...WASTE.map(([key]) => (key === "rest_bytes" && waste[key] < 0 ? DASH : bytesText(waste[key]))),
      bytesText(waste.resident_bytes), bar(waste)])));
}

// Calls to the kernel between the first op and the last, the kinds that any candidate made.
function kernelSection(workload) {
  const rows = listOf(workload.candidates).filter((entry) => !isNamed(entry.failed) && isNumber(objectOf(entry.system_calls).total));
  if (rows.length === 0) return null;
  const kinds = [...new Set(rows.flatMap((entry) => Object.keys(entry.system_calls)))]
    .filter((kind) => kind !== "total" && rows.some((entry) => entry.system_calls[kind] > 0));
  return section("What it takes from the kernel", "System calls of the allocator in one run, by kind; page faults of a timed run, the median.",
    plainTable("System calls", ["Candidate", "system calls", ...kinds, "page faults"], rows.map((entry) => [String(entry.name),
      wholeText(entry.system_calls.total), ...kinds.map((kind) => wholeText(entry.system_calls[kind])), wholeText(entry.faults_minor)])));
}

// Of a walk over the live objects in the order of their allocation; docs/placement.md.
function placementSection(workload) {
  const rows = listOf(workload.candidates).filter((entry) => !isNamed(entry.failed) && isNumber(objectOf(entry.placement).tlb_misses_per_object));
  if (rows.length === 0) return null;
  const share = (value) => (isNumber(value) ? `${significant(100 * value)} %` : DASH);
  return section("Where live objects lie", "Closer together is faster to use for the program, which no replay executes. Misses of a simulated TLB when "
    + "live objects are walked in the order of their allocation; neighbours on one page; pages and cache lines used for each live byte.",
    plainTable("Placement", ["Candidate", "TLB misses an object", "next on the same page", "bytes of pages a byte", "bytes of lines a byte"], rows.map((entry) => {
      const placement = entry.placement;
      return [String(entry.name), significant(placement.tlb_misses_per_object), share(placement.same_page_share),
        significant(placement.page_bytes_per_byte), significant(placement.line_bytes_per_byte)];
    })));
}
