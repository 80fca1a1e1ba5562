"""Who allocates, shown: folded stacks, pprof as a decoder of its own and as `go tool pprof` read it, and the page in a headless
Chromium: what it shows, what pointer and keys do, that it asks for nothing and that no name becomes markup."""
import gzip
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import browser
from lab import BUILD, SOURCE, Lab

STACKS = SOURCE / "tests/golden/valid/sites.fp"
SHOW = BUILD / "tests/e2e/show_profile"
LIVE, BYTES, COUNT = range(3)
HOSTILE = "</script><img src=x onerror=window.broken=1>;\"\\&\x1b]0;x\x07\u202e"
PROFILE = [
    "title web", "note 12 stacks were cut: no unwind table", f"metric {LIVE}", f"metric {COUNT}",
    "stack 600,6\tmain|web|web.c|10\tparse|web|web.c|20\tgrow|libz.so|z.c|5",
    "stack 300,3\tmain|web|web.c|10\tparse|web|web.c|22\tparse|web|web.c|22\tread|libz.so|z.c|9",
    "stack 100,1\tmain|web|web.c|10\tlist|web",
    "stack 0,7\tmain|web|web.c|11\tlibz.so+0x40|libz.so",
]
BEFORE = [
    "before", f"metric {LIVE}", f"metric {COUNT}",
    "stack 300,1\tmain|web|web.c|10\tparse|web|web.c|20\tgrow|libz.so|z.c|5",
    "stack 600,1\tmain|web|web.c|10\tparse|web|web.c|22\tparse|web|web.c|22\tread|libz.so|z.c|9",
    "stack 100,1\tmain|web|web.c|10\tlist|web",
]


def show(lines, *arguments):
    text = "".join(line + "\n" for line in lines).encode()
    return subprocess.run([SHOW, *map(str, arguments)], input=text, stdout=subprocess.PIPE, check=True).stdout


# ---- profile.proto, as far as it is used

def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift, at = shift + 7, at + 1
        if data[at - 1] < 128:
            return value, at


def fields(data):
    """{number: [integers or bytes]} of a message."""
    found, at = {}, 0
    while at < len(data):
        key, at = varint(data, at)
        value, at = varint(data, at)
        if key & 7 == 2:
            value, at = data[at:at + value], at + value
        found.setdefault(key >> 3, []).append(value)
    return found


def packed(data):
    values, at = [], 0
    while at < len(data):
        value, at = varint(data, at)
        values.append(value - (1 << 64) if value >= 1 << 63 else value)
    return values


def decoded(data):
    """[(sample types), default, comments, {stack as names from the top: values}]"""
    profile = fields(gzip.decompress(data))
    strings = [one.decode() for one in profile[6]]
    functions = {one[1][0]: strings[one[2][0]] + ("," + strings[one[4][0]] if 4 in one else "") for one in map(fields, profile[5])}
    modules = {one[1][0]: strings[one[5][0]] for one in map(fields, profile.get(3, []))}
    locations = {}
    for one in map(fields, profile[4]):
        line = fields(one[4][0])
        locations[one[1][0]] = functions[line[1][0]] + (f":{line[2][0]}" if 2 in line else "") + " " + modules.get(one.get(2, [0])[0], "-")
    stacks = {}
    for sample in map(fields, profile[2]):
        stack = tuple(locations[number] for number in reversed(packed(sample[1][0])))
        assert stack not in stacks
        stacks[stack] = packed(sample[2][0])
    types = [(strings[one[1][0]], strings[one[2][0]]) for one in map(fields, profile[1])]
    return types, strings[profile[14][0]], [strings[one] for one in profile.get(13, [])], stacks


