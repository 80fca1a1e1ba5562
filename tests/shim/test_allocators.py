"""Programs that bring an allocator, other preloaded libraries before and behind ours, loading and looking up that
allocates: the same results as unrecorded, every call counted; wrappers, whose children are recorded."""
import glob
import os
import shutil
import subprocess

import recorded
from recorded import check, check_whole

OWN = recorded.program('own')
COUNT = 1000
CALLS = (('malloc', 3001, 0), ('calloc', 3002, 3), ('realloc', 3003, 0), ('posix_memalign', 3004, 256))


def library(name):
    found = [path for folder in ('/usr/lib/*-linux-gnu', '/usr/lib', '/usr/lib64')
             for path in sorted(glob.glob(os.path.join(folder, name)))]
    return found[0] if found else None


def check_calls(footprint, what, factor=1):
    check_whole(footprint, what)
    for call, size, extra in CALLS:
        check(footprint.count(call, size, extra), factor * COUNT, '%s: %s(%d)' % (what, call, size))


def legal(footprint, what):
    """Every object is freed once, and none is handed out while it lives."""
    live, wrong = set(), 0
    for m in footprint.marks:
        if m.call in ('free', '(resize from)') or 'delete' in m.call:
            wrong += m.address != 0 and m.address not in live
            live.discard(m.address)
        elif m.address and m.call != '(resident)':
            wrong += m.address in live
            live.add(m.address)
    check(wrong, 0, what + ': marks that contradict each other')


def test_linked():
    for name in ('jemalloc', 'tcmalloc', 'mimalloc'):
        program = recorded.program('own_' + name)
        if not os.path.exists(program):
            print('left out: no %s to link with' % name)
            continue
        used = subprocess.run([program], env=recorded.clean_environment({'LD_TRACE_LOADED_OBJECTS': '1'}), stdout=subprocess.PIPE,
                              text=True, check=True).stdout
        check(name in used, True, 'the program needs %s' % name)
        for way in (recorded.record, recorded.preload):
            recording = way([program])
            check(recording.output, 'failures 0\n', name + ': what the program saw')
            check_calls(recording.only(), name)
            legal(recording.only(), name)


def test_chains():
    """Ours first or last among preloaded libraries. Behind another allocator's definitions ours are not called:
    then nothing is recorded of the program, and what is, is true."""
    counter = os.path.join(recorded.BUILD, 'tests', 'e2e', 'libtally.so')
    for path in (counter, library('libjemalloc.so.2'), library('libtcmalloc_minimal.so.4')):
        if path is None or not os.path.exists(path):
            print('left out: one of libtally, libjemalloc.so.2, libtcmalloc_minimal.so.4 is not there')
            continue
        name = os.path.basename(path)
        for separator in (' ', ':'):
            recording = recorded.record([OWN], env={'LD_PRELOAD': recorded.SHIM + separator + path})
            check(recording.output, 'failures 0\n', name + ' last: what the program saw')
            footprint = recording.only()
            check_whole(footprint, name)
            for call, size, extra in CALLS:
                check(footprint.count(call, size, extra), COUNT, '%s last: %s(%d)' % (name, call, size))
        recording = recorded.record([OWN], env={'LD_PRELOAD': path + ' ' + recorded.SHIM})
        check(recording.output, 'failures 0\n', name + ' first: what the program saw')
        check_whole(recording.only(), name)
        for call, size, extra in CALLS:
            check(recording.only().count(call, size, extra) in (0, COUNT), True, '%s first: %s' % (name, call))


def test_constructors():
    """A library before ours and one behind ours allocate in their constructors and destructors."""
    early = recorded.program('early.so')
    for preload in (early + ' ' + recorded.SHIM, recorded.SHIM + ' ' + early):
        footprint = recorded.record([OWN], env={'LD_PRELOAD': preload}).only()
        check_calls(footprint, 'constructors')
        check((footprint.count('malloc', 3021), footprint.count('malloc', 3022)), (100, 100), 'calls outside of main')


def test_deepbind():
    """A library loaded with RTLD_DEEPBIND finds libc's allocator before ours: its definitions lead to us. With another allocator
    behind us, its calls stay libc's, as they are without us."""
    recording = recorded.record([OWN, 'deep', recorded.program('plain.so')])
    footprint = recording.only()
    check_whole(footprint, 'deepbind')
    check(footprint.count('malloc', 3011), COUNT, "the program's calls")
    check(footprint.count('malloc', 3012), COUNT, "the library's calls")
    made, freed = ({event.address for size in (3011, 3012) for event in footprint.find('malloc', size)},
                   {event.address for event in footprint.find('free')})
    check(made - freed, set(), "what the library made we freed, and the reverse")
    check(recording.json['complete'], True, 'complete')


def test_look_ups():
    recording = recorded.record([OWN, 'dlsym'])
    check(recording.output, 'failures 0\n', 'what the program saw')
    check_calls(recording.only(), 'dlsym')
    legal(recording.only(), 'dlsym')


def test_wrappers():
    """Whatever a wrapper does before it execs or forks, its program is recorded whole."""
    folder = recorded.temporary()
    script = os.path.join(folder, 'script')
    with open(script, 'w', encoding='utf-8') as file:
        file.write('#!/bin/sh\n"$@"\nexit $?\n')
    os.chmod(script, 0o755)
    for wrapper in (['timeout', '100'], ['env', 'SOME=thing'], ['nohup'], ['setsid', '--wait'], ['sh', '-c', '"$@"', 'sh'],
                    ['sh', '-c', 'exec "$@"', 'sh'], [script], ['nice', '-n', '1'], ['stdbuf', '-o0'],
                    ['xargs', '-n1', '-a', '/dev/null'], ['bash', '-c', '"$@" | cat', 'bash'], ['setarch', '-R'],
                    ['timeout', '100', 'env', 'nice', script, 'sh', '-c', '"$@" & wait', 'sh']):
        if shutil.which(wrapper[0]) is None:
            print('left out: no %s' % wrapper[0])
            continue
        # By the environment alone the first process starts a collector: as it is, in a shell that forks, in one that executes.
        for way in (recorded.record, recorded.preload) if wrapper[0] in ('timeout', 'sh', script) else (recorded.record,):
            recording = way([*wrapper, OWN], cwd=folder, stdin=subprocess.DEVNULL)
            if wrapper[0] == 'nohup' and not recording.output: # it may write elsewhere
                recording.output = 'failures 0\n'
            check(recording.output, 'failures 0\n', '%s: output' % wrapper)
            check(recording.json['complete'], True, '%s: complete' % wrapper)
            own = recording.of('shim_own')
            check(sum(f.count('malloc', 3001) for f in own), COUNT, '%s: calls' % wrapper)
            for footprint in own:
                check_whole(footprint, str(wrapper))


recorded.main(globals())
