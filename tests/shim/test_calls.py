"""Every wrapped symbol is exported, forwards, and becomes the mark it should be, with its numbers."""
import os
import subprocess

import recorded
from recorded import check, check_whole

EXPORTED = set('''
malloc calloc realloc reallocarray free free_sized free_aligned_sized posix_memalign aligned_alloc memalign valloc
pvalloc malloc_usable_size
execve execv execvp execvpe execl execlp execle posix_spawn posix_spawnp prctl syscall longjmp _longjmp siglongjmp __longjmp_chk _exit _Exit dlclose
setuid setreuid setresuid
dlopen dlmopen
_Znwm _Znam _ZnwmRKSt9nothrow_t _ZnamRKSt9nothrow_t _ZnwmSt11align_val_t _ZnamSt11align_val_t
_ZnwmSt11align_val_tRKSt9nothrow_t _ZnamSt11align_val_tRKSt9nothrow_t
_ZdlPv _ZdaPv _ZdlPvRKSt9nothrow_t _ZdaPvRKSt9nothrow_t _ZdlPvm _ZdaPvm _ZdlPvSt11align_val_t _ZdaPvSt11align_val_t
_ZdlPvmSt11align_val_t _ZdaPvmSt11align_val_t _ZdlPvSt11align_val_tRKSt9nothrow_t
_ZdaPvSt11align_val_tRKSt9nothrow_t
'''.split())

HUGE = 1 << 62
CXX_HUGE = 1 << 61


def test_symbols():
    lines = subprocess.check_output(['nm', '-D', '--defined-only', recorded.SHIM], text=True).splitlines()
    check({line.split()[-1] for line in lines}, EXPORTED, 'exported symbols')
    needed = subprocess.check_output(['readelf', '-d', recorded.SHIM], text=True)
    libraries = {line.split('[')[1].rstrip(']') for line in needed.splitlines() if '(NEEDED)' in line}
    check(libraries <= {'libc.so.6', 'ld-linux-x86-64.so.2', 'ld-linux-aarch64.so.1', 'libdl.so.2'}, True,
          'needs nothing but libc: %s' % libraries)


def test_c_calls():
    recording = recorded.record([recorded.program('calls')])
    check(recording.output, 'failures 0, sized releases yes\n', 'what the program saw')
    f = recording.only()
    check_whole(f, 'calls')
    for call, size, extra, count in (
            ('malloc', 1001, 0, 1), ('realloc', 5002, 0, 1), ('reallocarray', 4003, 3, 1), ('calloc', 1004, 11, 1),
            ('calloc', 1005, 1, 1), ('realloc', 1006, 0, 1), ('realloc', 0, 0, 1),
            ('posix_memalign', 2001, 256, 1), ('aligned_alloc', 2048, 512, 1), ('memalign', 2003, 1024, 1),
            ('valloc', 2004, 0, 1), ('pvalloc', 2005, 0, 1), ('malloc', 2006, 0, 1), ('free_sized', 2006, 0, 1),
            ('aligned_alloc', 2112, 64, 1), ('free_aligned_sized', 2112, 64, 1),
            ('malloc', 3001, 0, 1), ('malloc', HUGE, 0, 1), ('calloc', 8, HUGE, 1), ('realloc', HUGE, 0, 1),
            ('reallocarray', 16, HUGE, 1), ('posix_memalign', 16, 3, 1), ('posix_memalign', HUGE, 64, 1),
            ('aligned_alloc', HUGE, 64, 1), ('malloc', 3002, 0, 20000)):
        check(f.count(call, size, extra), count, '%s(%d, %d)' % (call, size, extra))
    for call, size, extra in (('malloc', HUGE, 0), ('calloc', 8, HUGE), ('realloc', HUGE, 0),
                              ('reallocarray', 16, HUGE), ('posix_memalign', 16, 3), ('aligned_alloc', HUGE, 64)):
        check([m.address for m in f.find(call, size, extra)], [0], 'a failed call has no address')
    first = f.find('malloc', 1001)[0].address
    at = f.marks.index(f.find('malloc', 1001)[0])
    check([(m.call, m.address) for m in f.marks[at:at + 2]], [('malloc', first), ('(resize from)', first)],
          'a realloc names its old object before it')
    check(f.marks[at + 2].call, 'realloc', 'and its new one after it')
    before_null = f.marks[f.marks.index(f.find('realloc', 1006)[0]) - 1]
    check(before_null.call == '(resize from)', False, 'realloc(NULL) consumes nothing')
    check(f.count('free', address=0) >= 2, True, 'free(NULL) is an event')


