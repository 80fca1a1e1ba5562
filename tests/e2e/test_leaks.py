"""Who does not free, while it goes on and after it died: all that is old enough is told, from any moment on."""
import json
import os
import re
import shutil
import signal
import subprocess

import lab
from test_control import Steps


class Recorded(Steps):
    """steps.c, recorded with its call stacks."""

    def __init__(self, test):
        super().__init__(test, "--quiet", "--sites", name="rec")


def objects(answer, function="leaks"):
    return sum(site["live_objects"] for site in answer["sites"] if site["site"] == function)


class Leaks(lab.Lab):
    def look(self, *options):
        return self.answer("leaks", "--json", "--by", "function", "--top", "0", *options, "rec")

    def test_a_killed_program_is_told_to_its_last_object(self):
        program = Recorded(self)
        program.play("leaks 10", "leaks 50")
        os.kill(program.json()["command_pid"], signal.SIGKILL)
        lab.Told.end(program)
        answer = self.look()
        self.assertIs(answer["complete"], True)
        self.assertEqual(objects(answer), 60)
        self.assertEqual(answer["sites"][0]["stack"][0]["function"], "leaks")

    def test_while_it_goes_on_all_is_seen_that_is_old_enough(self):
        program = Recorded(self)
        for count in (10, 7):
            program.do(f"leaks {count}")
            before = objects(self.look())
            self.assertEqual(objects(self.look("--older", "1h")), 0)
            lab.wait_for(lambda: objects(self.look("--older", "10ms")) == before, "them to become old")
        self.assertEqual(before, 17)
        program.end()
        text = self.mallab("leaks", "--older", "10ms", "rec").stdout.decode()
        self.assertIn(", older than 10 ms", text.splitlines()[0])

    def test_between_two_moments(self):
        program = Recorded(self)
        moments = []
        for count in (10, 5, 7):
            program.do(f"leaks {count}")
            moments.append(self.look()["end_ns"] // 1_000_000 + 1)
            lab.wait_for(lambda: self.look()["end_ns"] > (moments[-1] + 1) * 1_000_000, "the next millisecond")
        program.end()
        first, second, third = (f"{moment}ms" for moment in moments)
        for options, wanted in (([], 22), (["--at", first], 10), (["--at", second], 15), (["--since", first], 12),
                                (["--since", first, "--at", second], 5), (["--since", second, "--at", third], 7), (["--since", third], 0)):
            self.assertEqual((options, objects(self.look(*options))), (options, wanted))

    def test_growth_age_and_what_was_made_at_the_start(self):
        program = Recorded(self)
        program.play("starts 10", "churns 500")

        def sites():
            program.do("leaks 1")
            return {site["site"]: site for site in self.look()["sites"]}
        # All of the first are of the first quarter when four times as much time has passed, and older than the others became.
        lab.wait_for(lambda: sites()["starts"]["quarter1_bytes"] == 5000 and sites()["churns"]["overdue_bytes"] == 100, "time to pass")
        now = sites()
        self.assertEqual([now["starts"][f"quarter{i}_bytes"] for i in (2, 3, 4)], [0, 0, 0])
        self.assertEqual(sum(now["leaks"][f"quarter{i}_bytes"] for i in (1, 2, 3, 4)), now["leaks"]["live_bytes"])
        self.assertGreater(now["leaks"]["quarter4_bytes"], 0)
        self.assertEqual((now["starts"]["freed_share"], now["leaks"]["freed_share"]), (0, 0))
        self.assertAlmostEqual(now["churns"]["freed_share"], 499 / 500)
        self.assertEqual(now["leaks"]["overdue_bytes"], 0)
        self.assertGreater(now["starts"]["oldest_ns"], now["leaks"]["oldest_ns"])
        text = self.mallab("leaks", "--by", "function", "rec").stdout.decode()
        self.assertRegex(text, r"(?s) leaks\n.*all made in the first quarter:\n.* starts\n.*\nstart  +[0-9.]+ k?B in 1[0-9] objects")
        self.assertEqual(self.look("--sort", "oldest_ns")["sites"][-1]["site"], "leaks")

    def test_a_child_inherits_what_its_parent_allocated(self):
        program = Recorded(self)
        program.play("leaks 10", "forks 5", "leaks 2")
        program.end()
        facts = self.listing("rec")
        parent = facts["command_pid"]
        child, = {process["pid"] for process in facts["processes"]} - {parent}
        self.assertEqual(objects(self.look("--process", str(parent))), 12)
        answer = self.look("--process", str(child))
        self.assertEqual(objects(answer), 5)
        inherited, = (site for site in answer["sites"] if site["site"] == "[inherited from the parent]")
        at_the_fork = self.look("--process", str(parent))["sites"]
        self.assertEqual(inherited["live_objects"], sum(site["live_objects"] for site in at_the_fork) - 2)
        self.assertEqual(inherited["live_bytes"], sum(site["live_bytes"] for site in at_the_fork) - 2000)
        self.assertEqual((inherited["cut"], inherited["stack"]), ("inherited", []))
        self.assertIn("[inherited from the parent]", self.mallab("flame", "--process", str(child), "rec").stdout.decode())


SHAPES = r"""
#include <dirent.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

static bool frees; // the same shape, without its leak
static void *volatile place;
static void put(void *object) { place = object; }
struct node { std::shared_ptr<node> other; };
struct base { ~base() {} };
struct derived : base { std::string text = std::string(100, 'x'); };
static std::string path;

static void lost() { put(malloc(100)); if (frees) free(place); put(NULL); }
static void copied() { put(strdup("a copy")); if (frees) free(place); }
static void formatted() { char *text; if (asprintf(&text, "%d", 5) < 0) abort(); put(text); if (frees) free(text); }
static void resized() { put(realloc(malloc(10), 1000)); if (frees) free(place); }
static void array() { int *all = new int[50]; put(all); if (frees) delete[] all; }
static void cycle() { auto a = std::make_shared<node>(), b = std::make_shared<node>(); a->other = b; b->other = a; if (frees) b->other.reset(); }
static void sliced() { derived *one = new derived; put(one); if (frees) delete one; else delete static_cast<base *>(one); }
static void pointers() { std::vector<int *> all; for (int i = 0; i < 10; i++) all.push_back(new int(i)); for (int *one : all) if (frees) delete one; }
static void file() { FILE *one = fopen(path.c_str(), "r"); char word[8]; if (fscanf(one, "%7s", word) != 1) abort(); if (frees) fclose(one); }
static void line() { FILE *one = fopen(path.c_str(), "r"); char *text = NULL; size_t room = 0; if (getline(&text, &room, one) < 0) abort(); fclose(one); put(text); if (frees) free(text); }
static void folder() { DIR *one = opendir("/"); (void)readdir(one); if (frees) closedir(one); }
static void thrown() { try { int *one = new int(1); put(one); if (frees) delete one; throw std::runtime_error(std::string(50, 'x')); } catch (const std::exception &) {} }
static void threaded() { std::thread([] { put(calloc(1, 200)); if (frees) free(place); }).join(); }
static void chain() { void **last = NULL; for (int i = 0; i < 5; i++) { void **next = (void **)malloc(64); *next = last; last = next; } put(last); while (frees && last != NULL) { void **next = (void **)*last; free(last); last = next; } }

int main(int, char **words)
{
    static const struct { const char *name; void (*call)(); } all[] = {
        {"lost", lost}, {"copied", copied}, {"formatted", formatted}, {"resized", resized}, {"array", array}, {"cycle", cycle},
        {"sliced", sliced}, {"pointers", pointers}, {"file", file}, {"line", line}, {"folder", folder}, {"thrown", thrown},
        {"threaded", threaded}, {"chain", chain}};
    path = words[0] + std::string(".txt"); // what libraries keep, first: locales, time zones, the environment, stdio
    setlocale(LC_ALL, "");
    tzset();
    setenv("SHAPE", words[1], 1);
    FILE *written = fopen(path.c_str(), "w");
    if (written == NULL || fputs("some text\n", written) < 0 || fclose(written) != 0)
        abort();
    frees = words[2] != NULL;
    for (const auto &one : all)
        if (one.name == std::string(words[1]))
            one.call();
    puts("stdio's buffer");
    std::cout << "and a string that is longer than what fits into it: " << std::string(100, 'x') << std::endl;
    path = std::string();
    path.shrink_to_fit();
    return 0;
}
"""
NAMES = ("lost", "copied", "formatted", "resized", "array", "cycle", "sliced", "pointers", "file", "line", "folder", "thrown", "threaded",
         "chain")


@lab.needs("g++")
class Gate(lab.Lab):
    """--exit-code fails for leaks of all shapes, and for nothing that libraries keep by design."""

    def build(self, *command, source):
        return self.built(source.encode(), "shapes", compiler=command)

    def judge(self, *command, name="rec", options=(), status=None):
        """The gate's exit code and answer; what is live is in one of three parts."""
        self.mallab("record", "--quiet", "--sites", "-o", name, "--", *command, stdout=subprocess.DEVNULL)
        result = self.mallab("leaks", "--json", "--top", "0", "--exit-code", *options, name, status=None)
        answer = json.loads(result.stdout)
        parts = [(site["live_bytes"], site["live_objects"]) for site in answer["sites"]]
        parts += [(answer[key]["bytes"], answer[key]["objects"]) for key in ("kept_by_libraries", "ignored")]
        self.assertEqual(tuple(map(sum, zip(*parts))), (answer["live_bytes"], answer["live_objects"]))
        return result.returncode, answer

    @staticmethod
    def told(answer):
        """The sites less those of functions of libc, called by main, that have no name here: without libc6-dbg nobody knows what
        these keep."""
        def is_told(functions):
            return "main" not in functions[1:] or not functions[functions.index("main", 1) - 1].startswith("libc.so.6+")
        return [site for site in answer["sites"] if is_told([frame["function"] for frame in site["stack"]])]

    def test_shapes_of_leaks(self):
        program = self.build("g++", "-O0", "-g", "-w", "-pthread", "-x", "c++", source=SHAPES)
        for name in NAMES:
            with self.subTest(shape=name):
                code, answer = self.judge(program, name, name=name)
                self.assertEqual(code, 4)
                for site in self.told(answer): # the leak, and nothing else
                    self.assertIn(name, [re.sub(r"[({:].*", "", frame["function"]) for frame in site["stack"]])
                self.assertTrue(self.told(answer))
                code, answer = self.judge(program, name, "freed", name=name + "-freed")
                self.assertEqual((code, self.told(answer)), (4 if answer["sites"] else 0, []))
                self.assertGreater(answer["kept_by_libraries"]["bytes"], 70000) # libstdc++'s pool, at least

    def test_clean_programs(self):
        programs = [[self.build("g++", "-x", "c", source='#include <stdio.h>\nint main(void) { puts("hello"); return 0; }\n')],
                    ["/usr/bin/python3", "-c", "pass"], ["sqlite3", ":memory:", "select 1;"]]
        for number, command in enumerate(programs):
            if shutil.which(str(command[0])) is None:
                continue
            with self.subTest(program=command[0]):
                code, answer = self.judge(*command, name=f"clean{number}")
                self.assertEqual((code, answer["sites"]), (0, []), [site["site"] for site in answer["sites"]])
                self.assertGreater(answer["kept_by_libraries"]["objects"], 0)
        said = self.mallab("leaks", "clean0").stdout.decode()
        self.assertRegex(said, r"\nno site\n\nkept +[\d.]+ kB in 1 object by the C and C\+\+ libraries")

    @lab.needs("rustc")
    def test_a_clean_program_of_rust(self):
        program = self.build("rustc", "-O", "--crate-name", "web", source='fn main() { println!("hello"); }\n')
        code, answer = self.judge(program)
        self.assertEqual((code, answer["sites"]), (0, []))
        program = self.build("rustc", "-O", "--crate-name", "web",
                             source='fn main() { println!("{}", Box::leak(format!("{:?}", std::env::args()).into_boxed_str())); }\n')
        code, answer = self.judge(program, name="leaks")
        self.assertEqual(code, 4)

    def test_what_is_ignored(self):
        """Functions and modules by their names' parts, as in LeakSanitizer's suppressions."""
        program = self.build("g++", "-O0", "-g", "-w", "-pthread", "-x", "c++", source=SHAPES)
        self.mallab("record", "--quiet", "--sites", "-o", "rec", "--", program, "chain", stdout=subprocess.DEVNULL)
        if '"libc.so.6+' in self.mallab("leaks", "--json", "rec").stdout.decode():
            self.skipTest("what libc keeps is told by its own symbols: not installed: libc6-dbg")
        for pattern, ignored in (("leak:chain", 5), ("cha*n", 5), ("^chain()$", 5), ("leak:shapes", 5), ("^main$", 5), ("^hapes$", 0),
                                 ("chain$", 0), ("leak:^lib*.nothing", 0), ("# chain", 0)):
            with self.subTest(pattern=pattern):
                (self.place / "known").write_text(f"# what is known\n\n{pattern}\n")
                result = self.mallab("leaks", "--json", "--exit-code", "--ignore", "known", "rec", status=None)
                answer = json.loads(result.stdout)
                self.assertEqual((result.returncode, answer["ignored"]["objects"]), (0 if ignored else 4, ignored))
        said = self.mallab("leaks", "--exit-code", "--ignore", "missing", "rec", status=3).stderr.decode()
        self.assertIn("cannot read 'missing': No such file", said)
