"""Two directories of results: `now` of 14 hosts, and `few` of three, where one candidate failed, one has another version, and one file is torn."""
import json
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(os.environ["DATA"]).parents[1] / "e2e"))
import fleet_files

base = json.loads(fleet_files.BASE.read_text())
base["workloads"][0]["candidates"] = [one for one in base["workloads"][0]["candidates"] if not one.get("failed")]
base["workloads"][0]["process"] = {"cpu_user_ns": 1e8, "cpu_system_ns": 0, "rss_peak_bytes": 8e7, "rss_anon_peak_bytes": 8e7}
for name, count in (("now", 14), ("few", 3)):
    place = pathlib.Path(name)
    place.mkdir()
    for number in range(count):
        made = fleet_files.result(number, base, label=["web-0", "<b>\u202e|x,=1", "web-2"][number] if name == "few" else f"web-{number:02}")
        if name == "few" and number == 2:
            made["workloads"][0]["candidates"][1].update(failed="it crashed", version="0.0.1")
        fleet_files.write(place / f"{number}.json", made)
pathlib.Path("few/torn.json").write_text("{")
