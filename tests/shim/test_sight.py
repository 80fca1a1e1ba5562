"""The program behaves as if not recorded: same output, descriptors, children, signals, exit status; mallab's own programs are never
recorded."""
import os
import shutil
import subprocess

import recorded
from recorded import check, check_whole

SIGHT = recorded.program('sight')


def plain(command, **kwargs):
    return subprocess.run(command, env=recorded.clean_environment(kwargs.pop('env', None)), stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False, **kwargs)



def test_nothing_noticed():
    """By the environment alone, under a collector of ours, and under `mallab record`."""
    recorded.needs(recorded.ALONE)
    expected = plain([SIGHT])
    check(expected.returncode, 3, 'exit status without')
    out = os.path.join(recorded.temporary(), 'out')
    told = os.path.join(recorded.temporary(), 'out')
    collector = recorded.Collector()
    for way, command, env in (('preload', [], {'LD_PRELOAD': recorded.SHIM, 'MALLAB_OUT': out}), ('collector', [], collector.environment()),
                              ('record', [os.path.join(recorded.BUILD, 'mallab'), 'record', '-q', '-o', told, '--'], {})):
        actual = plain([*command, SIGHT], env=env)
        for part in ('stdout', 'stderr', 'returncode'):
            check(getattr(actual, part), getattr(expected, part), part + ' under ' + way)
    for recording in (recorded.wait_complete(out), collector.end(), recorded.Recording(told)):
        footprint = recording.only()
        check_whole(footprint, 'sight')
        check(footprint.count('malloc', 8001), 1, 'the call before main')
        check(footprint.count('malloc', 8002), 10000, 'the calls of main')


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
