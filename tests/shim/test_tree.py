"""Trees of many processes, daemons, and processes that change their root or namespaces: all recorded, every
call counted, with no path looked up and no descriptor held after the start."""
import collections
import os
import stat
import subprocess

import recorded
from recorded import check, check_whole

TREE = recorded.program('processes')
COUNT = 100
MANY = 10000 if os.environ.get('MALLAB_TEST_LONG') else 800 # with their children more than can be recorded at one time
REFUSED = 77


def by_size(recording, size):
    return sum(f.count('malloc', size) for f in recording.footprints)


def whole(recording, what):
    for footprint in recording.footprints:
        check_whole(footprint, what)
    check(recording.json['complete'], True, what + ': complete')
    return recording


def test_many():
    """Counted by recording.json alone, as reading thousands of footprints takes long; those of a sample are read."""
    collector = recorded.Collector()
    result = subprocess.run([TREE, 'many', str(MANY)], env=collector.environment(), check=False)
    check(result.returncode, 0, 'exit status')
    json = collector.end_json()
    check((json['complete'], json['processes_unattached'], json['lost']), (True, 0, {}), 'complete')
    forks, grandchildren, execs = MANY, (MANY + 2) // 4, (MANY + 5) // 8
    check(len(json['processes']), 1 + forks + grandchildren + execs, 'process images')
    check(len({p['file'] for p in json['processes']}), len(json['processes']), 'each in a file of its own')
    check(sorted(os.listdir(collector.directory)), sorted([p['file'] for p in json['processes']] + ['recording.json']),
          'files')
    ends = collections.Counter(p['ended'] for p in json['processes'])
    check((ends['exec'], ends['running']), (execs, 0), 'ends')
    leaves = [p for p in json['processes'] if p['events'] == 20]
    check(len(leaves) >= forks, True, 'processes of exactly 20 events: %d of %d' % (len(leaves), forks))
    by_pid = collections.defaultdict(list)
    for p in json['processes']:
        by_pid[p['pid']].append(p)
    sample = collections.Counter()
    for p in json['processes'][:: MANY // 100]:
        footprint = recorded.Footprint(os.path.join(collector.directory, p['file']))
        check_whole(footprint, p['file'])
        for size in (4001, 4002, 4003):
            calls = footprint.count('malloc', size)
            check(calls in (0, 10), True, 'calls of size %d in %s: %d' % (size, p['file'], calls))
            sample[size] += calls
    check(all(sample[size] > 0 for size in (4001, 4002, 4003)), True, 'the sample has all kinds: %s' % sample)


def test_crowd():
    """More processes at one time than can be recorded: the others run as ever, in silence, and are counted."""
    collector = recorded.Collector()
    result = subprocess.run([TREE, 'crowd', '1100'], env=collector.environment(), check=False, stderr=subprocess.PIPE)
    check((result.returncode, result.stderr), (0, b''), 'exit status and stderr')
    json = collector.end_json()
    check(json['processes_unattached'] >= 1101 - 1024, True, 'unrecorded: %d' % json['processes_unattached'])
    check(len(json['processes']) + json['processes_unattached'], 1101, 'processes, recorded and not')
    check(len(json['processes']) >= 1000, True, 'recorded: %d' % len(json['processes']))
    # Which one is listed first is chance: all have one parent.
    parents = [p['parent_pid'] for p in json['processes']]
    parent = max(set(parents), key=parents.count)
    check({p['events'] for p in json['processes'] if p['parent_pid'] == parent}, {20}, 'events')
    check(json['complete'], False, 'complete')


def test_daemon():
    for way in (recorded.record, recorded.preload):
        recording = whole(way([TREE, 'daemon']), 'daemon')
        check(len(recording.footprints), 3, 'footprints')
        check([by_size(recording, size) for size in range(4020, 4025)], [COUNT] * 3 + [100 * COUNT, COUNT], 'calls')


def test_reused_pid():
    """Two processes of one id: two footprints, neither taken for an exec of the other."""
    wanted = next(pid for pid in range(30000, 1000, -7) if not os.path.exists('/proc/%d' % pid))
    collector = recorded.Collector()
    result = subprocess.run([TREE, 'reuse', str(wanted)], env=collector.environment(), check=False)
    recording = collector.end()
    if result.returncode == REFUSED:
        print('left out: /proc/sys/kernel/ns_last_pid cannot be written')
        return
    check(result.returncode, 0, 'exit status')
    whole(recording, 'reuse')
    own = [(p, f) for p, f in zip(recording.json['processes'], recording.footprints) if p['pid'] == wanted]
    check([f.count('malloc', size) for (_, f), size in zip(own, (4030, 4031))], [COUNT] * 2, 'calls')
    check([p['ended'] for p, _ in own], ['exit', 'exit'], 'ends')
    check([f.info['meta'].get('fork_of') for _, f in own], [recording.json['processes'][0]['file']] * 2, 'parents')


def surroundings(what, value, processes=2, options=()):
    collector = recorded.Collector(*options)
    result = subprocess.run([TREE, *f'x{COUNT} 4040 {what} {value} 4041 fork [ x{COUNT} 4042 ]'.split()], env=collector.environment(), check=False, text=True,
                            stderr=subprocess.PIPE)
    recording = collector.end()
    if result.returncode == REFUSED:
        print('left out: %s %s is refused here' % (what, value))
        return None
    check((result.returncode, result.stderr), (0, ''), '%s %s: exit status and stderr' % (what, value))
    whole(recording, '%s %s' % (what, value))
    check(len(recording.footprints), processes, '%s %s: footprints' % (what, value))
    check([by_size(recording, size) for size in (4040, 4041, 4042)], [COUNT] * 3, '%s %s: calls' % (what, value))
    return recording


def test_chroot():
    empty = os.path.join(recorded.temporary(), 'empty')
    os.mkdir(empty)
    surroundings('chroot', empty)
    check(os.listdir(empty), [], 'nothing was made in it')


NAMESPACES = {'mount': 0x00020000, 'cgroup': 0x02000000, 'uts': 0x04000000, 'ipc': 0x08000000, 'user': 0x10000000,
              'pid': 0x20000000, 'net': 0x40000000}


def test_namespaces():
    for flag in NAMESPACES.values():
        surroundings('unshare', flag)
    surroundings('unshare', NAMESPACES['user'] | NAMESPACES['pid'] | NAMESPACES['mount'])


def test_modes():
    """Directory 0700, files 0600, segment 0600, whatever the umask of whoever starts it."""
    before = os.umask(0)
    try:
        collector = recorded.Collector()
        check(stat.S_IMODE(os.stat(collector.segment).st_mode), 0o600, 'mode of the segment')
        subprocess.run([TREE, '4000'], env=collector.environment(), check=True)
        collector.end_json()
    finally:
        os.umask(before)
    check(stat.S_IMODE(os.stat(collector.directory).st_mode), 0o700, 'mode of the directory')
    for name in os.listdir(collector.directory):
        check(stat.S_IMODE(os.stat(os.path.join(collector.directory, name)).st_mode), 0o600, 'mode of ' + name)


recorded.main(globals())
