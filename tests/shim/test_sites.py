"""Call stacks of allocations: the recorder's walk finds what libunwind finds in ten programs of Debian and in one that is hostile
to it, every allocation has a site, and what cannot be walked is cut and says why."""
import collections
import os
import shutil
import subprocess

import recorded
from recorded import check, check_whole

STACKS = recorded.program('stacks')
UNWOUND = recorded.program('unwound') + '.so'
C_SOURCE = '#include <stdio.h>\nint main(void) { for (int i = 0; i < 9; i++) printf("%d", i); return 0; }\n'

# Short runs: libunwind looks for each frame anew.
PROGRAMS = [
    ['perl', '-e', 'my %h; $h{$_} = [$_, "x$_"] for 1 .. 400; print scalar keys %h'],
    ['/usr/bin/python3', '-S', '-c', 'import json; print(len(json.dumps([str(i) for i in range(100)])))'],
    ['bash', '-c', 'x=(); for i in {1..200}; do x+=("$i"); done; echo ${#x[@]}'],
    ['ls', '-l', '/usr/bin'],
    ['find', '/usr/share/doc', '-maxdepth', '1', '-name', 'lib*'],
    ['awk', 'BEGIN { for (i = 0; i < 500; i++) a[i] = i "x"; print length(a) }'],
    ['sort', '/etc/passwd'],
    ['git', '--version'],
    ['sed', 's/a/b/g', '/etc/passwd'],
    ['tar', '-cf', '/dev/null', '/etc/alternatives'],
    ['gcc', '-x', 'c', '-O1', '-S', '-o', '/dev/null', '-'],
    ['sqlite3', ':memory:', 'create table t(a, b); insert into t values (1, 2), (3, 4); select sum(a) from t;'],
]


def unwound(command, **more):
    """The lines of all its processes: stacks compared, equal, cut, different, come again; and how the command ended."""
    path = os.path.join(recorded.temporary(), 'lines')
    ended = subprocess.run(command, env=recorded.clean_environment({'LD_PRELOAD': UNWOUND, 'UNWOUND': path}),
                           stdout=subprocess.DEVNULL, check=True, **more)
    sums = collections.Counter()
    with open(path, encoding='utf-8') as lines:
        text = lines.read()
    for line in text.splitlines():
        words = line.split()
        if len(words) == 6 and all(word.isdigit() for word in words[1:]):
            sums.update(dict(zip(('compared', 'equal', 'cut', 'different', 'again'), map(int, words[1:]))))
    return sums, text, ended


def test_debian():
    if not os.path.exists(UNWOUND):
        print('libunwind is not here: nothing to compare with')
        return
    seen, stacks, cut, again = 0, 0, 0, 0
    debian = os.environ.get('QEMU_LD_PREFIX') # scripts/lib/arm64: its programs are not in PATH
    for command in PROGRAMS:
        path = shutil.which(os.path.basename(command[0]), path=debian and debian + '/usr/bin:' + debian + '/bin')
        if path is None:
            continue
        sums, text, _ = unwound([path] + command[1:], input=C_SOURCE, text=True)
        check(sums['different'], 0, '%s: stacks unlike libunwind\'s\n%s' % (command[0], text))
        check(sums['compared'] > 0, True, command[0] + ': some allocated')
        seen, stacks, cut, again = seen + 1, stacks + sums['compared'], cut + sums['cut'], again + sums['again']
    check(seen >= (7 if debian else 10), True, 'ten programs are here, seven of them emulated: %d' % seen)
    check(cut <= stacks / 1000, True, 'cut ones: %d of %d' % (cut, stacks))
    check(again > stacks / 4, True, 'those that came again: %d of %d' % (again, stacks))


GAPS = """
#include <stdlib.h>
static void *kept[64];
__attribute__((noinline)) static int take(int depth)
{
    kept[depth] = malloc(100);
    return depth > 0 ? take(depth - 1) + 1 : 0;
}
__attribute__((constructor)) static void begin(void) { kept[63] = (void *)(long)take(10); }
int main(void) { return take(20) + (int)(long)kept[63] != 30; }
"""


def test_gaps():
    """A program whose segments lie apart, as old linkers and large pages have them: the loader finds each by itself."""
    if not os.path.exists(UNWOUND) or shutil.which('cc') is None:
        print('libunwind or cc is not here')
        return
    program = os.path.join(recorded.temporary(), 'gaps')
    for position in ('-no-pie', '-pie'):
        subprocess.run(['cc', '-x', 'c', '-O1', '-fomit-frame-pointer', position, '-fPIE', '-Wl,-z,max-page-size=0x200000',
                        '-Wl,-z,separate-code', '-o', program, '-'], input=GAPS, text=True, check=True)
        sums, text, _ = unwound([program])
        check((sums['different'], sums['cut']), (0, 0), position + ': stacks unlike libunwind\'s, and cut\n' + text)
        check(sums['compared'] >= 32, True, position + ': %d stacks' % sums['compared'])