class Folded(unittest.TestCase):
    def test_stacks(self):
        self.assertEqual(show(PROFILE, "folded", 0).decode(),
                         "main;parse;grow 600\nmain;parse;read 300\nmain;list 100\n")
        self.assertIn("main;libz.so+0x40 7\n", show(PROFILE, "folded", 1).decode())

    def test_difference(self):
        self.assertEqual(show(PROFILE + BEFORE, "folded", 0).decode(),
                         "main;parse;grow 300 600\nmain;parse;read 600 300\nmain;list 100 100\n")

    def test_name_is_one_frame_of_one_line(self):
        text = show([f"metric {LIVE}", f"stack 5\ta b\t{HOSTILE}"], "folded", 0).decode()
        self.assertEqual(text.count("\n"), 1)
        self.assertEqual(text.count(";"), 1)
        self.assertNotRegex(text, r"[\x00-\x09\x0b-\x1f\u202e]")


class Pprof(unittest.TestCase):
    def test_all_values_in_one_file(self):
        types, shown, comments, stacks = decoded(show(PROFILE, "pprof", 1))
        self.assertEqual(types, [("live", "bytes"), ("count", "count")])
        self.assertEqual(shown, "count")
        self.assertEqual(comments, ["12 stacks were cut: no unwind table"])
        main, other = "main,web.c:10 web", "main,web.c:11 web"
        self.assertEqual(stacks, {
            (main, "parse,web.c:20 web", "grow,z.c:5 libz.so"): [600, 6],
            (main, "parse,web.c:22 web", "read,z.c:9 libz.so"): [300, 3],
            (main, "list web"): [100, 1],
            (other, "libz.so+0x40 libz.so"): [0, 7]})

    def test_difference(self):
        stacks = decoded(show(PROFILE + BEFORE, "pprof", 0))[3]
        self.assertEqual(list(stacks.values()), [[300, 5], [-300, 2], [0, 7]])

    def test_same_bytes_and_no_bad_text(self):
        lines = [f"metric {LIVE}", f"stack 5\t{HOSTILE}|{HOSTILE}"]
        self.assertEqual(show(lines, "pprof", 0), show(lines, "pprof", 0))
        self.assertEqual(len(decoded(show(lines, "pprof", 0))[3]), 1)

    @unittest.skipUnless(shutil.which("go"), "no go: apt-get install golang-go")
    def test_go_reads_it(self):
        with tempfile.TemporaryDirectory() as place:
            path = pathlib.Path(place) / "a.pb.gz"
            path.write_bytes(show(PROFILE, "pprof", 0))
            surroundings = {**os.environ, "HOME": place, "PPROF_TMPDIR": place, "GOTELEMETRY": "off"}
            top = subprocess.run(["go", "tool", "pprof", "-top", "-sample_index=live", path], env=surroundings,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True, cwd=place).stdout
        self.assertIn("Type: live", top)
        self.assertRegex(top, r"600B 60\.00%\s+grow")
        self.assertRegex(top, r"1000B\s+100%\s+main")
        self.assertRegex(top, r"900B 90\.00%\s+parse")


