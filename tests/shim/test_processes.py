"""A process tree is recorded whole: forks (also of threaded parents and by raw clone), exec, vfork, posix_spawn,
daemons; and every completed call of a process that was killed."""
import os
import resource
import subprocess
import time

import recorded
from recorded import check, check_whole

COUNT = 1000


def by_size(footprints, size):
    return sum(f.count('malloc', size) for f in footprints)


def run(mode, way=recorded.record, **kwargs):
    recording = way(recorded.tree(mode), **kwargs)
    for footprint in recording.footprints:
        check_whole(footprint, mode)
    check(recording.json['complete'], True, mode + ': complete')
    check(recording.json['events'], sum(f.info['events'] for f in recording.footprints), mode + ': events')
    return recording


def one_with(recording, size):
    found = [f for f in recording.footprints if f.count('malloc', size)]
    check(len(found), 1, 'footprints with size %d' % size)
    check(found[0].count('malloc', size), COUNT, 'events of size %d' % size)
    return found[0]


def test_fork():
    for mode, parent_size, child_size in (('fork', 6001, 6002), ('rawclone', 6004, 6005)):
        recording = run(mode)
        check(len(recording.footprints), 2, mode + ': footprints')
        parent, child = one_with(recording, parent_size), one_with(recording, child_size)
        check(parent is child, False, mode + ': own footprint')
        check(child.info['meta']['fork_of'], os.path.basename(parent.path), mode + ': fork_of')
        check(int(child.info['meta']['parent_pid']), parent.info['pid'], mode + ': parent_pid')
        check(child.info['trailer_lanes'][0]['main'], True, mode + ': the child has a main thread')
        check(child.info['meta'].get('fork_number'), '1' if mode == 'fork' else None, mode + ': fork_number')
    recording = run('generations')
    chain = [one_with(recording, size) for size in (6080, 6081, 6082, 6083)]
    for parent, child in zip(chain, chain[1:]):
        check(child.info['meta']['fork_of'], os.path.basename(parent.path), 'generations: fork_of')
        check(child.info['meta']['fork_number'], '1', 'generations: fork_number')
    recording = run('fork')
    parent, child = one_with(recording, 6003), one_with(recording, 6002)
    forks = [m for m in parent.marks if m.call == '(fork)']
    check([m.size for m in forks], [1], 'the parent notes the fork')
    check(child.info['meta']['fork_number'], '1', 'the child knows which')
    at = parent.marks.index(forks[0])
    check(sum(m.call == 'malloc' and m.size == 6001 for m in parent.marks[:at]), COUNT, 'calls before the fork')
    check(sum(m.call == 'malloc' and m.size == 6003 for m in parent.marks[:at]), 0, 'calls after the fork')


def test_fork_in_threads():
    recording = run('forkthreads')
    check(len(recording.footprints), 21, 'a parent and 20 children')
    check(by_size(recording.footprints, 6010), 4 * 5 * 100, 'events of the threads')
    check(by_size(recording.footprints, 6011), 20 * 100, 'events of the children')
    check(by_size(recording.footprints, 6012), 20 * 100, "events of the children's threads")
    children = [f for f in recording.footprints if 'fork_of' in f.info['meta']]
    check(sorted(int(f.info['meta']['fork_number']) for f in children), list(range(1, 21)), 'fork numbers')


def test_exec():
    recording = run('exec')
    check([p['ended'] for p in recording.json['processes']], ['exec', 'exit'], 'how the images ended')
    first, second = one_with(recording, 6020), one_with(recording, 6021)
    check(first.info['pid'], second.info['pid'], 'one process, two images')
    check(second.path.endswith('.%d.2.fp' % first.info['pid']), True, 'name of the second image')
    for mode, sizes in (('vfork', (6030, 6031, 6032)), ('spawn', (6040, 6041))):
        recording = run(mode)
        check(len(recording.footprints), 2, mode + ': footprints')
        for size in sizes:
            one_with(recording, size)
    recorded.needs('vfork')
    recording = run('vforkmalloc')
    check(len(recording.footprints), 1, "a vfork's child is its parent")
    for size in (6033, 6034, 6035):
        one_with(recording, size)