def test_hostile_walk():
    for part in ('coroutines', 'handmade', 'signals', 'exceptions', 'recursion', 'libraries'):
        if os.path.exists(UNWOUND):
            sums, text, _ = unwound([STACKS, part])
            check(sums['different'], 0, '%s: stacks unlike libunwind\'s\n%s' % (part, text))
            check(sums['cut'] > 0, part in ('handmade', 'recursion'), part + ': some are cut')


def stacks_of(footprint):
    """[(allocations, cut, bytes, frames)]"""
    lines = subprocess.check_output([recorded.FPDUMP, '--stacks', footprint.path], text=True).splitlines()
    split = [line.split('\t') for line in lines]
    return [(int(words[0]), words[1], int(words[2]), words[3:]) for words in split]


def cuts(footprint):
    sums = collections.Counter()
    for allocations, cut, _, _ in stacks_of(footprint):
        sums[cut] += allocations
    return sums


def record(part, *options):
    return recorded.record([STACKS, part], options=('--sites', '1') + options)


def allocations_of(footprint):
    return sum(count for call, count in footprint.info['calls'].items()
               if 'free' not in call and 'delete' not in call and not call.startswith('('))


def test_recorded():
    expected = {'coroutines': set(), 'handmade': {'cfi', 'stack'}, 'signals': set(), 'exceptions': set(),
                'recursion': {'deep'}, 'libraries': set()}
    for part, allowed in expected.items():
        f = record(part).only()
        check_whole(f, part)
        sums = cuts(f)
        check(sum(sums.values()), allocations_of(f), part + ': each allocation has a site')
        check(set(sums) - {'-'} <= allowed, True, '%s: cut as expected: %s' % (part, dict(sums)))
        check(all(frames for _, cut, _, frames in stacks_of(f) if cut == '-'), True, part + ': stacks have frames')


def test_recursion():
    """10,000 frames: the innermost are there, and it says that there are more."""
    f = record('recursion').only()
    deep = [frames for _, cut, _, frames in stacks_of(f) if cut == 'deep']
    check({len(frames) for frames in deep}, {64}, 'frames of deep stacks')
    whole = max(len(frames) for _, cut, _, frames in stacks_of(f) if cut == '-')
    check(400 < whole <= 512, True, 'frames of the deepest whole one: %d' % whole)


def test_threads():
    """2,000 threads, with MALLAB_TEST_LONG more than 10,000, on stacks of libc's and of the program's; forks of threads."""
    recorded.needs('speed for thousands of threads')
    recording = record('threads')
    check(len(recording.footprints), 21, 'processes')
    for f in recording.footprints:
        check_whole(f, 'threads')
        sums = cuts(f)
        check(set(sums) - {'-'}, set(), 'cut: %s' % dict(sums))
        check(sum(sums.values()), allocations_of(f), 'each allocation has a site')
        check(any(len(frames) > 7 for _, _, _, frames in stacks_of(f)), True, 'of threads, too')


def test_modules():
    """Frames lie in modules that are named, those that were unloaded since as well."""
    f = record('libraries').only()
    names = {frame.split('+')[0] for _, _, _, frames in stacks_of(f) for frame in frames}
    check('?' in names, False, 'every frame lies in a module: %s' % names)
    check({'libc.so.6', ''} <= names, True, 'among them libc and the program: %s' % names)
    check(bool(names & {'libzstd.so.1', 'libxxhash.so.0'}), True, 'and one that was unloaded: %s' % names)


def test_sample():
    """Of a sample the stacks are some of those that all allocations have, and what is not in it says so. A sample by bytes has a
    share of the calls that differs from program to program, so the mean is such that one has many samples and few have none."""
    recorded.needs('speed for thousands of threads')
    whole = {tuple(frames) for _, _, _, frames in stacks_of(record('exceptions').only())}
    samples = 0
    for part in ('exceptions', 'threads', 'coroutines'):
        for f in recorded.record([STACKS, part], options=('--sites', '16K')).footprints:
            check_whole(f, part)
            sums = cuts(f)
            check(sum(sums.values()), allocations_of(f), part + ': each allocation has a site, or says that it was not sampled')
            check(sums['none'], 0, part + ': none without')
            samples += sum(sums.values()) - sums['unsampled']
            if part == 'exceptions':
                told = {tuple(frames) for _, cut, _, frames in stacks_of(f) if cut == '-'}
                check({frames[:3] for frames in told} <= {frames[:3] for frames in whole}, True, 'stacks that all have')
    check(samples > 100, True, 'samples: %d' % samples)


def test_off():
    """Without --sites a footprint has none."""
    f = recorded.record([STACKS, 'exceptions']).only()
    check({cut for _, cut, _, _ in stacks_of(f)}, {'none'}, 'stacks')


def test_clocks_and_small_memory():
    """Clocks and little memory take another way through the recorder, and have the same stacks."""
    whole = sorted((cut, frames[:3]) for _, cut, _, frames in stacks_of(record('exceptions').only()))
    for options in (('--clock', 'monotonic'), ('--memory', '131072')):
        f = record('exceptions', *options).only()
        found = sorted((cut, frames[:3]) for _, cut, _, frames in stacks_of(f))
        check(len(found), len(whole), '%s: as many stacks' % (options,))
        check([cut for cut, _ in found], [cut for cut, _ in whole], '%s: cut alike' % (options,))



recorded.main(globals())