def test_operators():
    if not os.path.exists(recorded.program('operators')):
        print('left out: there is no C++ compiler')
        return
    recording = recorded.record([recorded.program('operators')])
    check(recording.output, 'failures 0\n', 'what the program saw')
    f = recording.only()
    check_whole(f, 'operators')
    new, delete = 'operator new', 'operator delete'
    for call, size, extra, count in (
            (new, 4001, 0, 1), (new + '[]', 4002, 0, 1), (new + '(nothrow)', 4003, 0, 1),
            (new + '[](nothrow)', 4004, 0, 1), (new, 4005, 0, 1), (new + '[]', 4006, 0, 1), (new, 0, 0, 1),
            (new + '(align)', 4011, 128, 1), (new + '[](align)', 4012, 128, 1),
            (new + '(align,nothrow)', 4013, 128, 1), (new + '[](align,nothrow)', 4014, 128, 1),
            (new + '(align)', 4015, 128, 1), (new + '[](align)', 4016, 128, 1),
            (delete, 0, 0, 103), (delete + '[]', 0, 0, 1), (delete + '(nothrow)', 0, 0, 1),
            (delete + '[](nothrow)', 0, 0, 1), (delete + '(size)', 4005, 0, 1), (delete + '[](size)', 4006, 0, 1),
            (delete + '(align)', 0, 128, 1), (delete + '[](align)', 0, 128, 1),
            (delete + '(align,nothrow)', 0, 128, 1), (delete + '[](align,nothrow)', 0, 128, 1),
            (delete + '(size,align)', 4015, 128, 1), (delete + '[](size,align)', 4016, 128, 1),
            (new, CXX_HUGE, 0, 2), (new + '[]', CXX_HUGE, 0, 1), (new + '(align)', CXX_HUGE, 64, 1),
            (new + '(nothrow)', CXX_HUGE, 0, 1), (new + '[](nothrow)', CXX_HUGE, 0, 1), (new, 4021, 0, 100)):
        check(f.count(call, size, extra), count, '%s(%d, %d)' % (call, size, extra))
    # no malloc under an operator is recorded twice: all sizes 4001-4021 belong to operators
    check([m for m in f.marks if m.call in ('malloc', 'aligned_alloc') and 4000 < m.size < 4030], [],
          'the malloc inside an operator')
    live = set()
    for m in f.marks:
        if 'delete' in m.call or m.call == 'free':
            live.discard(m.address)
        elif m.address and m.call != '(resident)':
            check(m.address in live, False, 'two live objects at one address')
            live.add(m.address)


def test_private_library():
    """A C++ library loaded with RTLD_LOCAL into a C program."""
    plugin = recorded.program('plugin.so')
    if not os.path.exists(plugin):
        print('left out: there is no C++ compiler')
        return
    recording = recorded.record([recorded.program('loader'), plugin])
    check(recording.output, 'dlerror none\n' * 2, 'what the program saw')
    f = recording.only()
    check_whole(f, 'loader')
    for call, size, count in (('operator new', 4101, 20), ('operator delete', 0, 20), ('operator new', CXX_HUGE, 2),
                              ('operator new[](nothrow)', 4102, 20), ('operator delete[]', 0, 20)):
        check(f.count(call, size), count, '%s(%d)' % (call, size))


recorded.main(globals())
