#!/usr/bin/env python3
"""The real Android recording converts, and its counts are those of an independent reading of the text."""
import os
import subprocess
import sys
import tempfile
import zipfile

data = os.environ.get("MALLAB_SHARED_DATA",
                      os.path.join(os.environ["MALLAB_SOURCE"], "..", "shared", "data"))
trace = os.path.join(data, "android-systemui.zip")
if not os.path.exists(trace):
    print("skipped: no android-systemui.zip in", data)
    sys.exit(77)

expected = {"threads": 0, "exits": 0, "free_of_unknown": 0, "lost_free": 0, "requested_bytes": 0,
            "live_bytes_peak": 0}
live, alive, live_bytes = {}, set(), 0
with zipfile.ZipFile(trace) as archive:
    text = archive.read(archive.namelist()[0]).decode()
for line in text.splitlines():
    thread, call, address, *numbers = line.replace(":", "").split()
    if thread not in alive:
        alive.add(thread)
        expected["threads"] += 1
    if call == "thread_done":
        alive.remove(thread)
        expected["exits"] += 1
        continue
    expected[call] = expected.get(call, 0) + 1
    if call == "free":
        live_bytes -= live.pop(address, 0)
        continue
    if call == "realloc":
        live_bytes -= live.pop(numbers[0], 0)
    assert address not in live
    size = int(numbers[-1])
    if call == "calloc":
        size *= int(numbers[0])
    live[address] = size
    live_bytes += size
    expected["requested_bytes"] += size
    expected["live_bytes_peak"] = max(expected["live_bytes_peak"], live_bytes)
expected["live_objects_end"] = len(live)
expected["live_bytes_end"] = live_bytes

with tempfile.TemporaryDirectory() as directory:
    outputs = []
    for name in ("first.wl", "second.wl"):
        path = os.path.join(directory, name)
        run = subprocess.run([sys.argv[1], trace, path], check=True, stdout=subprocess.PIPE, text=True)
        with open(path, "rb") as file:
            outputs.append(file.read())
assert outputs[0] == outputs[1], "two conversions of one trace differ"
counts = {line.rsplit(" ", 1)[0]: int(line.rsplit(" ", 1)[1]) for line in run.stdout.splitlines()}
wrong = {name: (counts.get(name), value) for name, value in expected.items() if counts.get(name) != value}
assert not wrong, f"counted and expected: {wrong}"
assert counts["threads"] == 393 and expected["malloc"] > 300000
print("ok: all counts agree:", expected)
