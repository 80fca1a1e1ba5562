"""A collector that is stopped, stopped again and again, or dead without being waited for: the program goes on, after
one short wait at most, and every call is recorded or counted, those after the collector's return recorded again."""
import os
import signal
import subprocess
import time

import recorded
from recorded import check

CHURN = recorded.program('churn')
COUNT = 120000
MADE = 2 * COUNT # events: a free and a malloc a turn
# Programs once waited 30 s, now 1 s (docs/cost.md). Not a measurement: the machine may be busy, so what is told apart is waiting
# once from waiting as long as the collector is silent, or once in every process.
BOUND_NS = 20 * 10 ** 9
CHILDREN = 40


def total(footprint):
    return footprint.info['events'] + sum(footprint.info['lost'].values())


def start(count=COUNT, stopped=False):
    """Memory for a few thousand calls only, and a program that waits for its standard input to close half-way."""
    collector = recorded.Collector('--memory', '300000')
    if stopped:
        collector.process.send_signal(signal.SIGSTOP)
    process = subprocess.Popen([CHURN, str(count), 'pause'], env=collector.environment(), stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE)
    return collector, process


def wait_for_events(collector, process):
    """The collector works again once it has written some of what stood in the segment."""
    path = os.path.join(collector.directory, 'shim_churn.%d.fp' % process.pid)
    while not os.path.exists(path) or recorded.Footprint(path).info['events'] == 0:
        time.sleep(0.02) # the test's time-out is the limit


def test_stopped():
    began = time.monotonic_ns()
    collector, process = start(stopped=True)
    check(process.stdout.readline(), b'half\n', 'half of it, with a collector that stands still')
    took = time.monotonic_ns() - began
    check(took < BOUND_NS, True, 'took %d ns' % took)
    collector.process.send_signal(signal.SIGCONT)
    wait_for_events(collector, process)
    process.stdin.close()
    check(process.wait(timeout=300), 0, 'exit status')
    recording = collector.end()
    footprint = recording.only()
    check(set(footprint.info['lost']), {'collector'}, 'causes')
    check(total(footprint), MADE, 'events and losses')
    check(footprint.info['events'] >= MADE // 2 - 2, True, 'the second half: %d' % footprint.info['events'])
    gaps = sum(m.size for m in footprint.marks if m.call == '(gap)')
    check(gaps, footprint.info['lost'].get('collector'), 'calls missing in the gap')


def test_zombie():
    """Killed, and never waited for by its parent: kill(2) finds it, so does a wait of 30 s."""
    collector, process = start()
    check(process.stdout.readline(), b'half\n', 'the program runs')
    os.kill(collector.process.pid, signal.SIGKILL)
    with open('/proc/%d/stat' % collector.process.pid, encoding='utf-8') as file:
        while file.read().rsplit(')', 1)[1].split()[0] != 'Z':
            file.seek(0)
    process.stdin.close()
    began = time.monotonic_ns()
    check(process.wait(timeout=300), 0, 'exit status')
    took = time.monotonic_ns() - began
    check(took < BOUND_NS, True, 'took %d ns' % took)
    collector.process.wait()
    result = subprocess.run([recorded.COLLECT, '--recover', '--out', collector.directory], check=False, timeout=300,
                            env=recorded.clean_environment())
    check(result.returncode, 0, 'exit status of --recover')
    footprint = recorded.Recording(collector.directory).only()
    check(total(footprint), MADE, 'events and losses')
    check(set(footprint.info['lost']), {'collector'}, 'causes')


def test_children():
    """A process that begins during the silence does not wait on its own account."""
    collector = recorded.Collector('--memory', '300000')
    collector.process.send_signal(signal.SIGSTOP)
    script = ' && '.join(['"$0" %d' % (COUNT // CHILDREN)] * CHILDREN)
    began = time.monotonic_ns()
    result = subprocess.run(['sh', '-c', script, CHURN], env=collector.environment(), check=False)
    took = time.monotonic_ns() - began
    collector.process.send_signal(signal.SIGCONT)
    check(result.returncode, 0, 'exit status')
    check(took < BOUND_NS, True, 'took %d ns' % took)
    recording = collector.end()
    churns = recording.of('shim_churn')
    check([total(f) for f in churns], [MADE // CHILDREN] * CHILDREN, 'events and losses of each')
    told = recorded.listing(collector.directory)
    check(told['complete'], False, 'complete')
    check(told['lost']['collector'], sum(f.info['lost'].get('collector', 0) for f in recording.footprints), 'lost')


recorded.main(globals())
