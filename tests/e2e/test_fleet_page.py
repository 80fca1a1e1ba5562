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

ROWS = "[...document.querySelectorAll('.matrix tbody tr')].map((row) => [...row.children].map((cell) => cell.textContent))"
TOLD = "document.querySelector('.fleet [role=status]').textContent"


def pressed(words):
    return f"[...document.querySelectorAll('.matrix thead button')].find((one) => one.textContent.startsWith({json.dumps(words)})).click()"


def chosen(at, value):
    return f"{{ const one = document.querySelectorAll('.filters select')[{at}]; one.value = {json.dumps(value)}; one.dispatchEvent(new Event('change')); }}"


def typed(words):
    return f"{{ const one = document.querySelector('.filters input'); one.value = {json.dumps(words)}; one.dispatchEvent(new Event('input')); }}"


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
        slow = max(fleet["hosts"], key=lambda host: host["entries"][1]["time"]["ratio"])
        rows = page.run(ROWS)
        self.assertEqual(len(rows), 200)  # the rest by a button: elements, not data, are slow
        self.assertTrue(rows[0][0].startswith(slow["label"]))
        self.assertEqual(page.run(TOLD), "200 of 1,000 that fit, 1,000 in all")
        common = page.run("[...document.querySelectorAll('.fleet .figures tbody tr')].map((row) => row.textContent)")
        self.assertEqual(len(common), 2)
        self.assertIn(f"−{100 * (1 - fleet['candidates'][1]['ratio']):.1f} %", common[0])
        self.assertIn("▲ 40 proven", common[1])

        page.run(pressed("tcmalloc"))
        self.assertEqual([row[3][:6] for row in page.run(ROWS)[:40]], ["+30.0 "] * 40)
        page.run(pressed("tcmalloc"))
        best = min(fleet["hosts"], key=lambda host: host["entries"][2]["time"]["ratio"])
        self.assertTrue(page.run(ROWS)[0][0].startswith(best["label"]))
        page.run(pressed("Host"))
        self.assertTrue(page.run(ROWS)[0][0].startswith("web-0000"))
        self.assertEqual(page.run("document.querySelectorAll('.matrix [aria-sort]').length"), 1)

        page.run(typed("WEB-0042"))
        self.assertEqual([row[0][:8] for row in page.run(ROWS)], ["web-0042"])
        page.run(typed("queue"))
        self.assertEqual(page.run(TOLD), "200 of 334 that fit, 1,000 in all")
        page.run(typed("nothing is called so"))
        self.assertEqual(page.run(ROWS), [])
        page.run(typed(""))
        page.run(chosen(1, "1"))
        worse = sum(any(one["time"]["verdict"] == "slower" for one in host["entries"][1:]) for host in fleet["hosts"])
        self.assertEqual(page.run(TOLD), f"200 of {worse} that fit, 1,000 in all")
        page.run(chosen(0, "peak"))
        more = sum(any(one["peak"]["verdict"] == "more" for one in host["entries"][1:]) for host in fleet["hosts"])
        self.assertEqual(page.run(TOLD), f"200 of {more} that fit, 1,000 in all")
        page.run(chosen(1, "0"))
        page.run("document.querySelector('.fleet > section > button').click()")
        self.assertEqual(len(page.run(ROWS)), 1000)
        self.assertTrue(page.run("document.querySelector('.fleet > section > button').hidden"))

    def test_names_stay_words_and_a_phone_is_wide_enough(self):
        fleet = fleet_result.fleet(30)
        fleet["hosts"][4].update(label=html_result.HOSTILE, workload=html_result.HOSTILE, program=html_result.HOSTILE)
        fleet["hosts"][5]["entries"][2]["failed"] = html_result.HOSTILE
        fleet["candidates"][2]["failed"] = [html_result.HOSTILE]
        missing = [{"label": html_result.HOSTILE}] * 30
        page = self.page(fleet_result.document(fleet, missing))
        self.assertIsNone(page.run("window.broken ?? null"))
        self.assertEqual(page.run("document.querySelectorAll('main img, main b').length"), 0)
        self.assertIn("30 of those expected", page.run("document.querySelector('.fleet').textContent"))
        self.assertEqual(page.run("document.querySelectorAll('.matrix .verdict.bad').length > 0"), True)
        for width in (360, 800):
            page.open(self.place / "out.html", width=width, dark=True)
            self.assertLessEqual(page.run("document.documentElement.scrollWidth"), width)

    def test_a_result_of_several_links_to_its_workloads(self):
        """`ab` of several: the same block and matrix on top, each host's name leads to the workload's own part."""
        result = html_result.result(["glibc", "jemalloc"], full=False)
        for at in range(1, 6):
            again = html_result.result(["glibc", "jemalloc"], full=False)["workloads"][0]
            again.update(name=f"other{at}.wl", file_digest=f"{at}")
            result["workloads"].append(again)
        page = self.page(result)
        self.assertEqual(page.run("document.querySelectorAll('.matrix').length"), 1)
        page.run("[...document.querySelectorAll('.matrix tbody a')].find((one) => one.textContent === 'other3.wl').click()")
        self.assertEqual(page.run("[...document.querySelectorAll('details.workload[open] h2')].map((one) => one.textContent)"), ["other3.wl"])


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
