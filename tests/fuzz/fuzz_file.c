/* fuzz_file.c - files for the targets; failing. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <xxhash.h>

#include "fuzz/target.h"

static char folder[64];
static char input[96], output[96];

static void remove_files(void)
{
    (void)unlink(input); /* often one of them is not there */
    (void)unlink(output);
    (void)rmdir(folder);
}

_Noreturn void fuzz_fail(const char *file, int line, const char *condition)
{
    fprintf(stderr, "%s:%d: not true: %s\n", file, line, condition);
    abort();
}

bool fuzz_everything;

unsigned fuzz_turn(const uint8_t *bytes, size_t size)
{
    return fuzz_everything ? 0 : (unsigned)(XXH64(bytes, size, 0) % FUZZ_TURNS);
}

/* Memory where there is some: a fuzzer writes thousands of files a second. */
static void make_folder(void)
{
    if (folder[0] != '\0')
        return;
    snprintf(folder, sizeof folder, "%s/mallab-fuzz-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    FUZZ_CHECK(mkdtemp(folder) != NULL);
    snprintf(input, sizeof input, "%s/input", folder);
    snprintf(output, sizeof output, "%s/output", folder);
    FUZZ_CHECK(atexit(remove_files) == 0);
}

/* A file with a name, because footprints are not read through links, as those of /proc/self/fd are. */
const char *fuzz_input(const uint8_t *bytes, size_t size)
{
    static int fd = -1;
    size_t done = 0;
    if (fd < 0) {
        make_folder();
        fd = open(input, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        FUZZ_CHECK(fd >= 0);
    }
    while (done < size) {
        const ssize_t written = pwrite(fd, bytes + done, size - done, (off_t)done);
        FUZZ_CHECK(written > 0);
        done += (size_t)written;
    }
    FUZZ_CHECK(ftruncate(fd, (off_t)size) == 0); /* the input before may have been longer */
    return input;
}

const char *fuzz_output(void)
{
    make_folder();
    (void)unlink(output); /* not there before the first use */
    return output;
}
