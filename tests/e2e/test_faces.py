"""One result through every face: screen, details, Markdown, JSON, CSV, page; check and compare of it with itself. Each figure that two faces
print is the same, and each sentence has the same words."""
import csv
import html
import html.parser
import io
import json
import re

import lab

QUICKSTART = lab.SOURCE / "docs/published/quickstart.json"
MADE = lab.SOURCE / "tests/cli/data/result.json"


def tokens(words):
    """Words as they read, however lines are broken."""
    return " ".join(words.split())


class Tables(html.parser.HTMLParser):
    """Rows of the tables of a page by what they are called, and its words without what scripts and styles say."""

    def __init__(self, page):
        super().__init__()
        self.tables, self.rows, self.cell, self.words, self.hidden = {}, None, None, [], 0
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if values.get("role") == "region":
            self.rows = self.tables.setdefault(values["aria-label"], [])
        elif tag == "tr" and self.rows is not None:
            self.rows.append([])
        elif tag in ("td", "th") and self.rows is not None:
            self.cell = ""
        self.hidden += tag in ("script", "style")

    def handle_endtag(self, tag):
        if tag in ("td", "th") and self.cell is not None:
            self.rows[-1].append(self.cell)
            self.cell = None
        elif tag == "table":
            self.rows = None
        self.hidden -= tag in ("script", "style")

    def handle_data(self, data):
        if self.cell is not None:
            self.cell += data
        if not self.hidden:
            self.words.append(data)


