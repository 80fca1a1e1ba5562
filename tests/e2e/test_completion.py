"""Completion as a user meets it: a real bash that calls the function of completion/mallab.bash, a real zsh on a terminal in
which Tab is pressed; verbs, options, values, candidates, files by ending, and command lines behind '--'."""
import os
import pty
import shlex
import subprocess

import lab

ASK = r"""
. "$1"; shift
complete -p mallab >/dev/null
COMP_LINE=$1 COMP_POINT=${#1}; shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_mallab
printf '%s\n' "${COMPREPLY[@]}"
"""
BREAKS = "=:"  # of COMP_WORDBREAKS, those that occur in our words


def split(line):
    """A command line as bash hands it to a completion: parts at blanks, and '=' and ':' are words of their own."""
    words = []
    for word in line.split(" "):
        part = ""
        for letter in word:
            if letter in BREAKS:
                words += [part, letter] if part else [letter]
                part = ""
            else:
                part += letter
        if part or not word or word[-1] in BREAKS and word is line.split(" ")[-1]:
            words.append(part)
    return words


class Completion(lab.Lab):
    def setUp(self):
        super().setUp()
        for name in ("web.wl", "web.fp", "result.json", "notes.txt", "with space.wl"):
            (self.place / name).touch()
        for name in ("nightly", "empty"):
            (self.place / name).mkdir()
        self.environment = {"PATH": f"{lab.BUILD}:{os.environ['PATH']}",
                            "MALLAB_ALLOCATORS": str(lab.SOURCE / "allocators")}


class Bash(Completion):
    def complete(self, line):
        words = split(line)
        result = lab.run(["bash", "--norc", "-c", ASK, "-", lab.SOURCE / "completion/mallab.bash", line, *words],
                         cwd=self.place, env=self.environment)
        self.assertEqual((result.returncode, result.stderr), (0, b""), line)
        return result.stdout.decode().split("\n")[:-1]

    def test_exactly(self):
        for typed, offered in (("mallab recor", ["record"]), ("mallab help docto", ["doctor"]), ("mallab nosuchverb --", [""]),
                               ("mallab report web.wl --form", ["--format"]), ("mallab report --format m", ["md"]),
                               ("mallab report --format=m", ["md"]),  # what stands behind '=' is replaced
                               ("mallab ab --color ", ["auto", "always", "never"]), ("mallab convert --from andr", ["android"]),
                               ("mallab ab --rounds ", [""]), ("mallab replay -a glibc+noc", ["glibc+nocache"]),
                               ("mallab ab note", ["notes.txt"]),  # a trace may have any name
                               ("mallab ab --keep ", ["empty", "nightly"]), ("mallab ab -o resu", ["result.json"]),
                               ("mallab ab --output=resu", ["result.json"]), ("mallab ab -- cat resu", ["result.json"])):
            self.assertEqual((typed, sorted(self.complete(typed))), (typed, sorted(offered)))

    def test_among_others(self):
        for typed, some, others in (("mallab ", {"ab", "record", "report", "doctor", "help"}, set()),
                                    ("mallab report --", {"--format", "--json", "--output", "--help"}, set()),
                                    ("mallab report --format ", {"table", "md", "csv", "json"}, set()),
                                    ("mallab ab -a ", {"glibc"}, set()),
                                    ("mallab ab -a glibc,glib", {"glibc,glibc+nocache"}, {"glibc,glibc", "glibc,nothing"}),  # it is in the list
                                    ("mallab ab ", {"web.wl", "web.fp", "with space.wl", "nightly"}, {"notes.txt"}),
                                    ("mallab report ", {"result.json"}, set()),
                                    ("mallab record -o x -- sqlit", {"sqlite3"}, set())):
            offered = set(self.complete(typed))
            self.assertEqual((typed, some - offered, others & offered), (typed, set(), set()))

    def test_every_offered_value_is_taken(self):
        for option in (("report", "--format"), ("report", "--color"), ("ab", "--limit-by"), ("record", "--on-full")):
            values = self.complete(f"mallab {option[0]} {option[1]} ")
            self.assertGreater(len(values), 1, option)
            for value in values:
                self.mallab(*option, value, "--help")


@lab.needs("zsh")
class Zsh(Completion):
    SETUP = r"""
        PS1= PS2= RPS1=
        fpath=(%(folder)s $fpath)
        autoload -Uz compinit && compinit -u -D
        compdef _mallab mallab
        zstyle ':completion:*' menu no
        setopt no_beep no_auto_list no_auto_menu no_list_beep
        tell() { print -r -- "$BUFFER" >%(answer)s.new; mv %(answer)s.new %(answer)s; BUFFER= }
        zle -N tell; bindkey '^X' tell; bindkey '^I' complete-word
        print ready >%(answer)s
    """

    def setUp(self):
        super().setUp()
        self.answer_file = self.place / "empty" / "answer"
        script = self.place / "empty" / "setup.zsh"
        script.write_text(self.SETUP % {"folder": shlex.quote(str(lab.SOURCE / "completion")),
                                        "answer": shlex.quote(str(self.answer_file))})
        self.terminal, inside = pty.openpty()
        environment = {**os.environ, **self.environment, "TERM": "dumb", "LC_ALL": "C.UTF-8", "HOME": str(self.place)}
        self.shell = subprocess.Popen(["zsh", "-f", "-i", "-o", "no_rcs"], stdin=inside, stdout=inside, stderr=inside,
                                      cwd=self.place, env=environment, start_new_session=True)
        os.close(inside)
        self.addCleanup(self.end)
        self.type(f". {script}\n")
        self.read_answer()

    def end(self):
        self.shell.kill()
        self.shell.wait()
        os.close(self.terminal)

    def type(self, text):
        os.write(self.terminal, text.encode())

    def read_answer(self):
        def there():
            os.set_blocking(self.terminal, False)
            try:
                os.read(self.terminal, 65536)  # a full terminal would stop the shell
            except (BlockingIOError, OSError):
                pass
            return self.answer_file.exists()
        lab.wait_for(there, "zsh to answer")
        text = self.answer_file.read_text()
        self.answer_file.unlink()
        return text.rstrip("\n")

    def complete(self, line):
        self.type(line + "\t\x18")
        return self.read_answer()

    def test_all(self):
        for typed, completed in (("mallab recor", "mallab record "),
                                 ("mallab report --form", "mallab report --format "),
                                 ("mallab report --format m", "mallab report --format md "),
                                 ("mallab report --format=m", "mallab report --format=md "),
                                 ("mallab help docto", "mallab help doctor "),
                                 ("mallab ab -a glibc,glibc+noc", "mallab ab -a glibc,glibc+nocache"),
                                 ("mallab report resu", "mallab report result.json "),
                                 ("mallab ab --keep nigh", "mallab ab --keep nightly/"),
                                 ("mallab ab --output=resu", "mallab ab --output=result.json "),
                                 ("mallab ab note", "mallab ab notes.txt "),
                                 ("mallab ab -- cat resu", "mallab ab -- cat result.json ")):
            with self.subTest(typed=typed):
                self.assertEqual(self.complete(typed), completed)
