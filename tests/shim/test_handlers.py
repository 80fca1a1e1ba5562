"""Signal handlers that interrupt allocator calls: what they call is recorded also where the allocator is not libc's, and a
handler that jumps out of an interrupted call does not end its thread's recording."""
import os
import re

import recorded
from recorded import check

HANDLERS = recorded.program('handlers')
SIGNALLING = os.path.join(recorded.BUILD, 'tests', 'shim', 'shim_signalling.so')
COUNT = 1000


def run(what, env=None):
    recording = recorded.record([HANDLERS, what], env=env)
    footprint = recording.only()
    check(footprint.info['has_trailer'], True, 'trailer')
    for key in ('epoch_decreases', 'time_decreases', 'sequence_jumps'):
        check(footprint.info[key], 0, key)
    return footprint, [int(number) for number in re.findall(r'\d+', recording.output)]


def behind_ours(what):
    return run(what, {'LD_PRELOAD': recorded.SHIM + ':' + SIGNALLING})


def test_nested():
    """A handler's calls in another allocator's midst are recorded; what that calls itself is its own business."""
    footprint, (handled,) = behind_ours('nested')
    check(handled, 2 * COUNT, 'signals')
    check(footprint.info['lost'], {}, 'losses')
    check(footprint.count('malloc', 920), 2 * COUNT, "the handler's calls")
    check((footprint.count('malloc', 919), footprint.count('calloc', 921)), (COUNT, COUNT), "the program's calls")
    check(footprint.count('malloc', 921), 0, "the allocator's own")


def test_timer():
    """Wherever the signal comes, in the allocator or in ours."""
    footprint, (calls, handled) = behind_ours('timer')
    check(footprint.count('malloc', 923), handled, 'calls behind each jump')
    lost = sum(footprint.info['lost'].values())
    check(set(footprint.info['lost']) <= {'reentrant'} and lost <= handled, True, 'losses')
    check(footprint.count('malloc', 922) - calls in range(0, handled + 1), True, 'calls that returned, and those that were left behind their record')
    print('handled %d, left in a call %d, calls %d' % (handled, lost, calls))


recorded.main(globals())