@unittest.skipUnless(browser.program(), "no Chromium: scripts/setup --tests installs it")
class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.browser = browser.Browser()
        cls.addClassCleanup(cls.browser.__exit__)
        cls.place = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.place.cleanup)

    def open(self, lines, *arguments, **settings):
        path = pathlib.Path(self.place.name) / "flame.html"
        path.write_bytes(show(lines, "html", *arguments))
        self.browser.open(path, **settings)
        self.browser.settle()
        return path

    def told(self):
        return self.browser.run("document.querySelector('.told').textContent")

    def choose(self, selector, value):
        self.browser.run(f"{{const box = document.querySelector('{selector}'); box.value = '{value}'; box.dispatchEvent(new Event('change'))}}")
        self.browser.settle()

    def at(self, x, y):
        """The point of the canvas, in parts of its width and in rows."""
        left, top, width = self.browser.run("(() => { const box = document.querySelector('canvas').getBoundingClientRect(); return [box.left, box.top, box.width]; })()")
        return left + x * width, top + 20 * y + 10

    def click(self, x, y):
        place = dict(zip("xy", self.at(x, y)))
        for kind in ("mousePressed", "mouseReleased"):
            self.browser.ask("Input.dispatchMouseEvent", type=kind, button="left", clickCount=1, **place)
        self.browser.settle()

    def paint(self, x, y):
        """Red and blue of the canvas near the end of a box, behind its name."""
        return self.browser.run(f"(() => {{ const it = document.querySelector('canvas'); return [...it.getContext('2d').getImageData({x} * it.width, {20 * y + 3}, 1, 1).data]; }})()")

    def judge_quiet(self, path):
        self.assertEqual(self.browser.complaints, [])
        self.assertEqual(self.browser.requests, [f"file://{path}"])

    def test_pointer(self):
        path = self.open(PROFILE, 0)
        self.assertEqual(self.browser.run("document.title"), "web - mallab flame")
        self.assertEqual(self.told(), "all 1.00 kB live at the peak, 100 % of all")
        self.browser.move(*self.at(.3, 3))
        self.assertEqual(self.told(), "grow libz.so, z.c · 600 B live at the peak, 60.0 % of all")
        self.click(.75, 3)  # recursion is left out: read is right below parse
        self.assertTrue(self.told().startswith("read libz.so"))
        self.assertEqual(self.browser.run("[...document.querySelectorAll('.path button')].map((one) => one.textContent)"), ["all", "main", "parse"])
        self.browser.move(*self.at(.99, 0))
        self.assertTrue(self.told().startswith("read "))
        self.browser.run("document.querySelectorAll('.path button')[2].click()")
        self.browser.settle()
        self.browser.move(*self.at(.99, 1))
        self.assertTrue(self.told().startswith("read "))
        self.browser.move(*self.at(.6, 1))
        self.assertTrue(self.told().startswith("grow "))
        self.judge_quiet(path)

    def test_keys(self):
        self.open(PROFILE, 0)
        page = self.browser
        page.run("document.querySelector('.stage').focus()")
        seen = []
        for key in ("ArrowDown", "ArrowDown", "ArrowRight", "ArrowRight", "ArrowLeft", "ArrowDown", "ArrowRight", "ArrowUp", "Enter", "Escape"):
            page.key(key)
            seen.append(self.told().split()[0])
        self.assertEqual(seen, ["main", "parse", "list", "list", "parse", "grow", "read", "parse", "parse", "all"])
        self.assertTrue(page.run("document.getElementById('said').textContent").startswith("all "))
        page.key("/")
        self.assertEqual(page.run("document.activeElement.type"), "search")

    def test_values_and_colours(self):
        self.open(PROFILE, 0)
        self.choose("select", "count")
        self.assertTrue(self.told().startswith("all 17 allocations"), self.told())
        self.assertIn("Colour: the module", self.browser.run("document.querySelector('.legend').textContent"))
        self.open(PROFILE + BEFORE, 0)
        self.assertIn("0 % against before", self.told())
        self.assertIn("Colour: now against before", self.browser.run("document.querySelector('.legend').textContent"))
        grow, read, lists = self.paint(.5, 3), self.paint(.8, 3), self.paint(.96, 2)  # double, half, the same
        self.assertGreater(grow[0], grow[2] + 40)
        self.assertGreater(read[2], read[0] + 40)
        self.assertLess(abs(lists[0] - lists[2]), 20)

    def test_difference_of_recordings(self):
        other = [f"metric {LIVE}", "stack 300\tmain|web\tparse|web\tgrow|libz.so", "stack 9\tmain|web\tgone|web"]
        self.open(PROFILE + ["before"] + other, 0)
        self.assertIn("+224 % against before", self.told())
        self.choose("select[aria-label=Recording]", "2")
        self.assertTrue(self.told().startswith("all 309 B"))

    def test_search(self):
        self.open(PROFILE, 0)
        for words, expected in (("LIBZ", "3 functions, 900 B, 90.0 % of all"), ("parse", "1 function, 900 B, 90.0 % of all"),
                                ("nowhere", "0 functions, 0, 0 % of all"), ("", "")):
            self.browser.run(f"{{const box = document.querySelector('input'); box.value = '{words}'; box.dispatchEvent(new Event('input'))}}")
            self.assertEqual(self.browser.run("document.querySelector('.controls .small').textContent").replace("0.00 %", "0 %"), expected)

    def test_estimates_have_their_range(self):
        lines = [f"metric {LIVE}", f"metric {COUNT}", "stack 9000:30:250000,90:30:0\tmain|web\tparse|web\tgrow|libz.so",
                 "stack 900:4:160000,4:4:9\tmain|web\tlist|web", "stack 100:1:9,9:1:0\tmain|web\tparse|web"]
        path = self.open(lines, 0)
        self.assertEqual(self.told(), "all 10.0 kB [7.49 kB to 11.3 kB] live at the peak, 100 % of all")
        self.browser.move(*self.at(.3, 2))
        self.assertEqual(self.told(), "parse web · 9.10 kB [7.14 kB to 10.1 kB] live at the peak, 91.0 % of all · "
                                      "100 B [88.2 B to 106 B] of it in the function itself")
        self.browser.move(*self.at(.98, 2))  # too few samples: a bound, as `sites` has it
        self.assertEqual(self.told(), "list web · less than 2.30 kB live at the peak")
        self.browser.run("{const box = document.querySelector('input'); box.value = 'list'; box.dispatchEvent(new Event('input'))}")
        self.assertEqual(self.browser.run("document.querySelector('.controls .small').textContent"), "1 function, less than 2.30 kB")
        self.choose("select", "count")
        self.assertEqual(self.told(), "list web · less than 10 allocations")
        self.judge_quiet(path)

    def test_hostile_names(self):
        lines = [f"title {HOSTILE}", f"note {HOSTILE}", f"metric {LIVE}", f"metric {COUNT}",
                 f"stack 5,6\t{HOSTILE}|{HOSTILE}|{HOSTILE}"]
        path = self.open(lines, 0)
        self.browser.move(*self.at(.5, 1))
        self.assertIn("</script>", self.told())
        self.assertIsNone(self.browser.run("window.broken"))
        self.assertEqual(self.browser.run("document.querySelectorAll('img').length"), 0)
        self.judge_quiet(path)

    def test_narrow_wide_dark_and_paper(self):
        deep = [f"metric {LIVE}", "stack 1\t" + "\t".join(f"function_{at}" for at in range(400)), *("stack 1\tmain\tf%d" % at for at in range(3000))]
        for lines in (PROFILE, deep):
            for width in (1400, 800, 420, 320):
                path = self.open(lines, 0, width=width, dark=width == 800)
                self.assertLessEqual(self.browser.run("document.documentElement.scrollWidth"), width)
                self.judge_quiet(path)
        sheet = pathlib.Path(self.place.name) / "paper.pdf"
        self.browser.paper(sheet)
        self.assertGreater(sheet.stat().st_size, 1000)
        self.assertEqual(self.browser.run("getComputedStyle(document.querySelector('.mark')).display"), "block")


class Verb(Lab):
    def test_one_recording_in_three_forms(self):
        sites = json.loads(self.mallab("sites", "--json", "--top", "0", STACKS).stdout)
        for value, key in (("live", "peak_bytes"), ("bytes", "bytes"), ("count", "allocations")):
            lines = self.mallab("flame", "--value", value, STACKS).stdout.decode().splitlines()
            self.assertEqual(sum(int(line.rpartition(" ")[2]) for line in lines), sites[key])
            self.mallab("flame", "--value", value, "-f", "-o", "a.pb.gz", STACKS)
            types, shown, _, stacks = decoded((self.place / "a.pb.gz").read_bytes())
            self.assertEqual((types, shown), ([("live", "bytes"), ("bytes", "bytes"), ("count", "count")], value))
            self.assertEqual([sum(column) for column in zip(*stacks.values())], [sites["peak_bytes"], sites["bytes"], sites["allocations"]])
        self.mallab("flame", "-o", "a.html", STACKS)
        self.assertIn('"schema":"mallab-flame/1"', (self.place / "a.html").read_text())
        self.assertIn("[its stack was lost while recording] 5\n", self.mallab("flame", "--value", "count", STACKS).stdout.decode())
