#!/usr/bin/env python3
"""scripts/fleet/slurm.sh on Slurm itself: a controller and three nodes on this machine. Whatever dies, each cell of a plan is there
once, or is named as missing with its cause, and the same command again completes it. A cell is stopped (SIGSTOP) before anything
happens to its node, so that it is in mid-cell however fast this machine is; and everything waits for a state, never for a time."""

import os
import shutil
import signal
import unittest

import fleet_plan
import lab
import slurm_nodes

MISSING = slurm_nodes.missing()


@unittest.skipIf(MISSING, f"not installed: {', '.join(MISSING)} (scripts/setup --tests)")
class OnSlurm(lab.Lab):
    @classmethod
    def setUpClass(cls):
        keeper = cls.keeper()
        program = keeper.place / "bin/mallab"
        program.parent.mkdir()
        program.write_text(f"""#!/bin/sh
[ -e {keeper.place}/lacks-$SLURMD_NODENAME ] && export MALLAB_ALLOCATORS={keeper.place}/allocators
exec {fleet_plan.MALLAB} "$@"
""")
        program.chmod(0o755)
        (keeper.place / "allocators").mkdir()
        shutil.copy(lab.SOURCE / "allocators/glibc.ini", keeper.place / "allocators")
        cls.slurm = slurm_nodes.Slurm(keeper.place, program.parent)
        cls.addClassCleanup(cls.slurm.stop)
        cls.slurm.start()

    def submit(self, plan, *options):
        """Run the template; returns the job of its one array and that of the verdict."""
        self.slurm.wait_idle()
        before = self.jobs()
        self.slurm.run(fleet_plan.FLEET / "slurm.sh", plan, *options)
        cells, verdict = sorted(self.jobs() - before)
        return cells, verdict

    def jobs(self):
        return {int(word) for word in self.slurm.run("squeue", "--noheader", "--states=all", "--format=%F").stdout.split()} - {0}

    def stopped_cell(self, plan, nodes, but=None):
        """Wait for a cell in the middle on one of these nodes, and stop it. Returns its process and number."""
        found = []

        def stop_one():
            for pid in (pid for node in nodes for pid in self.slurm.processes(node) if fleet_plan.is_cell(pid)):
                number = fleet_plan.stop_cell(pid)
                if number not in (None, but) and not (plan / f"cells/{number}.json").exists():
                    found[:] = [pid, number]
                    return True
                fleet_plan.signal_to(pid, signal.SIGCONT)  # it was about to end
            return False

        lab.wait_for(stop_one, f"a cell on {nodes}")
        return found

    def collected(self, plan, status=lab.DONE):
        """What is missing, with the words for it."""
        result = self.mallab("collect", plan, status=None)
        said = result.stdout.decode()
        self.assertEqual(result.returncode, status, f"{said}{(plan / 'slurm.log').read_text()}")
        ranges = self.mallab("collect", "--missing", plan, status=status).stdout.decode().strip()
        return fleet_plan.numbers(ranges), said

    def finish(self, verdict):
        lab.wait_for(lambda: self.slurm.over(verdict), "the verdict", every_s=0.2)

    def complete(self, plan, *options):
        """The same command again; then all is there. Returns the job of the array."""
        cells, verdict = self.submit(plan, *options)
        self.finish(verdict)
        self.assertEqual(self.collected(plan)[0], set())
        self.assertEqual(self.slurm.shown("job", verdict)["ExitCode"], "0:0")
        self.assertEqual(set(fleet_plan.results(plan)), set(range(len(fleet_plan.results(plan)))))
        return cells

    def test_a_node_dies_and_a_cell_never_ends(self):
        """n2 loses its power in mid-cell; on n3 a cell hangs until its time limit. The first runs elsewhere, the second is named."""
        plan = fleet_plan.small_plan(self, 6, blocks=2)
        cells, verdict = self.submit(plan, "--comment=tested")
        self.assertEqual(self.slurm.shown("job", verdict)["Comment"], "tested")  # options are Slurm's
        _, hanging = self.stopped_cell(plan, ["n3"])
        self.slurm.run("scontrol", "update", f"JobId={cells}_{hanging}", "EndTime=now+2seconds")
        _, lost = self.stopped_cell(plan, ["n2"])
        self.slurm.kill_node("n2")
        self.slurm.told_down("n2")
        self.finish(verdict)
        self.assertEqual(set(fleet_plan.results(plan)), set(range(12)) - {hanging})
        self.assertEqual(self.slurm.shown("job", f"{cells}_{lost}")["Restarts"], "1")
        self.assertEqual(self.slurm.state(f"{cells}_{hanging}"), "TIMEOUT")
        self.assertEqual(self.collected(plan, lab.FAILED)[0], {hanging})
        self.assertIn(f"{hanging}", (plan / "verdict.txt").read_text())
        self.slurm.start_node("n2")
        self.complete(plan)

    def test_daemons_die(self):
        """Only n1's slurmd dies: its cell lives on and runs twice; then the controller dies. One result, the first."""
        plan = fleet_plan.small_plan(self, 3)
        cells, verdict = self.submit(plan)
        first, number = self.stopped_cell(plan, ["n1"])
        lab.wait_for(lambda: self.slurm.waiting(cells) == [str(number)], "the other cells", every_s=0.2)  # of an end that it misses it learns late
        self.slurm.kill_daemon("n1")
        self.slurm.restart_controller(verdict)
        self.slurm.told_down("n1")
        self.finish(verdict)
        result = plan / f"cells/{number}.json"
        made = result.read_bytes(), result.stat().st_ino
        os.kill(first, signal.SIGCONT)
        lab.wait_for(lambda: not self.slurm.processes("n1"), "the first copy to end")
        self.assertIn(f"cell {number}: another copy was first", (plan / "slurm.log").read_text())
        self.assertEqual((result.read_bytes(), result.stat().st_ino), made)
        self.assertEqual(self.collected(plan)[0], set())
        self.assertEqual(len(fleet_plan.results(plan)), 3)
        self.slurm.start_node("n1")

    def test_cancelled_and_damaged(self):
        """A cell is cancelled, another's workload is damaged: both are named, with the cause that is known, by a verdict that runs
        although they failed. The second is not tried again until it is mended."""
        plan = fleet_plan.small_plan(self, 4)
        damaged, workload = 1, fleet_plan.workload_of(plan, 1)
        whole = workload.read_bytes()
        workload.write_bytes(whole[:1000] + bytes([whole[1000] ^ 1]) + whole[1001:])
        cells, verdict = self.submit(plan)
        _, cancelled = self.stopped_cell(plan, slurm_nodes.NODES, but=damaged)
        self.slurm.run("scancel", f"{cells}_{cancelled}")
        self.finish(verdict)
        missing, said = self.collected(plan, lab.FAILED)
        self.assertEqual(missing, {damaged, cancelled})
        self.assertEqual(self.slurm.state(f"{cells}_{cancelled}"), "CANCELLED")
        failed = self.slurm.shown("job", f"{cells}_{damaged}")
        self.assertEqual((failed["ExitCode"], failed["Restarts"]), ("3:0", "0"))
        self.assertRegex(" ".join(said.split()), rf"cell {damaged} .*checksum")
        self.assertEqual((plan / "verdict.txt").read_text(), said)
        workload.write_bytes(whole)
        cells = self.complete(plan, "--constraint=kind-n3")  # a type of node
        self.assertEqual({self.slurm.shown("job", f"{cells}_{cell}")["NodeList"] for cell in missing}, {"n3"})

    def test_elsewhere(self):
        """n2 has another jemalloc, none: it refuses, and the cell runs on another node. Where all nodes do, a cell is given up after
        three of them, and named."""
        lacks = [self.slurm.place / f"lacks-{node}" for node in slurm_nodes.NODES]
        plan = fleet_plan.small_plan(self, 3)
        lacks[1].touch()
        self.addCleanup(lacks[1].unlink)
        cells, verdict = self.submit(plan)
        self.finish(verdict)
        self.assertEqual(self.collected(plan)[0], set())
        self.assertEqual(sorted(self.slurm.shown("job", f"{cells}_{cell}")["Restarts"] for cell in range(3)), ["0", "0", "1"])

        (plan / "cells/1.json").unlink()
        for lack in (lacks[0], lacks[2]):
            lack.touch()
            self.addCleanup(lack.unlink)
        cells, verdict = self.submit(plan)
        self.finish(verdict)
        missing, said = self.collected(plan, lab.FAILED)
        self.assertEqual(missing, {1})
        self.assertRegex(" ".join(said.split()), r"cell 1 .*jemalloc is not known here \(exit 75 on [^)]*try [34]\)")
        self.assertEqual(self.slurm.shown("job", f"{cells}_1")["ExitCode"], "75:0")


if __name__ == "__main__":
    lab.main()
