/* scratch.h - files that a test makes: in a directory of its own under the working directory, removed at exit. */
#ifndef MALLAB_TESTS_SCRATCH_H
#define MALLAB_TESTS_SCRATCH_H

#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char scratch_directory[128];

static int scratch_remove(const char *path, const struct stat *stat_, int flag, struct FTW *ftw)
{
    return remove(path);
}

static void scratch_clear(void)
{
    if (scratch_directory[0] != '\0')
        (void)nftw(scratch_directory, scratch_remove, 16, FTW_DEPTH | FTW_PHYS);
}

/* A path within the directory; valid for the next 63 calls. */
static inline const char *scratch_path(const char *name)
{
    static char paths[64][512];
    static unsigned next;
    char *path = paths[next++ % 64];
    if (scratch_directory[0] == '\0') {
        snprintf(scratch_directory, sizeof scratch_directory, "scratch.%ld", (long)getpid());
        (void)umask(022); /* what others may write to is not believed */
        if (mkdir(scratch_directory, 0700) != 0)
            abort();
        atexit(scratch_clear);
    }
    snprintf(path, sizeof paths[0], "%s/%s", scratch_directory, name);
    return path;
}

static inline void scratch_write(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(bytes, 1, size, file) != size || fclose(file) != 0)
        abort();
}

/* The whole file; the caller frees it. */
static inline char *scratch_read(const char *path, size_t *ret_size)
{
    FILE *file = fopen(path, "rb");
    long size;
    if (file == NULL || fseek(file, 0, SEEK_END) != 0 || (size = ftell(file)) < 0)
        abort();
    rewind(file);
    char *bytes = malloc((size_t)size + 1);
    if (bytes == NULL || fread(bytes, 1, (size_t)size, file) != (size_t)size)
        abort();
    bytes[size] = '\0';
    (void)fclose(file);
    *ret_size = (size_t)size;
    return bytes;
}

#endif
