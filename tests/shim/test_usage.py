"""What a process used as a whole, how it ended, and the allocator under it: beside what the program is known to have done."""
import os
import subprocess

import recorded
from recorded import check

USAGE = recorded.program('usage')
MIB = 1 << 20


def usage_of(recording, which=0):
    """Of the footprint, after a look whether recording.json says the same."""
    told = recording.footprints[which].info['usage']
    listed = recording.json['processes'][which]['usage']
    for key, value in listed.items():
        check(told.get(key), value, 'recording.json and footprint: ' + key)
    return told


def check_within(value, least, most, what):
    check(value is not None and least <= value <= most, True, '%s: %r, expected %r to %r' % (what, value, least, most))


def check_use(usage, mib, ms, what):
    """The program burns until it has had so much; what the machine does besides is in it, too."""
    cpu = usage['cpu_user_ns'] + usage['cpu_system_ns']
    check_within(cpu, (ms - 25) * 1e6, (ms + 150) * 1e6, what + ': processor time')
    check_within(usage['end_ns'] - usage['begin_ns'], cpu - 25e6, 100e9, what + ': time that it ran')
    check_within(usage['faults_minor'], mib * 256, mib * 256 + 2000, what + ': page faults')


def check_memory(usage, mib, what):
    check_within(usage['rss_anon_peak_bytes'], (mib - 1) * MIB, (mib + 4) * MIB, what + ': anonymous peak')
    check_within(usage['rss_peak_bytes'], mib * MIB, (mib + 10) * MIB, what + ': peak')
    check_within(usage['rss_end_bytes'], MIB // 2, 10 * MIB, what + ': at the end, when all is freed')
    check_within(usage['recorder_bytes'], 4096, 4 * MIB, what + ': shared with the recorder')


def test_ends():
    """A process tells its own end, and the kernel tells how that came about."""
    recorded.needs('memory figures without its own')
    for way, status, how, code in (('exit', 3, 'exit', 3), ('leave', 4, 'exit', 4)):
        usage = usage_of(recorded.record([USAGE, way, '40', '150'], status=status))
        check_use(usage, 40, 150, way)
        check_memory(usage, 40, way)
        check((usage['ended'], usage['cpu_age_ns'], usage['memory_age_ns']), (how, 0, 0), way)
        check(usage.get('code', code), code, way + ': code')
        check([(p[0] > 0, p[1] >= p[2]) for p in usage['points']], [(True, True)] * len(usage['points']), way + ': series')
        check_within(len(usage['points']), 1, 256, way + ': points')


def test_killed():
    """Nothing is told by a process that is killed: the last look stands, and says how old it is. Of its times the kernel knows
    more, as long as nobody has waited for it: `mallab record` does not before the collector has looked."""
    recorded.needs('memory figures without its own')
    for way, signal in (('kill', 9), ('abort', 6)):
        directory = os.path.join(recorded.temporary(), 'out')
        subprocess.run([os.path.join(recorded.BUILD, 'mallab'), 'record', '-q', '-o', directory, '--', USAGE, way, '40', '300'],
                       env=recorded.clean_environment(), stderr=subprocess.DEVNULL, check=False)
        recording = recorded.Recording(directory)
        usage = usage_of(recording)
        check((usage['ended'], usage['code'], usage['cpu_age_ns']), ('signal', signal, 0), way)
        check(recording.json['command_pid'], recording.json['processes'][0]['pid'], way + ': the command')
        check_use(usage, 40, 300, way)
        check(usage['memory_age_ns'] > 0, True, way + ': memory is of a look before')
        check_within(usage['rss_peak_bytes'], MIB // 2, 50 * MIB, way + ': peak')


def test_images():
    """Times and faults go on over an exec: each image has its own part. A fork's child begins at nothing."""
    recorded.needs('memory figures without its own')
    recording = recorded.record([USAGE, 'exec', '30', '200', 'fork', '10', '400', 'exit', '20', '100'], status=0)
    first, second, child = usage_of(recording, 0), usage_of(recording, 1), usage_of(recording, 2)
    check((first['ended'], second['ended'], child['ended']), ('exec', 'exit', 'exit'), 'ends')
    check_use(first, 30, 200, 'before the exec')
    check_use(second, 10, 200, 'behind it')
    check_use(child, 20, 100, 'the child')
    check_memory(first, 30, 'before the exec')
    check_within(second['rss_anon_peak_bytes'], 9 * MIB, 14 * MIB, 'behind the exec: anonymous peak')
    check(second['begin_ns'] >= first['end_ns'], True, 'one behind the other')
    check(child['begin_ns'] >= second['begin_ns'], True, 'the child comes last')


def test_away():
    """What comes behind an exec is not the image's, also where it is not recorded; an exec that fails changes nothing."""
    recorded.needs('memory figures without its own')
    usage = usage_of(recorded.record([USAGE, 'away', '30', '200', 'exit', '90', '600'], status=3))
    check(usage['ended'], 'exec', 'end')
    check_use(usage, 30, 200, 'before it')
    check_memory(usage, 30, 'before it')
    usage = usage_of(recorded.record([USAGE, 'fail', '10', '20', 'kill', '60', '300'], status=-9))
    check(usage['ended'] in ('signal', 'unknown'), True, usage['ended'])
    check_within(usage['rss_peak_bytes'], 60 * MIB, 70 * MIB, 'behind an exec that failed: peak')


def allocator_of(command, env=None):
    recording = recorded.record(command, env=env, status=3)
    usage = usage_of(recording)
    check(recording.json['complete'], True, '%s: complete' % command)
    return usage['allocator'], usage['version'], usage['how']


def libraries():
    """Name and library of the allocators that are here."""
    found = subprocess.run(['ldconfig', '-p'], capture_output=True, text=True, check=False).stdout
    for name, library, version in (('jemalloc', 'libjemalloc.so.2', '5.'), ('tcmalloc', 'libtcmalloc.so.4', 'gperftools 2.'),
                                   ('tcmalloc-minimal', 'libtcmalloc_minimal.so.4', 'gperftools 2.'),
                                   ('mimalloc', 'libmimalloc.so.2', '2.'), ('tbb', 'libtbbmalloc_proxy.so.2', '')):
        if library in found:
            yield name, library, version
        else:
            print('left out: no %s here' % library)


def test_runs_on():
    command = [USAGE, 'exit', '1', '0']
    name, version, how = allocator_of(command)
    check((name, version[:2], how), ('glibc', '2.', 'libc'), 'libc')
    for wanted, library, begin in libraries():
        name, version, how = allocator_of(command, {'LD_PRELOAD': recorded.SHIM + ':' + library})
        check((name, version[:len(begin)], how), (wanted, begin, 'preloaded'), library)
    for wanted in ('jemalloc', 'mimalloc'):
        linked = recorded.program('usage_' + wanted)
        if not os.path.exists(linked):
            print('left out: no %s to link with' % wanted)
            continue
        name, version, how = allocator_of([linked, 'exit', '1', '0'])
        check((name, how), (wanted, 'linked'), linked)
        check(version != '', True, linked + ': version')


def test_in_front():
    """Whose calls go past us is named as not recorded, with what to do."""
    own = recorded.record([recorded.program('front'), 'exit', '1', '0'], status=3)
    check(own.json['complete'], False, 'own malloc: complete')
    check([('malloc of its own' in n['why'], n['pid']) for n in own.json['not_recorded']],
          [(True, own.json['processes'][0]['pid'])], own.json['not_recorded'])
    for wanted, library, _ in libraries():
        front = recorded.record([USAGE, 'exit', '1', '0'], env={'LD_PRELOAD': library + ':' + recorded.SHIM}, status=3)
        check([(library in n['why'], 'first in LD_PRELOAD' in n['why']) for n in front.json.get('not_recorded', [])],
              [(True, True)], library)
        check((front.json['complete'], usage_of(front)['allocator']), (False, wanted), library + ' in front')


def test_passed_on():
    """A library before us that passes each call on takes nothing away."""
    recording = recorded.record([USAGE, 'exit', '1', '0'], status=3,
                                env={'LD_PRELOAD': recorded.program('passing.so') + ':' + recorded.SHIM})
    check('not_recorded' in recording.json, False, recording.json.get('not_recorded'))
    check(recording.json['complete'], True, 'complete')
    check(recording.only().count('malloc', MIB + 1), 1, 'the call')


recorded.main(globals())
