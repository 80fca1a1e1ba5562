#!/usr/bin/env python3
"""Forked processes begin with what their parents held: what they release of it is known, and nothing is left over."""
import json
import shutil

import lab


class Heirs(lab.Lab):
    def record_heirs(self):
        said = self.place / "said"
        with open(said, "wb") as out:
            recording = self.record(lab.PROGRAMS / "heirs", stdout=out)
        own = {line["who"]: line for line in map(json.loads, said.read_text().splitlines())}
        footprints = {who: next(recording.glob(f"*.{line['pid']}.fp")) for who, line in own.items()}
        return recording, own, footprints

    def inherited(self, info):
        return info["inherited_objects"], info["inherited_bytes"]

    def test_what_was_alive_at_the_fork_is_there(self):
        _, own, footprints = self.record_heirs()
        base = None
        for who in ("child", "grandchild"):
            with self.subTest(who=who):
                info = self.info(footprints[who])
                self.assert_whole(info)
                self.assertIsNone(info["inherited_why"])
                self.assertEqual({name: n for name, n in info["irregularities"].items() if n}, {})
                # What the C library holds on the side (a thread's descriptor and stack list) is the same for both.
                side = (info["inherited_objects"] - own[who]["objects"], info["inherited_bytes"] - own[who]["bytes"])
                base = base or side
                self.assertEqual(side, base)
                self.assertLess(side[0], 10)
                self.assertEqual(info["ops"], info["events"] + info["inherited_objects"])
                self.assertEqual(info["live_peak_objects"], info["inherited_objects"])
                released = info["events_by_call"]["free"]
                self.assertEqual(info["live_end_objects"], info["inherited_objects"] - released)
                workload = self.convert(footprints[who])
                converted = self.info(workload)
                self.assertEqual(self.inherited(converted), self.inherited(info))
                self.assertEqual(converted["ops"], info["ops"])
                run = self.answer("replay", "--json", "-a", "glibc", workload)
                self.assertEqual(run["ops"], info["ops"])

    def test_the_parent_may_be_left_out_or_missing(self):
        recording, own, footprints = self.record_heirs()
        bare = self.place / "bare.wl"
        self.mallab("convert", "--no-inherited", "-o", bare, footprints["child"])
        info = self.info(bare)
        self.assertEqual(self.inherited(info), (0, 0))
        released = info["irregularities"]["inherited_frees"]
        self.assertGreaterEqual(released, own["child"]["objects"] // 3)
        alone = self.place / "alone"
        alone.mkdir()
        shutil.copy(footprints["child"], alone)
        info = self.info(alone / footprints["child"].name)
        self.assertEqual(self.inherited(info), (0, 0))
        self.assertIn("cannot be read", info["inherited_why"])
        self.assertEqual(info["irregularities"]["inherited_frees"], released)
        # The grandchild knows what its parent made itself, which is nothing here.
        shutil.copy(footprints["grandchild"], alone)
        info = self.info(alone / footprints["grandchild"].name)
        self.assertIn("cannot be read", info["inherited_why"])

    def test_python_children_release_what_python_made(self):
        script = ("import os, sys\n"
                  "data = [str(i) * 50 for i in range(20000)]\n"
                  "pid = os.fork()\n"
                  "if pid == 0:\n"
                  "    del data[::2]\n"
                  "    more = [str(i) * 60 for i in range(30000)]\n"
                  "    os._exit(0)\n"
                  "sys.exit(os.waitpid(pid, 0)[1])\n")
        recording = self.record("/usr/bin/python3", "-S", "-c", script, env={"PYTHONMALLOC": "malloc"})
        processes = json.loads((recording / "recording.json").read_text())["processes"]
        self.assertEqual(len(processes), 2)
        child = next(process for process in processes if process["parent_pid"] == processes[0]["pid"]
                     or process["file"] != processes[0]["file"])
        info = self.info(recording / child["file"])
        self.assertGreater(info["inherited_objects"], 20000)
        self.assertEqual({name: n for name, n in info["irregularities"].items() if n}, {})


if __name__ == "__main__":
    lab.main()
