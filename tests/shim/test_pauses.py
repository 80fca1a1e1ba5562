"""A call behind a pause has the time at which it was made, also in a program with one thread, most of whose calls share one
reading of the clock with sixty others. Held against the program's own readings around each call: a call cannot lie outside them."""
import subprocess

import recorded
from recorded import check, check_whole

PAUSES = recorded.program('pauses')
RATE = 0.001  # what the collector's two readings of both clocks may be off by, as a share of the time between two calls


def times_of(footprint):
    """(call, size, time, whether the clock was read for this very call) of each mark"""
    out = subprocess.run([recorded.FPDUMP, '--times', footprint.path], stdout=subprocess.PIPE, text=True, check=True).stdout
    return [(call, int(size), int(time), own == '1') for call, size, time, own in map(str.split, out.splitlines())]


def test_a_call_behind_a_pause_has_its_time():
    collector = recorded.Collector()
    done = subprocess.run([PAUSES], env=collector.environment(), stdout=subprocess.PIPE, text=True, check=True)
    footprint = collector.end().only()
    check_whole(footprint, 'pauses')
    told = {int(size): (int(before), int(behind)) for size, before, behind in map(str.split, done.stdout.splitlines())}
    found = {size: time for call, size, time, own in times_of(footprint) if call == 'malloc' and size in told and own}
    # The collector has to have run once for a pause to be noticed: it does within milliseconds, but nobody promises when.
    later = sorted(told)[len(told) // 2:]
    check(sorted(size for size in found if size in later), later, 'calls with a time of their own')
    first = later[0]
    for size in later[1:]:
        least, most = told[size][0] - told[first][1], told[size][1] - told[first][0]
        slack = RATE * most + 1000
        if not least - slack <= found[size] - found[first] <= most + slack:
            raise AssertionError(f'malloc({size}) was recorded {found[size] - found[first]} ns behind malloc({first}): {least} to {most} by the program')


def test_bursts_stay_cheap():
    """Where calls follow each other the clock is read once in some sixty."""
    recorded.needs('calls as close as a processor has them')
    collector = recorded.Collector()
    subprocess.run([PAUSES], env=collector.environment(), stdout=subprocess.DEVNULL, check=True)
    times = times_of(collector.end().only())
    stamps = sum(own for _, _, _, own in times)
    check(len(times) > 80000, True, 'both bursts are there')
    check(stamps < len(times) / 30, True, f'{stamps} readings of the clock for {len(times)} calls are few')


recorded.main(globals())
