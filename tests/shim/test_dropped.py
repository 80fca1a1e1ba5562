"""Processes that become another user have shared memory of that user's alone: recorded to the call, whatever way they became it; and
what one of them does to it costs its own user's calls, which is told, and nobody else's."""
import os
import signal
import subprocess
import sys

import recorded
from recorded import check, check_whole

DROPPED = recorded.program('dropped')
COUNT = 20000
WORKERS, EACH = 64, 1000 # calls of a worker: their footprints are read mark by mark
SCRIBBLES = int(os.environ.get('MALLAB_SCRIBBLES', '20000'))


def run(how, count=COUNT, stops=False):
    """recording.json, and the calls of root and of the user. stops: the collector does meanwhile."""
    collector = recorded.Collector()
    if stops:
        collector.process.send_signal(signal.SIGSTOP)
    result = subprocess.run([DROPPED, how, str(count)], env=collector.environment(), stdout=subprocess.PIPE, check=False, timeout=300)
    collector.process.send_signal(signal.SIGCONT)
    if result.returncode == 77:
        print(how + ': no namespaces here')
        sys.exit(77)
    check(result.returncode, 0, how + ': exit status')
    json = collector.end_json()
    calls = {7001: 0, 7002: 0}
    for process in json['processes']:
        footprint = recorded.Footprint(os.path.join(collector.directory, process['file']))
        for size in calls:
            calls[size] += footprint.count('malloc', size)
        if how not in ('attack', 'full', 'apart', 'unheard'):
            check_whole(footprint, how)
    return json, calls, result.stdout


def test_one():
    for how, processes in (('self', 1), ('raw', 1), ('exec', 2)):
        json, calls, _ = run(how)
        check((json['complete'], len(json['processes']), json['segments']), (True, processes, 2), how)
        check(calls, {7001: COUNT, 7002: COUNT}, how)


def test_threads():
    """They call all the time; none of their calls is lost, and their footprint goes on."""
    json, calls, output = run('threads')
    check((json['complete'], len(json['processes']), json['segments']), (True, 1, 2), 'threads')
    check(calls, {7001: COUNT, 7002: int(output)}, 'threads')


def test_workers():
    """A service: one segment more, for all of its workers."""
    json, calls, _ = run('workers', EACH)
    check((json['complete'], len(json['processes']), json['segments']), (True, WORKERS + 1, 2), 'workers')
    check(calls, {7001: EACH, 7002: WORKERS * EACH}, 'workers')


def test_unreached():
    """Where no collector is heard the process goes on unrecorded, which is counted; and so where the collector is stopped."""
    for stops in (False, True):
        json, calls, _ = run('unheard' if stops else 'apart', stops=stops)
        check((json['complete'], calls), (False, {7001: COUNT, 7002: 0}), 'unreached')
        check(json['processes'][0]['lost'].get('collector', 0) > 0, True, 'what is missing is counted')


def test_inside():
    """Who has other numbers in a user namespace is nobody else."""
    json, calls, _ = run('inside')
    check((json['complete'], json['segments'], calls), (True, 1, {7001: 2 * COUNT, 7002: 0}), 'inside')


def test_attack(how='attack'):
    json, calls, _ = run(how, SCRIBBLES)
    check(calls[7001], SCRIBBLES, "calls of root's")
    roots = [process for process in json['processes'] if process['parent_pid'] == os.getpid()]
    check([(process['complete'], process['lost']) for process in roots], [(True, {})], "what root's process lost")


def attack_in_full():
    test_attack('full')


def test_full():
    """The same where the attacker has filled /dev/shm: one of our own, of 24 MiB."""
    script = 'mount -t tmpfs -o size=24m,mode=1777 tmpfs /dev/shm || exit 77; exec "$0" "$@"'
    result = subprocess.run(['unshare', '-m', 'sh', '-c', script, sys.executable, __file__, 'full'], check=False)
    if result.returncode == 77:
        print('left out: no file system may be mounted here')
        return
    check(result.returncode, 0, 'in a full /dev/shm')


if os.geteuid() != 0:
    print('only root can become another user')
    sys.exit(77)
if sys.argv[1:] == ['full']:
    recorded.main({'test_attack_in_full': attack_in_full})
else:
    recorded.main(globals())
