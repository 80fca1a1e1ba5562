"""At every limit the program goes on, unrecorded, and what is missing is counted under its cause: memory, --max-size,
--duration; a collector that is killed; directories that are not ours to use."""
import os
import shutil
import signal
import struct
import subprocess
import time

import recorded
from recorded import check, check_whole

CHURN = recorded.program('churn')
COUNT = 300000
PID_OFFSET = 12 # of collector_pid in struct seg_header
EVENTS = 2 * COUNT # a free and a malloc a turn


def total(footprint):
    """Events there and events missed: whatever the limit, together they are what the program did."""
    return footprint.info['events'] + sum(footprint.info['lost'].values())


def test_drop():
    """With --on-full drop it does not wait; gaps stand where calls are missing, and add up to the loss."""
    collector = recorded.Collector('--memory', '300000', '--on-full', 'drop')
    collector.process.send_signal(signal.SIGSTOP) # it cannot keep up with the first half
    process = subprocess.Popen([CHURN, str(2 * COUNT), 'pause'], env=collector.environment(), stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE)
    check(process.stdout.readline(), b'half\n', 'the program does not wait')
    collector.process.send_signal(signal.SIGCONT)
    ring = collector.status()['ring']
    while ring['chunks_used'] == ring['chunks']: # without a free one the gap would stand nowhere
        ring = collector.status()['ring']
    process.stdin.close()
    check(process.wait(timeout=300), 0, 'exit status')
    recording = collector.end()
    footprint = recording.only()
    lost = footprint.info['lost'].get('ring_full', 0)
    check(lost > 0, True, 'something was lost (otherwise this test shows nothing)')
    check(total(footprint), 2 * EVENTS, 'events and losses')
    gaps = sum(m.size for m in footprint.marks if m.call == '(gap)')
    check(0 < gaps <= lost, True, 'gaps %d, lost %d' % (gaps, lost))
    check(recording.json['complete'], False, 'complete')
    check(recording.json['lost'], {'ring_full': lost}, 'lost, in recording.json')
    check(recording.json['stalls'], 0, 'stalls')


def test_max_size():
    limit = 200000
    recording = recorded.record([CHURN, str(COUNT)], options=['--max-size', str(limit)])
    footprint = recording.only()
    check(set(footprint.info['lost']), {'size_limit'}, 'causes')
    check(total(footprint), EVENTS, 'events and losses')
    check(footprint.info['has_trailer'], True, 'trailer')
    check(footprint.info['file_bytes'] <= limit, True, 'size %d' % footprint.info['file_bytes'])
    check(footprint.info['events'] > 0, True, 'something was stored')


def test_collector_killed():
    """The program does not wait for a dead collector; and blocks that were written are readable."""
    collector = recorded.Collector('--memory', '1000000')
    process = subprocess.Popen([CHURN, str(2 * COUNT), 'pause'], env=collector.environment(), stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE)
    check(process.stdout.readline(), b'half\n', 'the program runs')
    collector.process.send_signal(signal.SIGKILL)
    collector.process.wait()
    process.stdin.close()
    check(process.wait(timeout=300), 0, 'exit status')
    check(recorded.Collector().end().json['processes'], [], 'another recording')
    check(os.path.exists(collector.segment), True, 'what can be recovered is kept')
    shutil.move(os.path.join(collector.directory, 'recording.json'), os.path.join(collector.directory, 'moved'))
    recorded.Collector().end()
    check(os.path.exists(collector.segment), False, 'the segment that nobody waits for is removed by the next collector')
    (name,) = [n for n in os.listdir(collector.directory) if n.endswith('.fp')]
    footprint = recorded.Footprint(os.path.join(collector.directory, name))
    check(footprint.info['has_trailer'], False, 'trailer')
    check(footprint.info['events'] > 0, True, 'events written before')


def test_a_dead_collectors_number_may_be_another_process():
    """A segment that a killed collector left is removed although its process id is in use again."""
    collector = recorded.Collector()
    collector.process.send_signal(signal.SIGKILL)
    collector.process.wait()
    with open(collector.segment, 'r+b') as segment:
        header = bytearray(segment.read(64))
        (pid,) = struct.unpack_from('<I', header, PID_OFFSET)
        check(pid, collector.process.pid, 'the offset of collector_pid')
        struct.pack_into('<I', header, PID_OFFSET, os.getpid())
        segment.seek(0)
        segment.write(header)
    shutil.rmtree(collector.directory)
    recorded.Collector().end()
    check(os.path.exists(collector.segment), False, 'the segment is removed')


