"""Figures as they come: rows and tables for people, one object for --json, nothing without its samples."""
import json
import os
import statistics
import subprocess
import sys


def deviation(samples):
    """Median absolute deviation: one disturbed round does not move it."""
    middle = statistics.median(samples)
    return statistics.median(abs(s - middle) for s in samples)


def digits(number):
    """Three significant digits without an exponent."""
    if number != number:
        return "-"
    size = abs(number)
    return f"{number:,.0f}" if size >= 100 or number == int(number) else f"{number:.1f}" if size >= 10 else f"{number:.2f}"


def verdict(middle, target, at_most):
    if target is None:
        return ""
    aim = f"{'<=' if at_most else '>='} {target:g}"
    if middle <= target if at_most else middle >= target:
        return aim
    off = (middle / target if target else 0) if at_most else target / max(middle, 1e-9)
    return f"{aim}  MISSED" + (f", x{off:.2f}" if off else "")


class Report:
    def __init__(self, as_json, root, setting):
        self.as_json, self.root, self.setting = as_json, root, setting
        self.figures = []
        self.notes = []
        self.load_at_start = os.getloadavg()

    def keep(self, name, samples, unit, target=None, at_most=True):
        self.figures.append({"name": name, "unit": unit, "median": statistics.median(samples), "deviation": deviation(samples),
                             "low": min(samples), "high": max(samples), "samples": samples, "target": target,
                             "at_most": at_most})

    def add(self, name, samples, unit, target=None, at_most=True):
        """One figure, one line."""
        self.keep(name, samples, unit, target, at_most)
        middle = statistics.median(samples)
        spread = f"[{min(samples):.4g} .. {max(samples):.4g}]" if len(samples) > 1 else ""
        self.say(f"{name:46} {middle:10.4g} {unit:10} {spread:24} {verdict(middle, target, at_most)}".rstrip())

    def table(self, name, title, columns, rows, aimed=("mallab",)):
        """rows: (label, {column: samples}, target or None); a cell is median ±deviation.

        The target is held against the worst of the columns named in aimed."""
        lines = []
        for label, cells, target in rows:
            shown, aims = [], []
            for column in columns:
                samples = cells.get(column)
                if not samples:
                    shown.append("-")
                    continue
                own = target if column in aimed else None
                self.keep(f"{name}/{label}/{column}", samples, label.rpartition(", ")[2], own)
                middle, spread = statistics.median(samples), deviation(samples)
                shown.append(digits(middle) + (f" ±{digits(spread)}" if spread else ""))
                if own is not None:
                    aims.append(middle)
            if any(text != "-" for text in shown):
                lines.append((label, shown, verdict(max(aims), target, True) if aims else ""))
        left = max(len(line[0]) for line in lines)
        widths = [max(len(column), *(len(line[1][i]) for line in lines)) for i, column in enumerate(columns)]
        self.say(f"\n{title}")
        head = "  ".join(column.rjust(width) for column, width in zip(columns, widths))
        self.say(f"  {'':{left}}  {head}  target" if any(line[2] for line in lines) else f"  {'':{left}}  {head}")
        for label, shown, aim in lines:
            row = "  ".join(text.rjust(width) for text, width in zip(shown, widths))
            self.say(f"  {label:{left}}  {row}  {aim}".rstrip())

    def say(self, text):
        if not self.as_json:
            print(text, flush=True)

    def note(self, text):
        """What a reader of the figures must know: on stderr, and in the object."""
        self.notes.append(text)
        print(text, file=sys.stderr, flush=True)

    def commit(self):
        return subprocess.run(["git", "-C", self.root, "describe", "--always", "--dirty"], capture_output=True,
                              text=True).stdout.strip()

    def end(self, path=None):
        load = [round(self.load_at_start[0], 2), round(os.getloadavg()[0], 2)]
        everything = {"schema": "mallab-bench/1", "commit": self.commit(), "cpus": os.cpu_count(), "load": load,
                      "kernel": os.uname().release, **self.setting, "notes": self.notes, "figures": self.figures}
        self.say(f"\ncommit {everything['commit']}, {os.cpu_count()} CPUs, load {load[0]} at the start and {load[1]} at the end,"
                 f" {self.setting['rounds']} rounds: median ±median deviation")
        if self.as_json:
            json.dump(everything, sys.stdout, indent=1)
            print()
        if path:
            path.write_text(json.dumps(everything, indent=1) + "\n")