class Faces(lab.Lab):
    # ---- results

    def kept(self, result):
        path = self.place / "result.json"
        path.write_text(json.dumps(result))
        return path

    def made(self, workloads=1, **process):
        """A workload of a program that malloc matters to: jemalloc takes a third less of its time."""
        result = json.loads(MADE.read_text())
        (first, *_) = result["workloads"]
        first["candidates"] = [one for one in first["candidates"] if one["name"] in ("glibc", "jemalloc", "slow")]
        first["process"] = {"cpu_user_ns": 6e7, "cpu_system_ns": 0, "rss_peak_bytes": 2e8, "rss_anon_peak_bytes": 1.5e8, "ended": "exit 0", **process}
        result["workloads"] = [json.loads(json.dumps({**first, "name": f"w{at}.wl", "label": f"host{at}", "file_digest": f"{at}{at}"}))
                               for at in range(workloads)]
        return result

    @staticmethod
    def confirmed(candidate, ratio, verdict, control=False):
        samples = [6e7 * (1 + .001 * at) for at in range(9)]
        figure = {"baseline_ns": 6e7, "ratio": ratio, "ratio_low": ratio * .98, "ratio_high": ratio * 1.02, "saved_ns": 6e7 * (1 - ratio),
                  "baseline_samples_ns": samples, "samples_ns": [ratio * one for one in samples]}
        peak = {"baseline_bytes": 2e8, "bytes": 2e8, "ratio": 1, "ratio_low": .99, "ratio_high": 1.01,
                "baseline_samples_bytes": [2e8] * 9, "samples_bytes": [2e8] * 9}
        return {"candidate": candidate, "control": control, "failed": None, "runs": 9, "time": figure, "peak": peak,
                "verdict": {"time": verdict, "peak": "same"}}

    def shown_in_the_program(self, result, ratio, verdict):
        result["confirmation"] = {"command": ["./web"], "timed_by": "wait4", "runs": 40, "run_ns": 7e7, "elapsed_ns": 3e9}
        result["confirmed"] = [self.confirmed("jemalloc", ratio, verdict), self.confirmed("glibc", 1, "same", True)]
        return result

    # ---- faces

    def judge(self, path):
        """All faces of a result agree. Returns its JSON, and the words of its screen."""
        result = self.answer("report", "--json", path)
        screen = self.mallab("report", path).stdout.decode()
        details = self.mallab("report", "--details", path).stdout.decode()
        markdown = self.mallab("report", "--format", "md", path).stdout.decode()
        self.mallab("report", "--format", "html", "--force", "-o", "page.html", path)
        page = Tables((self.place / "page.html").read_text())
        self.judge_words(result, {"screen": screen, "details": details, "markdown": re.sub(r"\\([^\w\s])", r"\1", markdown), "page": "".join(page.words)})
        for workload in result["workloads"]:
            self.assertEqual(workload["name"].split("/")[-1] in screen, True)
        if len(result["workloads"]) == 1:
            self.judge_figures(result, screen, details, markdown, page)
            self.judge_rows(result, path, page)
        return result, tokens(screen)

    def judge_words(self, result, faces):
        """Sentences are those of the JSON, in all faces the same, and verdicts are all that there are."""
        notes = [note for workload in result["workloads"] for note in workload["notes"]] + result["notes"]
        self.assertTrue([note for note in notes if note["label"] == "verdict"])
        for face, words in faces.items():
            read = tokens(words)
            for note in notes:
                # The screen that answers has a line of each, and not of all: check_screens.py.
                if note["label"] == "verdict" or face == "details" or (not note.get("details") and face != "screen"):
                    self.assertIn(tokens(note["text"]), read, face)
                    self.assertIn(tokens(note.get("detail") or ""), read, face)
        self.assertEqual(faces["markdown"].count("- **verdict**"), sum(note["label"] == "verdict" for note in notes))
        for note in (result.get("fleet") or {}).get("notes", []):
            for face in ("screen", "details", "page"):
                self.assertIn(tokens(note["text"]), tokens(faces[face]), face)

    @staticmethod
    def screen_row(text, name, at=0):
        """What stands behind a name in the table that is the `at`-th to have it."""
        return [line.split()[1:] for line in text.splitlines() if line.split()[:1] == [name]][at]

    def judge_figures(self, result, screen, details, markdown, page):
        """Tables of screen, details, Markdown and page have the same cells."""
        marked = [[re.sub(r"\\(.)", r"\1", cell.strip()) for cell in line.strip("|").split("|")] for line in markdown.splitlines() if line.startswith("| ")]
        candidates = {row[0]: row[1:] for row in page.tables["Candidates"]}
        figures = {row[0]: row[1:] for row in page.tables["All figures"]}
        for candidate in result["workloads"][0]["candidates"]:
            name = candidate["name"]
            self.assertEqual(self.screen_row(screen, name), tokens(" ".join(candidates[name])).split())
            of_page = tokens(" ".join(figures[name])).split()
            (of_markdown,) = [row[1:] for row in marked if row[0] == name]
            self.assertEqual(tokens(" ".join(of_markdown)).split(), of_page)
            self.assertEqual(self.screen_row(details, name, 1) + self.screen_row(details, name, 2), of_page)
            if candidate["failed"] is None:
                self.assertEqual(of_page[1 if candidate["version"] else 0], candidates[name][0])

    def judge_rows(self, result, path, page):
        """One ns/op for each candidate, one change of it, and one peak: in JSON, CSV, page, check, and compare of the result with itself."""
        (workload,) = result["workloads"]
        lines = {row["candidate"]: row for row in csv.DictReader(io.StringIO(self.mallab("report", "--format", "csv", path).stdout.decode())) if row["role"] == "candidate"}
        candidates = {row[0]: row[1:] for row in page.tables["Candidates"]}
        figures = {row[0]: row for row in page.tables["All figures"]}
        compared = self.mallab("compare", path, path, status=None).stdout.decode()
        checked = self.mallab("check", "--budget", "time<=+900%", path, status=None).stdout.decode()
        for at, candidate in enumerate(workload["candidates"]):
            name, time = candidate["name"], candidate["time"]
            if candidate["failed"] is not None:
                continue
            steady = time["steady_ns_per_op"]
            self.assertAlmostEqual(float(lines[name]["ns_per_op"]) / steady, 1, places=6)
            self.assertAlmostEqual(float(candidates[name][0]) / steady, 1, delta=.006)
            then = re.search(rf"^ +{re.escape(name)} +time +([\d.]+) ns +([\d.]+) ns", compared, re.M)
            self.assertEqual(then.groups(), (candidates[name][0],) * 2)
            self.assertAlmostEqual(float(lines[name]["peak_bytes"]), candidate["resident"]["peak_bytes"], delta=1e-6 * float(lines[name]["peak_bytes"]))
            if at == 0 or time["ratio"] is None or workload["rounds"] < 8:
                continue
            self.assertAlmostEqual(float(lines[name]["ratio"]), time["ratio"], places=6)
            measured = re.search(rf"^ +{re.escape(name)} +time +(\S+) ", checked, re.M)
            self.assertIn(measured.group(1), figures[name])
            self.assertAlmostEqual(float(measured.group(1).strip("%")), 100 * (time["ratio"] - 1), delta=.51)

    # ---- cases

    def test_published(self):
        result, _ = self.judge(QUICKSTART)
        self.assertEqual(result["verdict"], result["workloads"][0]["verdict"])

    def test_replays_alone(self):
        result, screen = self.judge(self.kept(self.made()))
        self.assertEqual(result["verdict"]["time"]["answer"], "take")
        self.assertIn("time: jemalloc saves ", screen)

    def test_what_the_program_refutes(self):
        """One sentence: nothing advises what the program itself is slower with, whatever the table of replays says."""
        result, screen = self.judge(self.kept(self.shown_in_the_program(self.made(), 2.95, "slower")))
        answer = result["verdict"]["time"]
        self.assertEqual((answer["answer"], answer["candidate"]), ("refuted", "jemalloc"))
        self.assertIn("VERDICT jemalloc saves in malloc, but the program itself takes 195 % more ", screen)
        self.assertIn("confirmed jemalloc takes 195 % more time", screen)
        self.assertNotIn(" time: ", screen)
        self.assertNotIn("is shown to be faster", screen)
        self.assertNotIn("libjemalloc.so", screen)

    def test_what_the_program_confirms(self):
        result, screen = self.judge(self.kept(self.shown_in_the_program(self.made(), .9, "faster")))
        answer = result["verdict"]["time"]
        self.assertEqual((answer["answer"], answer["candidate"]), ("confirmed", "jemalloc"))
        self.assertAlmostEqual(answer["of_process"], .1)
        self.assertIn("time: jemalloc saves 6 ms of CPU, 10 % of the program", screen)
        # Too little is not worth it, though the program shows it.
        result, screen = self.judge(self.kept(self.shown_in_the_program(self.made(), .995, "faster")))
        self.assertEqual(result["verdict"]["time"]["answer"], "not_worth")
        self.assertIn("time: do not bother, jemalloc saves 0.5 % of the program", screen)

    def test_the_program_alone(self):
        alone = self.shown_in_the_program(self.made(0), .76, "faster")
        result, screen = self.judge(self.kept(alone))
        self.assertEqual(result["verdict"]["time"]["answer"], "confirmed")
        self.assertIn("time: jemalloc saves 14 ms of CPU, 24 % of the program", screen)
        page = Tables((self.place / "page.html").read_text()).tables["The program itself"]
        for row in page[1:]:
            self.assertEqual(self.screen_row(self.mallab("report", "result.json").stdout.decode(), row[0]), tokens(" ".join(row[1:])).split())

    def test_a_fleet_of_three(self):
        """Three say nothing over all; a share below 1 % is advised by neither of both screens."""
        result, screen = self.judge(self.kept(self.made(3)))
        self.assertEqual(result["fleet"]["verdict"]["time"]["answer"], "too_few")
        self.assertIn("there is none over all: 3 workloads tell no spread", screen)
        page = Tables((self.place / "page.html").read_text()).tables["Time of all together"]
        for row in page[2:]:
            self.assertIn(tokens(" ".join(row)), screen)

    def test_failures(self):
        result = self.made()
        result["workloads"][0]["candidates"][1].update(failed="killed by signal 11 (Segmentation fault)", runs=[], failure={"cause": "crash"})
        shown, screen = self.judge(self.kept(result))
        self.assertIn("failed jemalloc: killed by signal 11", " ".join(self.mallab("report", "--details", "result.json").stdout.decode().split()))
        self.assertEqual(shown["verdict"]["time"]["answer"], "all_worse")
        result["workloads"][0]["candidates"][0].update(failed="it said nothing", runs=[])
        _, screen = self.judge(self.kept(result))
        self.assertIn("there is none: the baseline glibc failed; -b names another", screen)
