"""Programs that put themselves behind filters of system calls, into strict mode, or give up the clock run to the same end as
unrecorded, and what they call is recorded, or counted."""
import os
import subprocess

import recorded
from recorded import check

CONFINED = recorded.program('confined')
COUNT = 40000 # more than a pool of 1 MiB takes at one time
REFUSED = 77
# Whatever the recorder asks a kernel for where nobody is confined.
OURS = 'clock_gettime,openat,gettid,getpid,getppid,tgkill,kill,madvise,mincore,readlinkat,newfstatat,socket,read,close,nanosleep'
WITHOUT_FUTEX = 'futex,' + OURS
SMALL = ('--memory', '1048576')


def run(how, action, what, options=(), count=COUNT):
    """Recorded and not: the same. Returns the recording and what the program says that it called; None where the kernel refuses."""
    command = [CONFINED, how, action, what, str(count)]
    alone = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False, env=recorded.clean_environment())
    if alone.returncode == REFUSED:
        print('left out: refused here')
        return None
    check(alone.returncode, 0, 'exit status unrecorded')
    recording = recorded.record(command, options=options)
    check(recording.output, alone.stdout, 'output of ' + ' '.join(command[1:]))
    return recording, int(alone.stdout.split()[1])


def of_all(recording, call):
    return sum(footprint.count(call, 907) for footprint in recording.footprints)


def lost(recording):
    return sum(sum(footprint.info['lost'].values()) for footprint in recording.footprints)


def whole(how, action, what, options=()):
    made = run(how, action, what, options)
    if made is None:
        return
    recording, calls = made
    check((of_all(recording, 'malloc'), lost(recording)), (calls, 0), 'calls of %s %s %s' % (how, action, what))
    for footprint in recording.footprints:
        for key in ('epoch_decreases', 'time_decreases', 'sequence_jumps'):
            check(footprint.info[key], 0, key)


def test_tight():
    """Nothing but write and exit is allowed; put up through prctl and through syscall, killed for others and trapped."""
    whole('prctl', 'kill', 'tight:alone')
    whole('syscall', 'trap', 'tight:alone')
    whole('prctl', 'trap', 'tight:alone', SMALL)
    whole('syscall', 'kill', 'tight:alone', SMALL)


def test_strict():
    whole('strict', 'kill', 'tight:alone')
    whole('strict', 'kill', 'tight:alone', SMALL)


def test_no_clock():
    """rdtsc is a SIGSEGV, in children too."""
    whole('clock', 'kill', ':alone')
    whole('clock', 'kill', ':threads', SMALL)
    whole('clock', 'kill', ':fork')
    whole('strict', 'kill', ':alone', ('--clock', 'monotonic'))


def test_threads():
    """Begun before and after it."""
    whole('syscall', 'kill', OURS.replace('madvise,', '').replace('getpid,', '') + ':threads')
    whole('tsync', 'kill', WITHOUT_FUTEX + ':early', SMALL)
    whole('tsync', 'trap', WITHOUT_FUTEX + ':early')


def test_children():
    made = run('prctl', 'kill', WITHOUT_FUTEX + ':fork', SMALL)
    if made is None:
        return
    recording, calls = made
    check((of_all(recording, 'malloc'), lost(recording)), (calls, 0), 'calls')
    check(len(recording.footprints), 2, 'footprints')
    child = next(f for f in recording.footprints if 'fork_of' in f.info['meta'])
    parent = next(f for f in recording.footprints if f is not child)
    check(child.info['meta']['fork_of'], os.path.basename(parent.path), 'whose child it is')
    check(int(child.info['meta']['parent_pid']), parent.info['pid'], 'process id of its parent')


def test_begun_behind_filters():
    """What another program put up before it became this one: only what attaching takes is asked for."""
    whole('prctl', 'kill', 'futex,clock_gettime,tgkill,kill,mincore,socket,nanosleep:exec', SMALL)


def test_unknown_child():
    """One that a raw clone made does not know who it is: its calls are counted as lost of its parent."""
    made = run('prctl', 'kill', WITHOUT_FUTEX + ':clone')
    if made is None:
        return
    recording, calls = made
    footprint = recording.only()
    check(footprint.count('malloc', 907) * 2, calls, 'calls of the parent')
    check(footprint.info['lost'], {'confined': calls}, 'calls of the child: as many, and as many releases')


recorded.main(globals())