def test_exec_under_preload():
    """Each new image finds the recording that is going on in MALLAB_OUT, and joins it."""
    recording = run('exec', recorded.preload)
    one_with(recording, 6020)
    one_with(recording, 6021)
    recording = run('spawn', recorded.preload)
    one_with(recording, 6040)
    one_with(recording, 6041)


def test_ends():
    """Whatever ends the process, every completed call is there."""
    no_core = lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for mode, status in (('kill', -9), ('abort', -6), ('exit', 7)):
        for way in (recorded.record, recorded.preload):
            recording = run(mode, way, status=status, preexec_fn=no_core)
            footprint = one_with(recording, 6060)
            check(footprint.info['calls']['malloc'], footprint.count('malloc'), mode)
            sized = {m.address for m in footprint.find('malloc', 6060)}
            check(sum(m.call == 'free' and m.address in sized for m in footprint.marks), COUNT, mode + ': frees')
    recording = run('killthreads', status=-9)
    footprint = recording.only()
    check(footprint.info['lanes'], 5, 'lanes of the killed threads')
    check(footprint.count('malloc', 6071), 20000, 'calls of the thread that killed')
    check(footprint.count('malloc', 6070) > 0, True, 'calls of the others')


def test_started_together():
    """Programs that are started at the same moment under one MALLAB_OUT go into one recording, all of them."""
    recorded.needs('cat of its processor')
    together = 8
    for tries in range(6):
        directory = os.path.join(recorded.temporary(), 'out')
        held, release = os.pipe()
        env = recorded.clean_environment({'LD_PRELOAD': recorded.SHIM, 'MALLAB_OUT': directory})
        programs = [subprocess.Popen(['cat'], stdin=held, stderr=subprocess.PIPE, env=env) for _ in range(together)]
        os.close(held)
        while not all(is_attached(p.pid) for p in programs): # the first one's recording must not end before the last has begun
            time.sleep(0.01)
        os.close(release)
        said = [p.communicate()[1].decode() for p in programs]
        check([text for text in said if text], [], 'messages')
        recording = recorded.wait_complete(directory)
        check(sorted(p['pid'] for p in recording.json['processes']), sorted(p.pid for p in programs), 'processes')
        check(os.listdir(os.path.dirname(directory)), ['out'], 'recordings')
        check(recording.json['complete'], True, 'complete')


def is_attached(pid):
    """It has a recording's shared memory."""
    with open('/proc/%d/maps' % pid, encoding='utf-8') as maps:
        return '/mallab-%d-' % os.geteuid() in maps.read()


def test_names():
    """A program goes by the name it was called by, as a link's or an applet's; its children too."""
    folder = recorded.temporary()
    link = os.path.join(folder, 'alias-of-it')
    program = recorded.program('processes')
    os.symlink(program, link)
    for way in (recorded.record, recorded.preload):
        recording = way(recorded.tree('fork', by=link))
        check([p['name'] for p in recording.json['processes']], ['alias-of-it'] * 2, 'names in recording.json')
        for footprint in recording.footprints:
            meta = footprint.info['meta']
            check((meta['program'], meta['executable']), ('alias-of-it', os.path.realpath(program)), 'names')
            check(os.path.basename(footprint.path), 'alias-of-it.%d.fp' % footprint.info['pid'], 'file name')
    for title in ('', 'a title: 3 [x]', '../', '.', 'x' * 100):
        recording = recorded.record(recorded.tree('kill', by=title), status=-9, executable=program)
        check(recording.only().info['meta']['program'], 'shim_processes', 'name of one called %r' % title)


recorded.main(globals())
