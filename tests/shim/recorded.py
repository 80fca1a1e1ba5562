"""recorded.py - what the recorder's tests share: run a command recorded, read back what was recorded.

MALLAB_BUILD is the build directory. Two ways of recording: `record` starts mallab-collect itself, as `mallab record`
does, and knows when it has ended; `preload` sets LD_PRELOAD only, and waits for the collector that the shim starts.
"""
import collections
import json
import os
import signal
import shutil
import subprocess
import sys
import tempfile
import time

BUILD = os.environ['MALLAB_BUILD']
SHIM = os.path.join(BUILD, 'libmallab.so')
COLLECT = os.path.join(BUILD, 'mallab-collect')
FPDUMP = os.path.join(BUILD, 'tests', 'shim', 'fpdump')

Mark = collections.namedtuple('Mark', 'lane epoch call address size extra')


def program(name):
    return os.path.join(BUILD, 'tests', 'shim', 'shim_' + name)


# What shim_processes does, by name.
TREES = {'fork': '6001 fork [ 6002 ] 6003', 'generations': '6080 fork [ 6081 fork [ 6082 fork [ 6083 ] ] ]',
         'rawclone': '6004 fork [ ] clone [ 6005 ]', 'exec': '6020 exec 6021', 'vfork': '6030 vfork [ exec 6031 ] 6032',
         'vforkmalloc': '6033 vfork [ 6034 ] 6035', 'spawn': '6040 spawn [ 6041 ]',
         'kill': '6060 kill', 'abort': '6060 abort', 'exit': '6060 exit'}


def tree(name, by=None):
    return [program('processes') if by is None else by, *TREES.get(name, name).split()]


def clean_environment(extra=None):
    env = {k: v for k, v in os.environ.items() if not k.startswith('MALLAB_') and k != 'LD_PRELOAD'}
    env.update(extra or {})
    return env


class Footprint:
    def __init__(self, path):
        self.path = path
        self.info = json.loads(subprocess.check_output([FPDUMP, path]))
        self._marks = None

    @property
    def marks(self):
        if self._marks is None:
            self._marks = []
            for line in subprocess.check_output([FPDUMP, '--marks', self.path], text=True).splitlines():
                lane, epoch, rest = line.split(' ', 2)
                call, address, size, extra = rest.rsplit(' ', 3)
                self._marks.append(Mark(int(lane), int(epoch), call, int(address, 16), int(size), int(extra)))
        return self._marks

    def find(self, call, size=None, extra=None, address=None):
        return [m for m in self.marks if m.call == call and (size is None or m.size == size)
                and (extra is None or m.extra == extra) and (address is None or m.address == address)]

    def count(self, *args, **kwargs):
        return len(self.find(*args, **kwargs))


def listing(directory):
    """recording.json alone, where there are too many footprints to look into each."""
    with open(os.path.join(directory, 'recording.json'), encoding='utf-8') as file:
        return json.load(file)


class Recording:
    def __init__(self, directory):
        self.directory = directory
        self.json = listing(directory)
        self.footprints = [Footprint(os.path.join(directory, p['file'])) for p in self.json['processes']]

    def only(self):
        check(len(self.footprints), 1, 'number of footprints')
        return self.footprints[0]

    def of(self, name):
        return [f for f in self.footprints if f.info['meta']['program'] == name]


def temporary():
    """A directory that goes when every check has passed, and stays to be looked at otherwise."""
    folder = tempfile.mkdtemp(prefix='mallab-test-')
    TEMPORARY.append(folder)
    return folder


