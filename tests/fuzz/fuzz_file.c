/* fuzz_file.c - files for the targets; failing. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz/target.h"

static char folder[64];
static char output[96];

_Noreturn void fuzz_fail(const char *file, int line, const char *condition)
{
    fprintf(stderr, "%s:%d: not true: %s\n", file, line, condition);
    abort();
}

const char *fuzz_input(const uint8_t *bytes, size_t size)
{
    static int fd = -1;
    static char path[32];
    size_t done = 0;
    if (fd < 0) {
        fd = memfd_create("fuzz", MFD_CLOEXEC);
        FUZZ_CHECK(fd >= 0);
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    }
    FUZZ_CHECK(ftruncate(fd, 0) == 0);
    while (done < size) {
        const ssize_t written = pwrite(fd, bytes + done, size - done, (off_t)done);
        FUZZ_CHECK(written > 0);
        done += (size_t)written;
    }
    return path;
}

static void remove_output(void)
{
    (void)unlink(output); /* often not there */
    (void)rmdir(folder);
}

const char *fuzz_output(void)
{
    if (folder[0] == '\0') {
        /* Memory where there is some: a fuzzer writes thousands of files a second. */
        snprintf(folder, sizeof folder, "%s/mallab-fuzz-XXXXXX",
                 access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
        FUZZ_CHECK(mkdtemp(folder) != NULL);
        snprintf(output, sizeof output, "%s/output", folder);
        FUZZ_CHECK(atexit(remove_output) == 0);
    }
    (void)unlink(output); /* not there before the first use */
    return output;
}
