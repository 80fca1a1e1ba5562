"""A recorded process that has dropped to user 65534 writes into the recorder's shared memory: root's collector goes on, makes no
file elsewhere, takes little memory, and the other processes' footprints are whole."""
import os
import subprocess

import recorded
from recorded import check, check_whole

FORGED = recorded.program('forged')
COUNT = 20000
CLAIMED = 300000
MOST_BYTES = 100 << 20 # of the collector beside shared memory; sixty slots took 504 MB


def test_forged_slots_and_words():
    recorded.needs('other users in its namespace')
    collector = recorded.Collector()
    result = subprocess.run([FORGED, str(COUNT)], env=collector.environment(), check=False)
    check(result.returncode, 0, 'exit status')
    json = collector.end_json()
    counted = {7001: 0, 7002: 0}
    for process in json['processes']:
        if process['events'] < COUNT:
            continue # forged, and of a million threads each: not read here
        footprint = recorded.Footprint(os.path.join(collector.directory, process['file']))
        check_whole(footprint, process['file'])
        for size in counted:
            counted[size] += footprint.count('malloc', size)
    check(counted, {7001: COUNT, 7002: COUNT}, 'calls of the others')
    outside = [name for name in os.listdir(os.path.dirname(collector.directory)) if 'escaped' in name]
    check(outside, [], 'files outside of the recording')
    check(json['collector_bytes'] < MOST_BYTES, True, 'collector: %d bytes' % json['collector_bytes'])


def test_claims():
    """One that claims all chunks that it can, all the time, costs another process of its user no call."""
    recording = recorded.record([FORGED, str(CLAIMED), 'claims'])
    print(recording.output, end='')
    check(sum(footprint.count('malloc', 7001) for footprint in recording.footprints), CLAIMED, 'calls of the other')
    check(recording.json['lost'], {}, 'lost')


if os.geteuid() != 0:
    del test_forged_slots_and_words
recorded.main(globals())
