"""Threads: each a lane of its own, ends noted, hand-overs in legal order."""
import collections

import recorded
from recorded import check, check_whole

PROGRAM = recorded.program('threads')


def run(mode, *options):
    recording = recorded.record([PROGRAM, mode], options=options)
    footprint = recording.only()
    check_whole(footprint, mode)
    return footprint


def legal_order(f, what):
    """docs/order.md: groups of one epoch follow each other, and within a group an address is allocated and released
    in turns; so after each group every address has been allocated as often as released, or once more."""
    groups = collections.defaultdict(list)
    for m in f.marks:
        groups[m.epoch].append(m)
    live = collections.Counter()
    largest = violations = 0
    for epoch in sorted(groups):
        touched = set()
        lanes = {m.lane for m in groups[epoch]}
        largest = max(largest, len(groups[epoch]) if len(lanes) > 1 else 0)
        for m in groups[epoch]:
            if not m.address or m.call == '(resident)':
                continue
            release = m.call in ('free', '(resize from)')
            live[m.address] += -1 if release else 1
            touched.add(m.address)
        violations += sum(live[address] not in (0, 1) for address in touched)
    check(violations, 0, what + ': addresses out of turn')
    print('%s: %d marks in %d groups, the largest of several threads has %d' % (what, len(f.marks), len(groups),
                                                                            largest))


def test_handover():
    f = run('handover')
    check_handover(f)
    f = run('handover', '--clock', 'monotonic') # where the TSC does not serve
    check(f.info['meta']['clock'], 'monotonic', 'clock')
    check_handover(f)


def check_handover(f):
    check(f.info['lanes'], 5, 'lanes')
    check(f.count('realloc', 200), 4 * (100000 // 64 + 1), 'reallocs')
    check(f.info['calls']['free'] >= 4 * 100000, True, 'frees')
    legal_order(f, 'handover')


def test_exits():
    f = run('exits')
    check(f.count('malloc', 7202), 30, 'calls of the bodies')
    check(f.count('malloc', 7201), 3 * 4 * 5, 'calls of the destructors, in every iteration')
    check(f.count('(thread exit)'), 3, 'thread ends')
    for lane in {m.lane for m in f.find('malloc', 7202)}:
        calls = [m for m in f.marks if m.lane == lane]
        end = [m.call for m in calls].index('(thread exit)')
        late = [m for m in calls[end:] if m.size == 7201]
        # destructors run in order of their keys, ours first: of four iterations only the last comes after the mark
        check(len(late), 5, 'calls after the noted end')


def test_leader_exit():
    for way in (recorded.record, recorded.preload):
        recording = way([PROGRAM, 'leaderexit'])
        f = recording.only()
        check_whole(f, 'leaderexit')
        check(f.count('malloc', 7301), 1000, 'calls of the leader')
        check(f.count('malloc', 7302), 1000, 'calls after it')
        check(recording.json['processes'][0]['ended'], 'exit', 'how it ended')


recorded.main(globals())
