"""The HTML report in a headless Chromium, of results, of a history and of a fleet: what it shows, what its controls do, that it asks for
nothing from outside, that no name in a result becomes markup, and that it fits a phone."""
import json
import math
import re
import unittest

import browser
import fleet_files
import html_result
from lab import FAILED, Lab

SHEET_INSIDE = 703  # 186 mm of A4 upright, in pixels of the style sheet
NAMES = ["glibc", "jemalloc", "mimalloc", "tcmalloc", "jemalloc+bg"]
ROWS = "[...document.querySelectorAll('[aria-label=Candidates] tbody tr')].map((row) => [...row.cells].map((cell) => cell.textContent))"
FIRST_ROWS = f"{ROWS}.map((row) => row[0])"


@unittest.skipUnless(browser.program(), "no Chromium: scripts/setup --tests installs it")
class Page(Lab):
    @classmethod
    def setUpClass(cls):
        """One browser for all pages: each is loaded anew, and starting it takes longer than most tests."""
        cls.browser = browser.Browser()
        cls.addClassCleanup(cls.browser.__exit__)

    def page(self, *results):
        paths = []
        for number, result in enumerate(results):
            paths.append(self.place / f"result{number}.json")
            paths[-1].write_text(json.dumps(result))
        self.mallab("report", "--format", "html", "--force", "-o", "out.html", *paths)
        return self.place / "out.html"

    def judge_quiet(self, page, path):
        """No complaint in the console, no request but for the file itself."""
        self.assertEqual(page.complaints, [])
        self.assertEqual(page.requests, [f"file://{path}"])

    def test_everything_is_there_and_works(self):
        path = self.page(html_result.result(NAMES))
        page = self.browser
        page.open(path)
        titles = page.run("[...document.querySelectorAll('h3')].map((title) => title.textContent)")
        for title in ("Resident memory over recorded time", "Latency of single calls", "All figures",
                      "Time in malloc against glibc"):
            self.assertIn(title, titles)
        self.assertEqual(page.run("document.querySelectorAll('[data-chart]').length"), 0)
        self.assertIn("time: jemalloc saves ", page.run("document.querySelector('.workload .advice').textContent"))
        self.assertIn("against itself", page.run("document.querySelector('.notes').textContent"))
        self.assertEqual(page.run(FIRST_ROWS), NAMES)
        self.judge_colours(page)
        self.judge_legend(page)
        self.judge_theme(page)
        self.judge_quiet(page, path)

    def judge_colours(self, page):
        """An allocator has one colour on every chart of every page: its own, whatever stands beside it."""
        colours = dict(glibc="c0", jemalloc="c1", tcmalloc="c2", mimalloc="c3")
        for name in NAMES:
            drawn = page.run("[...document.querySelectorAll('.legend .entry')].filter((one) => one.textContent.trim() === %s)"
                             ".map((one) => one.querySelector('.line').getAttribute('class'))" % json.dumps(name))
            rows = page.run("[...document.querySelectorAll('.ranges .row')].filter((one) => one.querySelector('.name').textContent.startsWith(%s))"
                            ".map((one) => one.getAttribute('class').split(' ')[1])" % json.dumps(name + (" " if name != "glibc" else "-")))
            self.assertGreaterEqual(len(drawn), 2)
            seen = {words.split()[-1] for words in drawn} | set(rows)
            self.assertEqual(len(seen), 1)
            self.assertEqual(seen <= {f"c{at}" for at in range(4, 12)} if name not in colours else seen == {colours[name]}, True, (name, seen))

    def test_ranges(self):
        """Of each candidate, and of the baseline again: the change in the middle of its range, on a logarithmic axis."""
        page = self.browser
        page.open(self.page(html_result.result(NAMES[:4], full=False)))
        told = page.run("JSON.parse(document.getElementById('data').textContent).find((one) => one.kind === 'ranges').rows")
        places = page.run("[...document.querySelectorAll('.ranges .row')].map((row) => ['range', 'middle'].map((kind) => row.querySelector(`rect.${kind}`))"
                          ".map((one) => [Number(one.getAttribute('x')), Number(one.getAttribute('width'))]))")
        self.assertEqual((len(told), len(places)), (4, 4))  # the control is the last
        middles = [left + width / 2 for _, (left, width) in places]
        scale = (middles[1] - middles[0]) / math.log(told[1]["ratio"] / told[0]["ratio"])
        for row, middle, ((left, width), _) in zip(told, middles, places):
            self.assertAlmostEqual(middle, middles[0] + scale * math.log(row["ratio"] / told[0]["ratio"]), delta=0.1)
            self.assertAlmostEqual(left, middles[0] + scale * math.log(row["low"] / told[0]["ratio"]), delta=0.1)
            self.assertAlmostEqual(width, max(2, scale * math.log(row["high"] / row["low"])), delta=0.1)

    def test_ticks_of_wide_and_of_narrow_ranges(self):
        for factor, expected in ((1.0, ["−20 %", "0 %", "+20 %"]), (3.2, ["×1", "×2", "×4"])):
            result = html_result.result(NAMES[:2] + ["slow"], full=False)
            for run in result["workloads"][0]["candidates"][2]["runs"]:
                run["whole_ns_per_op"] *= factor * 4 if factor > 1 else 1.2
            page = self.browser
            page.open(self.page(result))
            for words in expected:
                self.assertIn(words, self.texts(page, ".ranges .tick"))

    def drawn(self, page):
        return page.run("document.querySelector('.legend + .plot .drawing').innerHTML")

    def judge_legend(self, page):
        page.settle()
        before = self.drawn(page)
        entry = "[...document.querySelectorAll('.legend .entry')].find((one) => one.textContent.startsWith('tcmalloc'))"
        page.run(f"{entry}.focus()")
        page.key("Enter")
        self.assertEqual(page.run(f"{entry}.getAttribute('aria-pressed')"), "false")
        self.assertLess(len(self.drawn(page)), len(before))
        page.key("Enter")
        self.assertEqual(page.run(f"{entry}.getAttribute('aria-pressed')"), "true")
        self.assertEqual(self.drawn(page), before)

    def plot(self, page):
        """Where values stand in the first chart, on the screen: left, top, width, height."""
        return page.run("(() => { const svg = document.querySelector('.legend + .plot .drawing'), whole = svg.getBoundingClientRect(), scale = whole.width / svg.viewBox.baseVal.width;"
                        "const grid = [...svg.querySelectorAll('.grid, .axis')].filter((one) => one.getAttribute('y1') === one.getAttribute('y2'))[0];"
                        "const [from, to] = ['x1', 'x2'].map((end) => Number(grid.getAttribute(end)));"
                        "return [whole.x + from * scale, whole.y + 14 * scale, (to - from) * scale, whole.height - 54 * scale]; })()")

    def judge_theme(self, page):
        ground = "getComputedStyle(document.body).backgroundColor"
        light = page.run(ground)
        page.theme(True)
        dark = page.run(ground)
        self.assertNotEqual(light, dark)
        page.theme(False)
        self.assertEqual(page.run(ground), light)

    def test_keyboard_reaches_every_control_and_shows_where_it_is(self):
        page = self.browser
        page.open(self.page(html_result.result(NAMES)))
        reached = []
        for _ in range(60):
            page.key("Tab", draws=False)
            reached.append(page.run("(document.activeElement.className || document.activeElement.id || document.activeElement.tagName)"))
            if reached[-1] == "BODY":  # behind the last one
                break
            if reached[-1] not in ("skip",):
                self.assertEqual(page.run("getComputedStyle(document.activeElement).outlineStyle"), "solid", reached)
        self.assertEqual(reached[0], "skip")
        for control in ("scroll", "entry"):
            self.assertIn(control, reached)

    def judge_width(self, page, width):
        """Nothing makes the page wider than it is (a phone's innerWidth would grow along): what is wider scrolls in a box of its own."""
        self.assertEqual(page.run("document.documentElement.scrollWidth"), width)

    def judge_words(self, page):
        """No word in a drawing lies on another or beyond the drawing's edge; with everything open."""
        page.run("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        page.settle()
        self.assertEqual(page.run("""[...document.querySelectorAll('svg.drawing')].flatMap((svg) => {
            const whole = svg.getBoundingClientRect(), found = [];
            const words = [...svg.querySelectorAll('text')].map((text) => [text.textContent, text.getBoundingClientRect()]);
            words.forEach(([one, box], at) => {
              if (box.left < whole.left - 1 || box.right > whole.right + 1 || box.bottom > whole.bottom + 1) found.push(`${one} is cut`);
              for (const [other, beside] of words.slice(at + 1))
                if (box.left < beside.right - .5 && beside.left < box.right - .5 && box.top < beside.bottom - 2 && beside.top < box.bottom - 2) found.push(`${one} on ${other}`);
            });
            return found; })"""), [])

    def test_phone_and_paper(self):
        path = self.page(html_result.result(NAMES, windows=300), html_result.result(["glibc", "a-very-long-name-of-a-candidate" * 4], windows=300, workload="x" * 200))
        page = self.browser
        page.open(path, width=360, height=780)
        page.settle()
        self.judge_width(page, 360)
        self.assertEqual(page.run("document.querySelectorAll('.result').length"), 2)
        self.assertTrue(page.run("[...document.querySelectorAll('.scroll')].every((box) => getComputedStyle(box).overflowX === 'auto')"))
        self.assertTrue(page.run("(() => { const box = document.querySelector('.scroll'); return box.scrollWidth > box.clientWidth; })()"))
        for width in (420, 800, 1400):
            page.open(path, width=width, height=1600)
            self.judge_words(page)
            self.judge_width(page, width)
        page.paper(self.place / "paper.pdf")
        self.assertEqual((self.place / "paper.pdf").read_bytes()[:5], b"%PDF-")
        self.judge_quiet(page, path)

    def test_figures_of_five_fit_a_small_screen(self):
        """Headings and ranges wrap before a table has to scroll."""
        page = self.browser
        page.open(self.page(html_result.result(NAMES)), width=1100, height=900)
        self.assertEqual(page.run("[...document.querySelectorAll('.scroll')].filter((box) => box.scrollWidth > box.clientWidth).map((box) => box.ariaLabel)"), [])

    def judge_paper(self, page):
        """Where the newest result of a history stands on paper: within the sheet, and at the end of the axis. In pixels of the sheet's inside."""
        page.ask("Emulation.setDeviceMetricsOverride", width=SHEET_INSIDE, height=700, deviceScaleFactor=1, mobile=False)
        page.ask("Emulation.setEmulatedMedia", media="print")
        page.run("dispatchEvent(new Event('beforeprint'))")
        page.settle()
        edges = page.run("[...document.querySelectorAll('.legend + .plot .drawing')].map((svg) => [Math.max(...[...svg.querySelectorAll('.dot')].map((dot) => {"
                         "const box = dot.getBoundingClientRect(); return (box.left + box.right) / 2; })),"
                         "Math.max(...[...svg.querySelectorAll('.grid, .axis')].map((one) => one.getBoundingClientRect().right)), svg.getBoundingClientRect().right])")
        self.assertEqual(len(edges), 2)
        for newest, axis, end in edges:
            self.assertLess(newest, axis)
            self.assertGreater(newest, axis - 0.06 * SHEET_INSIDE)
            self.assertLess(axis, end + 0.5)
            self.assertLess(end, SHEET_INSIDE)
        self.judge_width(page, SHEET_INSIDE)
        page.run("dispatchEvent(new Event('afterprint'))")
        page.ask("Emulation.setEmulatedMedia", media="")

    def test_history_on_paper(self):
        """Of 14 results the newest ones, too; drawn on phone and desk, light and dark."""
        path, _ = self.history(html_result.days(14))
        page = self.browser
        for width, dark in ((1400, False), (420, True)):
            page.open(path, width=width, height=900, dark=dark)
            page.paper(self.place / "history.pdf")
            self.judge_paper(page)

    def test_names_are_never_markup(self):
        bad = html_result.HOSTILE
        result = html_result.result([bad, "b" + bad], workload=bad)
        result["machine"]["cpu"] = result["workloads"][0]["candidates"][1]["failed"] = bad
        result["missing"][0]["reason"] = result["disturbances"][0]["text"] = bad
        result["workloads"][0]["candidates"][0]["environment"] = {bad: bad}
        result["__proto__"] = {"polluted": 1}
        path = self.page(result)
        text = path.read_text()
        self.assertEqual(text.count("</script"), 2)
        self.assertNotIn("\u2028", text)
        page = self.browser
        page.open(path)
        self.assertIsNone(page.run("window.broken"))
        self.assertEqual(page.run("document.querySelectorAll('img, b').length"), 0)
        self.assertIn("<img src=x", page.run("document.querySelector('h2').textContent"))
        self.judge_quiet(page, path)

    # ---- a history ------------------------------------------------------------------------------

    def history(self, results):
        directory = self.place / "days"
        directory.mkdir()
        for day, result in enumerate(results):
            (directory / f"web.ci.{day:03}.json").write_text(json.dumps(result))
        self.mallab("report", "--format", "html", "-o", "history.html", directory)
        return self.place / "history.html", self.answer("report", "--json", directory)

    def texts(self, page, selector):
        return page.run(f"[...document.querySelectorAll({json.dumps(selector)})].map((one) => one.textContent)")

    def values(self, page, at=0):
        """The names of lines with their values at the place of the pointer, and the date there."""
        return self.texts(page, ".legend")[at]

    def test_history(self):
        path, history = self.history(html_result.days(24))
        page = self.browser
        page.open(path)
        self.assertEqual(page.run("document.title"), "web.wl - mallab history")
        self.assertEqual(self.texts(page, ".chart figcaption"), ["Time against glibc, on a logarithmic axis", "Peak memory"])
        moved = [words for words in page.run("document.querySelector('main').innerText").splitlines() if re.search(r" by \d", words)]
        self.assertEqual(len(moved), 2, moved)
        self.assertRegex(moved[0], r"2023-11-26 22:13: slower by 2\d\.\d% in time \(changed: version\)$")
        self.assertRegex(moved[1], r"2023-11-30 22:13: more by 2[45]\.\d% in peak memory$")
        self.assertEqual(page.run("document.querySelectorAll('.chart:first-of-type .dot').length"), 48)
        self.judge_pointer(page, history)
        self.judge_theme(page)
        self.judge_quiet(page, path)
        page.open(path, width=360, height=780)
        self.judge_words(page)
        self.judge_width(page, 360)

    def judge_pointer(self, page, history):
        """In the middle of the axis stand the values of the night in the middle; of a line that is hidden, none is drawn."""
        page.run("document.querySelector('.legend + .plot').scrollIntoView({block: 'center', behavior: 'instant'})")
        page.settle()
        left, top, width, height = self.plot(page)
        page.move(left + width / 2 + 40, top + height / 2)
        night = next(point for point in history["points"][24:48] if point["file"] == "web.ci.012.json")
        self.assertIn(f"jemalloc −{100 * (1 - night['ratio']):.1f} %", self.values(page))
        self.assertTrue(self.values(page).endswith("26 Nov 2023 22:13"), self.values(page))
        button = "[...document.querySelectorAll('.legend .entry')].find((one) => one.textContent.startsWith('jemalloc'))"
        page.run(f"{button}.click()")
        self.assertEqual(page.run("document.querySelectorAll('.chart:first-of-type .dot').length"), 24)
        page.run(f"{button}.click()")

    def test_names_in_a_history_are_never_markup(self):
        bad = html_result.HOSTILE
        results = html_result.days(3, names=(bad, "b" + bad))
        for result in results:
            result["machine"]["name"] = result["workloads"][0]["name"] = bad
        results[2]["mallab_version"] = results[2]["machine"]["cpu"] = results[2]["workloads"][0]["candidates"][1]["version"] = bad
        results[2]["workloads"][0]["candidates"][1]["failed"] = bad
        results[1].update(label="https://ci.example/build/7", commit="javascript:alert(1)")
        path, _ = self.history(results)
        self.assertEqual(path.read_text().count("</script"), 2)
        page = self.browser
        page.open(path)
        self.assertIsNone(page.run("window.broken"))
        self.assertEqual(page.run("document.querySelectorAll('img, b, main a').length"), 0)
        self.assertIn("<img src=x", page.run("document.getElementById('main').textContent"))
        self.judge_quiet(page, path)

    # ---- a fleet --------------------------------------------------------------------------------

    def fleet_page(self, *operands, status=0):
        self.mallab("report", "--format", "html", "--force", "-o", "out.html", *operands, status=status)
        self.browser.open(self.place / "out.html")
        self.judge_quiet(self.browser, self.place / "out.html")
        return self.browser

    def test_names_of_a_fleet_stay_words_and_a_phone_is_wide_enough(self):
        def hostile(number, workload):
            if number == 4:
                workload.update(label=html_result.HOSTILE, name=html_result.HOSTILE, program=html_result.HOSTILE)
            if number == 5:
                workload["candidates"][2]["failed"] = html_result.HOSTILE

        base = json.loads(fleet_files.BASE.read_text())
        base["workloads"][0]["candidates"] = [one for one in base["workloads"][0]["candidates"] if not one.get("failed")]
        (self.place / "results").mkdir()
        for number in range(30):
            one = fleet_files.result(number, base, label=f"web-{number:04d}")
            hostile(number, one["workloads"][0])
            fleet_files.write(self.place / "results" / f"{number:04d}.json", one)
        (self.place / "hosts").write_text("".join(f"<b>{number}</b>\n" for number in range(30)))
        page = self.fleet_page("--together", "--expect", "hosts", "results", status=FAILED)
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
        page = self.fleet_page("several.json")
        self.assertEqual(page.run("document.querySelectorAll('[aria-label=\"Every host\"] table').length"), 1)
        self.assertEqual(page.run("[...document.querySelectorAll('details.workload h2')].map((one) => one.textContent.split(' (')[0])")[1:],
                         [f"other{at}.wl" for at in range(1, 6)])
