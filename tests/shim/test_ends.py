"""However a process or a thread ends, and wherever in its calls: every completed call is recorded, once."""
import resource
import subprocess

import recorded
from recorded import check, check_whole

ENDS = recorded.program('ends')
COUNT = 1000
THREADS = 20


def no_core():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def one(mode, way=recorded.record, whole=True, arguments=(), **kwargs):
    recording = way([ENDS, mode, *arguments], **kwargs)
    footprint = recording.only()
    if whole:
        check_whole(footprint, mode)
        check(recording.json['complete'], True, mode + ': complete')
    footprint.output = recording.output
    return footprint


def pairs(footprint, size):
    """Calls of that size, and how many of their objects were freed: each alloc's address is freed before its next."""
    allocated, freed, live = 0, 0, set()
    for m in footprint.marks:
        if m.size == size and m.call in ('malloc', 'calloc', 'realloc'):
            allocated += 1
            live.add(m.address)
        elif m.call == 'free' and m.address in live:
            freed += 1
            live.discard(m.address)
    return allocated, freed


def test_processes():
    for mode, status in (('segv', -11), ('quick', 7), ('raw', 7)):
        for way in (recorded.record, recorded.preload):
            footprint = one(mode, way, status=status, preexec_fn=no_core)
            check(pairs(footprint, 5001), (COUNT, COUNT), mode + ': calls')
            check(pairs(footprint, 5002), (10, 10) if mode == 'quick' else (0, 0), mode + ': calls at its exit')


def test_killed_inside_a_call():
    """The call under way is not one that completed; all before it are there."""
    footprint = one('inside', status=-9, env={'LD_PRELOAD': recorded.SHIM + ' ' + recorded.program('killer.so')})
    check(pairs(footprint, 5001), (COUNT, COUNT), 'calls before')
    check(footprint.count('malloc', 5099), 0, 'the call that did not complete')


def test_no_memory():
    """RLIMIT_AS that leaves room for the recorder: calls fail as without it, and are recorded as failed."""
    limit = 1 << 30
    footprint = one('nomemory', preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
    check(footprint.output, 'failed 10\n', 'what the program saw')
    check(pairs(footprint, 5001), (COUNT, COUNT), 'calls before')
    check([m.address for m in footprint.find('malloc', 1 << 40)], [0] * 10, 'calls that failed')


def test_no_room_for_the_recorder():
    """RLIMIT_AS too low for the segment: recording.json says so, stderr is the program's, which runs as ever."""
    recorded.needs('room for itself under such a limit')
    limit = 100 << 20
    collector = recorded.Collector()
    result = subprocess.run([ENDS, 'nomemory'], env=collector.environment(), stdout=subprocess.PIPE, check=False,
                            stderr=subprocess.PIPE, text=True,
                            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
    check((result.returncode, result.stdout, result.stderr), (0, 'failed 10\n', ''), 'what the program did')
    json = collector.end().json
    check(json['processes'], [], 'processes')
    check('limit on address space' in json['not_recorded'][0]['why'], True, json['not_recorded'])
    check(json['complete'], False, 'complete')


def test_threads_that_end_raw():
    """Their chunks are found by the collector, while the process lives or at its end."""
    for way in (recorded.record, recorded.preload):
        footprint = one('rawthreads', way)
        check(pairs(footprint, 5101), (10 * THREADS, 10 * THREADS), 'calls of the threads')
        check(pairs(footprint, 5102), (COUNT, COUNT), 'calls after them')
        check(footprint.info['lanes'] >= THREADS + 1, True, 'lanes')


def test_cancelled_threads():
    footprint = one('cancelled')
    completed = int(footprint.output.split()[1])
    check(completed >= THREADS, True, 'calls counted')
    check(footprint.count('malloc', 5103), completed, 'calls of the cancelled threads')
    check(footprint.count('(thread exit)'), THREADS, 'thread ends')


def test_late_destructors():
    footprint = one('late')
    for size in (5104, 5105, 5106):
        check(pairs(footprint, size), (THREADS, THREADS), 'objects of size %d and their releases' % size)


def test_many_threads():
    for options in ((), ('--memory', '8000000')):
        footprint = one('many', options=options, whole=not options)
        lost = sum(footprint.info['lost'].values())
        if not options:
            check((footprint.count('malloc', 5107), footprint.count('malloc', 5108)), (100000, 100000), 'calls')
            check(footprint.info['lanes'] >= 1001, True, 'lanes')
            whole = footprint.info['events']
        else: # fewer chunks than threads: what is missing is counted
            check(set(footprint.info['lost']) <= {'ring_full'}, True, 'causes')
            check(footprint.info['events'] + lost, whole, 'events and losses')


recorded.main(globals())