class Collector:
    """A mallab-collect under our control; `end` tells it that nobody new will come and waits for it."""

    def __init__(self, *options, directory=None):
        self.directory = directory or os.path.join(temporary(), 'out')
        ready_read, ready_write = os.pipe()
        control_read, self.control = os.pipe()
        self.process = subprocess.Popen(
            [COLLECT, '--out', self.directory, '--ready-fd', str(ready_write), '--control-fd', str(control_read),
             *options], pass_fds=(ready_write, control_read), env=clean_environment())
        os.close(ready_write)
        os.close(control_read)
        with os.fdopen(ready_read) as ready:
            self.answer = ready.read()
        self.segment = self.answer[3:].rstrip('\n') if self.answer.startswith('ok ') else None

    def environment(self, extra=None):
        return clean_environment({'LD_PRELOAD': SHIM, 'MALLAB_SEGMENT': self.segment, **(extra or {})})

    def end_json(self):
        os.close(self.control)
        check(self.process.wait(timeout=300), 0, 'exit status of mallab-collect')
        check(os.path.exists(self.segment), False, 'the segment is still there')
        return listing(self.directory)

    def status(self):
        """Its answer to a question how it stands."""
        needs('real-time signals of the numbers that they have here')
        before = self.listing().get('answered', {}).get('status', 0)
        self.process.send_signal(signal.SIGRTMIN + 3)
        while self.listing().get('answered', {}).get('status', 0) == before:
            time.sleep(0.005) # the test's time-out is the limit
        return self.listing()

    def listing(self):
        return listing(self.directory)

    def end(self):
        self.end_json()
        return Recording(self.directory)


def record(command, options=(), env=None, status=0, **kwargs):
    """Run a command under a collector of ours. Returns its recording; .output has what it printed."""
    collector = Collector(*options)
    check(collector.answer[:3], 'ok ', 'answer of mallab-collect')
    result = subprocess.run(command, env=collector.environment(env), stdout=subprocess.PIPE, check=False,
                            timeout=300, text=True, **kwargs)
    check(result.returncode, status, 'exit status of ' + command[0])
    recording = collector.end()
    recording.output = result.stdout
    return recording


def wait_complete(directory, limit=300):
    """The shim's own collector ends a moment after the program."""
    deadline = time.monotonic() + limit
    while time.monotonic() < deadline:
        try:
            if 'segment_path' not in listing(directory):
                return Recording(directory)
        except FileNotFoundError:
            pass
        time.sleep(0.005)
    raise SystemExit('recording in %s never ended' % directory)


class Unable(Exception):
    """The emulator that runs the programs cannot do what a test is about (MALLAB_EMULATED, scripts/lib/arm64)."""


ALONE = 'child that shares memory, by which a program starts its collector'


def needs(what):
    """Of a test, or of a part of one: what programs under qemu-user do not have."""
    if 'MALLAB_EMULATED' in os.environ:
        raise Unable('qemu-user has no ' + what)


def preload(command, env=None, status=0, **kwargs):
    """Run a command under LD_PRELOAD alone."""
    needs(ALONE)
    directory = os.path.join(temporary(), 'out')
    result = subprocess.run(command, check=False, timeout=300, text=True, stdout=subprocess.PIPE,
                            env=clean_environment({'LD_PRELOAD': SHIM, 'MALLAB_OUT': directory, **(env or {})}),
                            **kwargs)
    check(result.returncode, status, 'exit status of ' + command[0])
    recording = wait_complete(directory)
    recording.output = result.stdout
    return recording


FAILURES = []
TEMPORARY = []


def check(actual, expected, what):
    if actual != expected:
        FAILURES.append(what)
        frame = sys._getframe(1)
        print('FAILED %s:%d %s: got %r, expected %r' % (os.path.basename(frame.f_code.co_filename), frame.f_lineno,
                                                        what, actual, expected), flush=True)


def check_whole(footprint, what):
    """A finished footprint without loss, in legal shape."""
    check(footprint.info['has_trailer'], True, what + ': trailer')
    check(footprint.info['lost'], {}, what + ': lost')
    for key in ('epoch_decreases', 'time_decreases', 'sequence_jumps'):
        check(footprint.info[key], 0, what + ': ' + key)
    check([lane['marks'] for lane in footprint.info['trailer_lanes']], footprint.info['lane_marks'],
          what + ': marks of the trailer')


def main(names):
    """Run what is called test_* among them, in the order of the file."""
    for test in [value for name, value in names.items() if name.startswith('test_')]:
        print('==', test.__name__, flush=True)
        began = time.monotonic()
        try:
            test()
        except Unable as why:
            print('skipped %s: %s' % (test.__name__, why))
        print("   %.1f s" % (time.monotonic() - began), flush=True)
    if FAILURES:
        raise SystemExit('%d checks failed' % len(FAILURES))
    for folder in TEMPORARY:
        shutil.rmtree(folder)
