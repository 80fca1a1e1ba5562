"""Threads and processes that live for a moment: how many times the unrecorded they take, under every recorder."""

CALLS = 126  # of a thread, as storms.c makes them
PROGRAM = "/bin/true"
TARGET_TIMES = 2
TARGET_EXEC_US = 1000


def times(samples, key, label):
    return [with_[key] / without[key] for with_, without in zip(samples[label], samples["none"])]


def storm(recorder, name, about, threads):
    """One storm: wall and CPU time as multiples of the same round's run without a recorder."""
    threads //= recorder.scale
    helper = recorder.workshop.helper("storms")
    samples = recorder.shuffled(recorder.peers, [helper, name, threads])
    columns = recorder.columns
    plain = min(s["ns"] for s in samples["none"]) / threads / 1000
    recorder.report.table(f"recorder/storm {name}", f"{about}: {threads:,} threads of {CALLS} calls; without a recorder "
                          f"{plain:.1f} us wall a thread at best", columns, [
        ("wall, times the unrecorded", {c: times(samples, "ns", c) for c in columns}, TARGET_TIMES),
        ("CPU, times the unrecorded", {c: times(samples, "cpu_ns", c) for c in columns}, None),
        ("CPU of other processes, us/thread", {c: [s["other_cpu_ns"] / threads / 1000 for s in samples[c]]
                                              for c in columns if "other_cpu_ns" in samples[c][0]}, None),
        ("lost, events", recorder.told(samples, "lost"), 0),
        ("waits for room, stalls", recorder.told(samples, "stalls"), None),
        ("shared memory used, MiB", recorder.told(samples, "segment_used_bytes", 1 << 20), None),
    ])


def execs(recorder, processes):
    """What each program that is started costs: in its own process and its parent's, and in the recorder's."""
    processes //= recorder.scale
    helper = recorder.workshop.helper("storms")
    # Those that write a file for each process, or one for all of them, are not compared.
    recorders = [r for r in recorder.peers if r.label in ("none", "floor", "mallab")]
    samples = recorder.shuffled(recorders, [helper, "execs", processes, PROGRAM])
    columns = [r.label for r in recorders[1:]]

    def per_process(label):
        return [(with_["cpu_ns"] - without["cpu_ns"] + with_.get("other_cpu_ns", 0)) / processes / 1000
                for with_, without in zip(samples[label], samples["none"])]

    recorder.report.table("recorder/execs", f"execs: {processes:,} processes, one after the other, each {PROGRAM}", columns, [
        ("added wall, us/process", {c: [(w["ns"] - n["ns"]) / processes / 1000 for w, n in zip(samples[c], samples["none"])]
                                    for c in columns}, TARGET_EXEC_US),
        ("CPU of other processes, us/process", {c: [s["other_cpu_ns"] / processes / 1000 for s in samples[c]]
                                               for c in columns if "other_cpu_ns" in samples[c][0]}, None),
        ("added CPU of all, us/process", {c: per_process(c) for c in columns}, TARGET_EXEC_US),
    ])


def storms(recorder):
    storm(recorder, "detached", "threads that nobody waits for, created as fast as they can be", 20_000)
    storm(recorder, "joined", "threads one after the other, each waited for", 100_000)
    execs(recorder, 2_000)