def test_who_collects():
    """While it goes on, recording.json says by whom and where; once finished, there is nobody to name."""
    recorded.needs('/proc/PID/stat of the program')
    collector = recorded.Collector()
    told = recorded.listing(collector.directory)['collector']
    with open('/proc/%d/stat' % collector.process.pid, encoding='utf-8') as file:
        start = int(file.read().rsplit(')', 1)[1].split()[19])
    with open('/proc/sys/kernel/random/boot_id', encoding='utf-8') as file:
        boot = file.read().strip()
    check(told, {'pid': collector.process.pid, 'start_ticks': start, 'boot_id': boot,
                 'pid_namespace': os.stat('/proc/self/ns/pid').st_ino,
                 'directory_inode': os.stat(collector.directory).st_ino}, 'the collector')
    subprocess.run([CHURN, '100'], env=collector.environment(), check=True)
    finished = collector.end().json
    check([key for key in ('collector', 'segment_path') if key in finished], [], 'keys of an unfinished recording')


def test_no_follow():
    for mode, size, other in (('fork', 6001, 6002), ('spawn', 6040, 6041)):
        recording = recorded.record(recorded.tree(mode), options=['--no-follow'])
        footprint = recording.only()
        check_whole(footprint, mode)
        check((footprint.count('malloc', size), footprint.count('malloc', other)), (1000, 0), 'calls')


def test_directories():
    """A directory that holds something is refused and left as it is; so is a symbolic link."""
    folder = recorded.temporary()
    used, empty, link, dangling = (os.path.join(folder, name) for name in ('used', 'empty', 'link', 'dangling'))
    os.mkdir(used)
    os.mkdir(empty)
    with open(os.path.join(used, 'file'), 'w', encoding='utf-8') as file:
        file.write('kept')
    os.symlink(empty, link)
    os.symlink('nowhere', dangling)
    for directory in (used, link, dangling, os.path.join(folder, 'missing', 'out')):
        collector = recorded.Collector(directory=directory)
        check(collector.answer[:6], 'error ', 'answer for ' + directory)
        check(directory in collector.answer and collector.answer.count('\n') == 1, True, 'one line: the directory')
        check(collector.process.wait(), 1, 'exit status')
    check((os.listdir(used), os.listdir(empty)), (['file'], []), 'what is in them')
    collector = recorded.Collector(directory=empty)
    check(collector.answer[:3], 'ok ', 'an empty directory is fine')
    check(collector.end().json['processes'], [], 'processes')


def test_unrecordable():
    """No segment, no collector, no permission: the program as ever, and nothing on its stderr under `mallab record`, which
    names the segment and hears of it in another way; else one line, and none with MALLAB_QUIET."""
    recorded.needs(recorded.ALONE)
    folder = recorded.temporary()
    foreign = os.path.join(folder, 'foreign')
    with open(foreign, 'wb') as file:
        file.write(b'x' * 100000)
    for extra in ({'MALLAB_SEGMENT': '/nonexistent'}, {'MALLAB_SEGMENT': foreign}, {'MALLAB_SEGMENT': folder},
                  {'MALLAB_OUT': '/proc/none/out'}):
        for quiet in (False, True):
            env = {'LD_PRELOAD': recorded.SHIM, **extra, **({'MALLAB_QUIET': '1'} if quiet else {})}
            result = subprocess.run([CHURN, '1000'], env=recorded.clean_environment(env), stderr=subprocess.PIPE,
                                    text=True, check=False)
            check(result.returncode, 0, 'exit status')
            lines = result.stderr.splitlines()
            check([line[:23] for line in lines], [] if quiet or 'MALLAB_SEGMENT' in extra else ['mallab: not recording: '], 'lines for %s' % extra)


def test_shared_memory_that_vanishes():
    """The file is cut while its collector works: it goes on to its end, and says that it does not know what is missing."""
    collector = recorded.Collector('--memory', '4000000')
    process = subprocess.Popen([CHURN, str(COUNT), 'pause'], env=collector.environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    check(process.stdout.readline(), b'half\n', 'the program runs')
    os.truncate(collector.segment, 400000) # what is told, and the first slots
    while not collector.listing()['lost'].get('spoiled') and collector.process.poll() is None:
        collector.process.send_signal(signal.SIGRTMIN + 3) # it is asked how it stands, and looks
        time.sleep(0.01)
    process.kill()
    process.wait()
    process.stdin.close()
    told = collector.end_json()
    check(told['complete'], False, 'complete')
    check(told['lost'].get('spoiled', 0) > 0, True, 'spoiled')
    check('spoiled' in told['incomplete_why'] or 'written over' in told['incomplete_why'], True, told['incomplete_why'])


def test_claims():
    """One that claims all chunks that it can, all the time, costs another process of its user no call."""
    recording = recorded.record([recorded.program('forged'), str(COUNT)])
    print(recording.output, end='')
    check(sum(footprint.count('malloc', 7001) for footprint in recording.footprints), COUNT, 'calls of the other')
    check(recording.json['lost'], {}, 'lost')


recorded.main(globals())
