"""Does it ratchet? Hours by the recorded clock: programs whose memory grows beyond what is live under some allocator, and programs whose does not."""

import json
import random

import lab

SECONDS = 3600


class Program:
    """A program of one thread as a workload in text."""

    def __init__(self, seed):
        self.lines = ["mallab-workload-text 1", "note complete=yes", "thread 0 4242 main"]
        self.free, self.count, self.random = [], 0, random.Random(seed)
        self.sizes, self.live, self.looks = {}, 0, {}

    def at(self, second):
        self.lines.append(f"time {int(second * 1e9)}")
        self.looks[int(second)] = self.live

    def new(self, size):
        if self.free:
            number = self.free.pop()
        else:
            self.count += 1
            number = self.count
        self.lines.append(f"0 malloc {number} {size}")
        self.sizes[number] = size
        self.live += size
        return number

    def drop(self, number):
        self.lines.append(f"0 free {number}")
        self.live -= self.sizes[number]
        self.free.append(number)

    def small(self):
        return self.new(self.random.randrange(32, 600))

    def replace(self, live, times):
        for _ in range(times):
            place = self.random.randrange(len(live))
            self.drop(live[place])
            live[place] = self.small()

    def saw(self, grows):
        """As if the collector had looked at a process that grows by so many bytes an hour beyond what is live."""
        looks = list(self.looks.items())[1 :: len(self.looks) // 200 + 1]
        memory = " ".join(f"{second}000 {int(live + 2e7 + grows * second / SECONDS) // 1024}" for second, live in looks)
        self.lines[1:1] = ["note usage_rss_peak_bytes=90000000", f"note usage_looks={memory}"]

    def text(self):
        return "\n".join([*self.lines, f"end {SECONDS * 10**9}", ""])


def stairs(program):
    """Bursts of one size for minutes, then of a larger one; of each burst an object in each page stays."""
    for second in range(0, SECONDS, 25):
        size = int(64 * 2 ** (second // 225 / 4))
        program.at(second)
        burst = [program.new(size) for _ in range(2_000_000 // size)]
        program.at(second + 10)
        for place, number in enumerate(burst):
            if second % 225 or place % max(2, 4096 // size):
                program.drop(number)


def steady(program, leaked=0):
    """A cache whose entries are replaced at random; so many are added each time and stay."""
    program.at(0)
    live = [program.small() for _ in range(15_000)]
    for second in range(0, SECONDS, 4):
        program.at(second)
        program.replace(live, 300)
        for _ in range(leaked):
            program.small()


def leaks(program):
    """What is live grows: an allocator adds its part to it, and no growth of its own."""
    steady(program, 20)


class Growth(lab.Lab):
    def measured(self, made, *options, grows=None):
        """Growth by candidate and of what is live, in MB an hour; the screen. grows: of the program as it ran."""
        program = Program(7)
        made(program)
        if grows is not None:
            program.saw(grows)
        text, result = self.place / f"{made.__name__}.txt", self.place / f"{made.__name__}.json"
        text.write_text(program.text())
        screen = self.mallab("ab", "-q", "--force", "-n", "3", "--time-budget", "10min", "-o", result, *options, text).stdout.decode()
        workload = json.loads(result.read_text())["workloads"][0]
        growth = {one["name"]: one["growth"]["bytes_per_hour"] / 1e6 for one in workload["candidates"]}
        return growth, workload["candidates"][0]["growth"]["live_bytes_per_hour"] / 1e6, screen

    def test_a_program_that_ratchets(self):
        growth, _, screen = self.measured(stairs)
        for name in {"jemalloc", "tcmalloc", "mimalloc"} & growth.keys():
            self.assertTrue(25 < growth[name] < 40, growth)
        self.assertTrue(growth["glibc"] < 6, growth)
        self.assertIn("beyond what is live, MB an hour: glibc ", screen)

    def test_a_program_that_does_not_and_as_it_ran(self):
        growth, live, screen = self.measured(steady)
        self.assertEqual((set(growth.values()), live), ({0}, 0))
        self.assertNotIn("\ngrowth ", screen)
        self.assertNotIn("\nleak ", screen)
        _, _, screen = self.measured(steady, "-a", "glibc,jemalloc", grows=20e6)
        self.assertRegex(" ".join(screen.split()), r" growth beyond what is live, MB an hour: as recorded (20|19\.\d|20\.\d); glibc 0, jemalloc 0 ")
        growth = json.loads((self.place / "steady.json").read_text())["workloads"][0]["process"]["growth"]
        self.assertTrue(19e6 < growth["low"] < growth["bytes_per_hour"] < growth["high"] < 21e6, growth)
        details = self.mallab("report", "--details", self.place / "steady.json").stdout.decode()
        self.assertRegex(details, r"(?m)^growth +as recorded by 19\S* to (19|20)\S* MB an hour$")

    def test_leak_is_of_what_is_live(self):
        growth, live, screen = self.measured(leaks, "-a", "glibc,jemalloc", grows=0)
        self.assertEqual(set(growth.values()), {0})
        self.assertNotIn("\ngrowth ", screen)
        self.assertTrue(5 < live < 7, live)
        self.assertRegex(screen, r"(?m)^leak +what is live grows [56]\.\d MB an hour under any")
        result = self.place / "leaks.json"
        self.mallab("check", "--budget", "growth<=1MB/h", result)
        self.assertIn("growth_bytes_per_hour", self.mallab("report", "--format", "csv", result).stdout.decode())
