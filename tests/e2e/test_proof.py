"""A run says which allocator served it, and fails when it was another: tried by lying to it in three ways."""
import json
import pathlib
import shutil

import lab

LIBRARY = {"jemalloc": "libjemalloc", "tcmalloc": "libtcmalloc", "mimalloc": "libmimalloc", "glibc": "libc.so"}


class Proof(lab.Lab):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        keeper = cls.keeper()
        cls.workload = keeper.convert(keeper.record(lab.PROGRAMS / "repeat", 20_000))

    def libraries(self):
        """Path of each found allocator's library, as mallab itself lists it."""
        listed = self.answer("allocators", "--json")["allocators"]
        return {entry["name"]: entry["library"] for entry in listed if entry["found"]}

    def test_each_run_proves_its_library(self):
        for name in lab.candidates():
            with self.subTest(candidate=name):
                result = self.answer("replay", "--json", "-a", name, self.workload)
                self.assertIn(LIBRARY[name], json.dumps(result["proof"]))
                for other in set(LIBRARY) - {name, "glibc"}:
                    self.assertNotIn(LIBRARY[other], json.dumps(result["proof"]))

    def test_through_mallab_the_environment_cannot_lie(self):
        """LD_PRELOAD inherited by mallab: either kept out of the run, which then proves the right one, or refused."""
        libraries = self.libraries()
        if "jemalloc" not in libraries or "mimalloc" not in libraries:
            self.skipTest("needs jemalloc and mimalloc")
        result = lab.run([lab.BUILD / "mallab", "replay", "--json", "-a", "jemalloc", self.workload],
                         cwd=self.place, env={"LD_PRELOAD": libraries["mimalloc"]})
        if result.returncode == lab.DONE:
            proof = json.dumps(json.loads(result.stdout)["proof"])
            self.assertIn("libjemalloc", proof)
            self.assertNotIn("libmimalloc", proof)
        else:
            self.assertEqual(result.returncode, lab.FAILED)
            self.assert_one_line(result, "jemalloc")

    def test_a_candidate_file_that_names_the_wrong_library(self):
        """jemalloc.ini with mimalloc's library: the version call and addresses give it away."""
        libraries = self.libraries()
        if "jemalloc" not in libraries or "mimalloc" not in libraries:
            self.skipTest("needs jemalloc and mimalloc")
        directory = self.place / "allocators"
        shutil.copytree(lab.SOURCE / "allocators", directory)
        text = (directory / "jemalloc.ini").read_text()
        lied = [line if not line.startswith("library") else f"library = {libraries['mimalloc']}"
                for line in text.splitlines()]
        self.assertNotEqual(lied, text.splitlines())
        (directory / "jemalloc.ini").write_text("\n".join(lied) + "\n")
        result = lab.run([lab.BUILD / "mallab", "replay", "--json", "-a", "jemalloc", self.workload],
                         cwd=self.place, env={"MALLAB_ALLOCATORS": str(directory)})
        if result.returncode == lab.DONE:  # the binary linked with jemalloc was used all the same
            self.assertIn("libjemalloc", json.dumps(json.loads(result.stdout)["proof"]))
        else:
            self.assert_one_line(result, "jemalloc")

    def test_any_library_by_its_path(self):
        path = self.libraries().get("tbb") or "/usr/lib/x86_64-linux-gnu/libtbbmalloc_proxy.so.2"
        if not pathlib.Path(path).exists():
            self.skipTest(f"no {path}")
        own = self.answer("replay", "--json", "-a", "glibc", self.workload)
        result = self.answer("replay", "--json", "-a", path, self.workload)
        self.assertEqual(result["digest"], own["digest"])
        self.assertIn("libtbbmalloc", json.dumps(result["proof"]))
