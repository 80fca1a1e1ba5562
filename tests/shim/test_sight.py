"""The program behaves as if not recorded: same output, descriptors, children, signals, exit status; real programs
compute the same; mallab's own programs are never recorded."""
import json
import os
import shutil
import subprocess

import recorded
from recorded import check, check_whole

SIGHT = recorded.program('sight')
PYTHON_WORK = '''
import json, re, collections
data = [{"id": i, "tags": [str(i * 7919 % 1000)] * 3} for i in range(4000)]
text = json.dumps(data, sort_keys=True)
words = collections.Counter(re.findall(r"[0-9]+", text))
print(len(text), json.loads(text) == data, words.most_common(3))
'''


def plain(command, **kwargs):
    return subprocess.run(command, env=recorded.clean_environment(kwargs.pop('env', None)), stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False, **kwargs)



def test_nothing_noticed():
    recorded.needs(recorded.ALONE)
    expected = plain([SIGHT])
    check(expected.returncode, 3, 'exit status without')
    out = os.path.join(recorded.temporary(), 'out')
    actual = plain([SIGHT], env={'LD_PRELOAD': recorded.SHIM, 'MALLAB_OUT': out})
    for part in ('stdout', 'stderr', 'returncode'):
        check(getattr(actual, part), getattr(expected, part), part + ' under a plain preload')
    footprint = recorded.wait_complete(out).only()
    check_whole(footprint, 'sight')
    check(footprint.count('malloc', 8001), 1, 'the call before main')
    check(footprint.count('malloc', 8002), 10000, 'the calls of main')

    collector = recorded.Collector()
    actual = subprocess.run([SIGHT], env=collector.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            text=True, check=False)
    for part in ('stdout', 'stderr', 'returncode'):
        check(getattr(actual, part), getattr(expected, part), part + ' under a collector')
    check_whole(collector.end().only(), 'sight')


def test_closed_descriptors():
    """Started without stdin, stdout, stderr, nothing of ours takes their numbers."""
    command = ['sh', '-c', 'exec "$0" <&- >&- 2>&-', SIGHT]
    recording = recorded.preload(command, status=3)
    check(len(recording.of('shim_sight')), 1, 'footprints of the program')


def test_collector_holds_nothing():
    """No pipe, terminal or file of the program's stays open in the collector, and it stands in no directory of ours."""
    recorded.needs(recorded.ALONE)
    out = os.path.join(recorded.temporary(), 'out')
    process = subprocess.Popen(['cat'], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               env=recorded.clean_environment({'LD_PRELOAD': recorded.SHIM, 'MALLAB_OUT': out}))
    process.stdin.write(b'x')
    process.stdin.flush()
    check(process.stdout.read(1), b'x', 'cat runs')
    collector = recorded.listing(out)['collector']['pid']
    folder = '/proc/%d/fd' % collector
    links = {int(fd): os.readlink(os.path.join(folder, fd)) for fd in os.listdir(folder)}
    check([links[fd] for fd in (0, 1, 2)], ['/dev/null'] * 3, "the collector's standard descriptors")
    check([link for link in links.values() if link.startswith(('pipe:', '/dev/pts'))], [], 'pipes and terminals')
    check(os.readlink('/proc/%d/cwd' % collector), '/', 'where it stands')
    with open('/proc/%d/environ' % collector, encoding='utf-8') as file:
        check([e for e in file.read().split('\0') if e.startswith(('LD_PRELOAD', 'MALLAB_'))], [], 'its environment')
    check(os.getsid(collector) == os.getsid(process.pid), False, 'its session')
    process.stdin.close()
    check(process.stdout.read(), b'', 'the pipe ends')
    check(process.wait(), 0, 'exit status')
    recorded.wait_complete(out)


def test_python():
    recorded.needs('python of its processor')
    python = next((p for p in ('/usr/bin/python3', shutil.which('python3')) if p and os.path.exists(p)), None)
    env = {'PYTHONMALLOC': 'malloc', 'PYTHONHASHSEED': '0'}
    expected = plain([python, '-c', PYTHON_WORK], env=env)
    recording = recorded.record([python, '-c', PYTHON_WORK], env=env)
    check(recording.output, expected.stdout, 'what python computes')
    footprint = recording.only()
    check_whole(footprint, 'python')
    check(footprint.info['events'] > 100000, True, 'events of python')
    live = set()
    wrong = 0
    for m in footprint.marks:
        if m.call == 'free' or m.call == '(resize from)':
            wrong += m.address != 0 and m.address not in live
            live.discard(m.address)
        elif m.address and m.call != '(resident)':
            wrong += m.address in live
            live.add(m.address)
    check(wrong, 0, 'marks that contradict each other')


def test_other_allocators():
    """The allocator behind ours is whichever the program has, and all its operators are seen."""
    tried = 0
    for name in ('libjemalloc.so.2', 'libtcmalloc_minimal.so.4', 'libtbbmalloc_proxy.so.2'):
        path = next((p for p in ('/usr/lib/x86_64-linux-gnu/' + name, '/usr/lib/aarch64-linux-gnu/' + name,
                                 '/usr/lib/' + name) if os.path.exists(p)), None)
        if path is None or not os.path.exists(recorded.program('operators')):
            continue
        tried += 1
        recording = recorded.record([recorded.program('operators')],
                                    env={'LD_PRELOAD': recorded.SHIM + ' ' + path})
        check(recording.output, 'failures 0\n', 'operators on ' + name)
        footprint = recording.only()
        check_whole(footprint, name)
        check(footprint.count('operator new', 4021), 100, name + ': calls after an exception')
        for size in (4001, 4005):
            check(footprint.count('operator new', size), 1, '%s: operator new(%d)' % (name, size))
        check(footprint.count('operator new(align)', 4011, 128), 1, name + ': aligned new')
    print('tried on %d other allocators' % tried)


def test_never_allocates():
    for way in (recorded.record, recorded.preload):
        footprint = way([recorded.program('never')]).only()
        check_whole(footprint, 'never')
        check(footprint.info['meta']['program'], 'shim_never', 'name')


def test_own_programs():
    """mallab, mallab-collect and mallab-replay-* are left alone, under whichever path."""
    recorded.needs(recorded.ALONE)
    folder = recorded.temporary()
    for name in ('mallab', 'mallab-replay-glibc'):
        copy = os.path.join(folder, name)
        shutil.copy(recorded.program('never'), copy)
        result = plain([copy], env={'LD_PRELOAD': recorded.SHIM}, cwd=folder)
        check((result.returncode, result.stderr), (0, ''), name)
    check(sorted(os.listdir(folder)), ['mallab', 'mallab-replay-glibc'], 'no recording was made')


def test_default_directory():
    """Without MALLAB_OUT the recording is ./mallab-NAME.PID."""
    recorded.needs(recorded.ALONE)
    folder = recorded.temporary()
    process = subprocess.Popen([recorded.program('never')], cwd=folder,
                               env=recorded.clean_environment({'LD_PRELOAD': recorded.SHIM}))
    check(process.wait(), 0, 'exit status')
    recording = recorded.wait_complete(os.path.join(folder, 'mallab-shim_never.%d' % process.pid))
    check(os.path.basename(recording.only().path), 'shim_never.%d.fp' % process.pid, 'name of the footprint')
    check(os.stat(recording.directory).st_mode & 0o777, 0o700, 'mode of the directory')
    for name in os.listdir(recording.directory):
        check(os.stat(os.path.join(recording.directory, name)).st_mode & 0o777, 0o600, 'mode of ' + name)


recorded.main(globals())
