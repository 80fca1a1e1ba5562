"""The page of a fleet in a headless Chromium: the common line on top, a thousand hosts, the worst first, nothing asked from
outside, names that stay words, and a phone's width."""
import json
import unittest

import browser
import fleet_files
import html_result
from lab import FAILED, Lab

ROWS = "[...document.querySelectorAll('[aria-label=\"Every host\"] tbody tr')].map((row) => [...row.cells].map((cell) => cell.textContent))"


class Fleets(Lab):
    def fill(self, count, change=None):
        """A directory of as many results; change: made to each with its number."""
        base = json.loads(fleet_files.BASE.read_text())
        base["workloads"][0]["candidates"] = [one for one in base["workloads"][0]["candidates"] if not one.get("failed")]
        (self.place / "results").mkdir()
        for number in range(count):
            one = fleet_files.result(number, base, label=f"web-{number:04d}")
            if change:
                change(number, one["workloads"][0])
            fleet_files.write(self.place / "results" / f"{number:04d}.json", one)


@unittest.skipUnless(browser.program(), "no Chromium: scripts/setup --tests installs it")
class FleetPage(Fleets):
    @classmethod
    def setUpClass(cls):
        cls.browser = browser.Browser()
        cls.addClassCleanup(cls.browser.__exit__)

    def page(self, *operands, status=0):
        self.mallab("report", "--format", "html", "--force", "-o", "out.html", *operands, status=status)
        path = self.place / "out.html"
        self.browser.open(path)
        self.assertEqual(self.browser.complaints, [])
        self.assertEqual(self.browser.requests, [f"file://{path}"])
        return self.browser

    def test_a_thousand_hosts(self):
        self.fill(1000)
        fleet = self.answer("report", "--together", "--json", "results")["fleet"]
        page = self.page("--together", "results")
        names = [one["name"] for one in fleet["candidates"]]
        shown, cell = names[1], 3  # behind host, workload and share

        def number(row):
            return float(row[cell].strip("?=%()"))

        def worst(times):
            return sorted((round(100 * (one - 1), 1) for one in times), reverse=True)

        times = [host["entries"][1]["time"]["ratio"] for host in fleet["hosts"]]
        rows = page.run(ROWS)
        self.assertEqual(len(rows), 1000)
        common = page.run("[...document.querySelectorAll('[aria-label^=\"Time of all\"] tbody tr')].map((row) => row.textContent)")
        self.assertEqual(len(common), len(names) - 1)
        self.assertIn(f"{100 * (fleet['candidates'][1]['ratio'] - 1):+.1f}%", common[0])
        self.assertEqual([number(row) for row in rows], worst(times))

    def test_names_stay_words_and_a_phone_is_wide_enough(self):
        def hostile(number, workload):
            if number == 4:
                workload.update(label=html_result.HOSTILE, name=html_result.HOSTILE, program=html_result.HOSTILE)
            if number == 5:
                workload["candidates"][2]["failed"] = html_result.HOSTILE

        self.fill(30, hostile)
        (self.place / "hosts").write_text("".join(f"<b>{number}</b>\n" for number in range(30)))
        page = self.page("--together", "--expect", "hosts", "results", status=FAILED)
        self.assertIsNone(page.run("window.broken ?? null"))
        self.assertEqual(page.run("document.querySelectorAll('main img, main b').length"), 0)
        self.assertIn("30 of those expected", page.run("document.querySelector('.result').textContent"))
        self.assertEqual(page.run("document.querySelectorAll('td.bad').length > 0"), True)
        for width in (360, 800):
            page.open(self.place / "out.html", width=width, dark=True)
            self.assertLessEqual(page.run("document.documentElement.scrollWidth"), width)

    def test_a_result_of_several_has_its_workloads_below(self):
        """`ab` of several: the same block on top, below it each workload by its name."""
        result = html_result.result(["glibc", "jemalloc"], full=False)
        for at in range(1, 6):
            again = html_result.result(["glibc", "jemalloc"], full=False)["workloads"][0]
            again.update(name=f"other{at}.wl", file_digest=f"{at}")
            result["workloads"].append(again)
        (self.place / "several.json").write_text(json.dumps(result))
        page = self.page("several.json")
        self.assertEqual(page.run("document.querySelectorAll('[aria-label=\"Every host\"] table').length"), 1)
        self.assertEqual(page.run("[...document.querySelectorAll('details.workload h2')].map((one) => one.textContent.split(' (')[0])")[1:],
                         [f"other{at}.wl" for at in range(1, 6)])


class FleetForms(Fleets):
    def test_a_thousand_hosts_on_one_screen(self):
        self.fill(1000)
        screen = self.mallab("report", "--together", "results").stdout.splitlines()
        self.assertLessEqual(len(screen), 45)
        self.assertLessEqual(max(map(len, screen)), 100)
        self.assertGreater(len(self.mallab("report", "--together", "--details", "results").stdout.splitlines()), 1000)
