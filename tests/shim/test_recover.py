"""A killed collector's shared memory is written into the recording: every call is there or counted, and none twice."""
import os
import random
import shutil
import signal
import subprocess

import recorded
from recorded import check, check_whole

CHURN = recorded.program('churn')
COUNT = 300000
HALF = 2 * (COUNT + 1) # events: a free and a malloc a turn


def recover(directory, status=0):
    result = subprocess.run([recorded.COLLECT, '--recover', '--out', directory], env=recorded.clean_environment(),
                            stderr=subprocess.PIPE, text=True, timeout=300, check=False)
    check(result.returncode, status, 'exit status of --recover')
    return result.stderr


def kill(process):
    process.send_signal(signal.SIGKILL)
    process.wait()


def start(*options):
    """A collector, and a program that waits for its standard input to close after half of its calls."""
    collector = recorded.Collector(*options)
    program = subprocess.Popen([CHURN, str(2 * COUNT), 'pause'], env=collector.environment(), stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE)
    return collector, program


def finish(program):
    program.stdin.close()
    check(program.wait(timeout=300), 0, 'exit status of the program')


def check_recovered(collector, footprint):
    check(os.path.exists(collector.segment), False, 'the segment is still there')
    check(footprint.info['has_trailer'], True, 'trailer')
    recording = recorded.listing(collector.directory)
    check(recording['recovered'], True, 'recovered')
    check(recording['events'], footprint.info['events'], 'events in recording.json')
    check('segment_path' in recording, False, 'segment_path')


def test_while_the_program_waits():
    """Everything before is there although nothing of it may have been written; what comes after is not recorded."""
    collector, program = start()
    check(program.stdout.readline(), b'half\n', 'the program runs')
    kill(collector.process)
    recover(collector.directory)
    footprint = recorded.Recording(collector.directory).only()
    check(footprint.info['events'], HALF, 'events')
    check_recovered(collector, footprint)
    finish(program)
    check(recover(collector.directory, 3), '', 'a second time there is nothing')


def test_when_both_are_killed():
    collector, program = start()
    check(program.stdout.readline(), b'half\n', 'the program runs')
    kill(collector.process)
    kill(program)
    recover(collector.directory)
    footprint = recorded.Recording(collector.directory).only()
    check_whole(footprint, 'both killed')
    check(footprint.info['events'], HALF, 'events')
    check_recovered(collector, footprint)


def test_a_living_collector_is_left_alone():
    collector, program = start()
    check(program.stdout.readline(), b'half\n', 'the program runs')
    recover(collector.directory, 3)
    finish(program)
    check_whole(collector.end().only(), 'living')


def test_a_copy_does_not_take_the_originals():
    collector, program = start()
    check(program.stdout.readline(), b'half\n', 'the program runs')
    kill(collector.process)
    copy = collector.directory + '-copy'
    shutil.copytree(collector.directory, copy)
    recover(copy, 3)
    recover(collector.directory)
    check(recorded.Recording(collector.directory).only().info['events'], HALF, 'events')
    finish(program)


def test_a_footprint_only_begun():
    """Killed between a file's creation and the slot's naming it: what is no more than a header is nobody's."""
    header_bytes = 64 # docs/format.md
    collector, program = start()
    check(program.stdout.readline(), b'half\n', 'the program runs')
    kill(collector.process)
    recorded_before = [name for name in os.listdir(collector.directory) if name.endswith('.fp')]
    other = recorded.record([CHURN, '1']).directory
    with open(os.path.join(other, next(name for name in os.listdir(other) if name.endswith('.fp'))), 'rb') as file:
        header = file.read(header_bytes)
    for name, content in (('churn.7.fp', header), ('churn.8.fp', b'')):
        with open(os.path.join(collector.directory, name), 'wb') as file:
            file.write(content)
    recover(collector.directory)
    footprint = recorded.Recording(collector.directory).only()
    check(footprint.info['events'], HALF, 'events')
    check_recovered(collector, footprint)
    check([name for name in recorded_before if name not in os.listdir(collector.directory)], [], 'footprints lost')
    finish(program)


def test_damaged_segments():
    """Whatever stands in the shared memory: no crash, no hang, and what is written can be read."""
    chance = random.Random(7)
    for turn in range(30):
        collector, program = start('--memory', '2000000')
        check(program.stdout.readline(), b'half\n', 'the program runs')
        kill(collector.process)
        kill(program)
        size = os.path.getsize(collector.segment)
        with open(collector.segment, 'r+b') as segment:
            for _ in range(1 + turn):
                # the header, a slot, anywhere
                segment.seek(chance.choice((chance.randrange(400), 4096 + chance.randrange(768),
                                            chance.randrange(size - 8))))
                segment.write(chance.choice((b'\xff' * 8, b'\0' * 8, chance.randbytes(8))))
            if turn % 10 == 9:
                segment.truncate(chance.randrange(size))
        result = subprocess.run([recorded.COLLECT, '--recover', '--out', collector.directory], timeout=300, check=False,
                                env=recorded.clean_environment(), stderr=subprocess.DEVNULL)
        check(result.returncode in (0, 1, 3), True, 'exit status %d in turn %d' % (result.returncode, turn))
        if os.path.exists(collector.segment):
            os.unlink(collector.segment)


recorded.main(globals())
