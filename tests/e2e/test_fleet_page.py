#!/usr/bin/env python3
"""The page of a fleet in a headless Chromium: the common line on top, a thousand hosts sorted and filtered at once, nothing asked from
outside, names that stay words, and a phone's width."""
import json
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import browser
import fleet_result
import html_result
from lab import Lab, main

ROWS = "[...document.querySelectorAll('[aria-label=\"Every host\"] tbody tr')].filter((row) => !row.hidden).map((row) => [...row.cells].map((cell) => cell.textContent))"


def pressed(words):
    return f"[...document.querySelectorAll('[aria-label=\"Every host\"] thead button')].find((one) => one.textContent.startsWith({json.dumps(words)})).click()"


def typed(words):
    return f"{{ const one = document.querySelector('.find'); one.value = {json.dumps(words)}; one.dispatchEvent(new Event('input')); }}"


@unittest.skipUnless(browser.program(), "no Chromium: scripts/setup --tests installs it")
class FleetPage(Lab):
    @classmethod
    def setUpClass(cls):
        cls.browser = browser.Browser()
        cls.addClassCleanup(cls.browser.__exit__)

    def page(self, document):
        (self.place / "fleet.json").write_text(json.dumps(document))
        self.mallab("report", "--format", "html", "--force", "-o", "out.html", "fleet.json")
        path = self.place / "out.html"
        self.browser.open(path)
        self.assertEqual(self.browser.complaints, [])
        self.assertEqual(self.browser.requests, [f"file://{path}"])
        return self.browser

    def test_a_thousand_hosts(self):
        fleet = fleet_result.fleet(1000)
        page = self.page(fleet_result.document(fleet))
        rows = page.run(ROWS)
        self.assertEqual(len(rows), 1000)
        slow = max(fleet["hosts"], key=lambda host: host["entries"][2]["time"]["ratio"])
        self.assertEqual(float(rows[0][4].strip("?=%")), round(100 * (slow["entries"][2]["time"]["ratio"] - 1), 1))
        common = page.run("[...document.querySelectorAll('[aria-label^=\"Time of all\"] tbody tr')].map((row) => row.textContent)")
        self.assertEqual(len(common), 2)
        self.assertIn(f"-{100 * (1 - fleet['candidates'][1]['ratio']):.1f}%", common[0])
        page.run(pressed("tcmalloc"))
        best = min(host["entries"][2]["time"]["ratio"] for host in fleet["hosts"])
        self.assertEqual(page.run(ROWS)[0][4], f"{100 * (best - 1):.1f}%")
        page.run(pressed("tcmalloc"))
        self.assertEqual([row[4] for row in page.run(ROWS)[:40]], ["+30.0%"] * 40)
        page.run(pressed("host"))
        self.assertEqual(page.run(ROWS)[0][0], "web-0000")
        self.assertEqual(page.run("document.querySelectorAll('[aria-sort]').length"), 1)
        page.run(typed("WEB-0042"))
        self.assertEqual([row[0] for row in page.run(ROWS)], ["web-0042"])
        page.run(typed("nothing is called so"))
        self.assertEqual(page.run(ROWS), [])
        page.run(typed(""))
        self.assertEqual(len(page.run(ROWS)), 1000)

    def test_names_stay_words_and_a_phone_is_wide_enough(self):
        fleet = fleet_result.fleet(30)
        fleet["hosts"][4].update(label=html_result.HOSTILE, workload=html_result.HOSTILE, program=html_result.HOSTILE)
        fleet["hosts"][5]["entries"][2]["failed"] = html_result.HOSTILE
        fleet["candidates"][2]["failed"] = [html_result.HOSTILE]
        page = self.page(fleet_result.document(fleet, [{"label": html_result.HOSTILE}] * 30))
        self.assertIsNone(page.run("window.broken ?? null"))
        self.assertEqual(page.run("document.querySelectorAll('main img, main b').length"), 0)
        self.assertIn("30 of those expected", page.run("document.querySelector('.fleet').textContent"))
        self.assertEqual(page.run("document.querySelectorAll('td.bad').length > 0"), True)
        for width in (360, 800):
            page.open(self.place / "out.html", width=width, dark=True)
            self.assertLessEqual(page.run("document.documentElement.scrollWidth"), width)

    def test_a_result_of_several_links_to_its_workloads(self):
        """`ab` of several: the same block on top, each name above leads to the workload's own part."""
        result = html_result.result(["glibc", "jemalloc"], full=False)
        for at in range(1, 6):
            again = html_result.result(["glibc", "jemalloc"], full=False)["workloads"][0]
            again.update(name=f"other{at}.wl", file_digest=f"{at}")
            result["workloads"].append(again)
        page = self.page(result)
        self.assertEqual(page.run("document.querySelectorAll('[aria-label=\"Every host\"] table').length"), 1)
        page.run("[...document.querySelectorAll('#contents a')].find((one) => one.textContent.trim() === 'other3.wl').click()")
        self.assertEqual(page.run("[...document.querySelectorAll('details.workload[open] h2')].map((one) => one.textContent.split(' (')[0])"), ["other3.wl"])


class FleetForms(Lab):
    def test_a_thousand_hosts_on_one_screen(self):
        fleet = fleet_result.fleet(1000)
        (self.place / "fleet.json").write_text(json.dumps(fleet_result.document(fleet)))
        screen = self.mallab("report", "fleet.json").stdout.splitlines()
        self.assertLessEqual(len(screen), 45)
        self.assertLessEqual(max(map(len, screen)), 100)
        self.assertGreater(len(self.mallab("report", "--details", "fleet.json").stdout.splitlines()), 1000)


if __name__ == "__main__":
    main()
