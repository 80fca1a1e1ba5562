/* unnamed_file.c - files without a name. */
#include "convert/base/unnamed_file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A file without a name, gone with its descriptor; -1 with errno set. */
static int open_nameless(const char *directory)
{
    char name[PATH_MAX + 32];
    int descriptor = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (descriptor >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT))
        return descriptor;
    /* The file system knows no files without a name: take the name away at once. */
    if ((size_t)snprintf(name, sizeof name, "%s/.mallab-XXXXXX", directory) >= sizeof name) {
        errno = ENAMETOOLONG;
        return -1;
    }
    descriptor = mkostemp(name, O_CLOEXEC);
    if (descriptor >= 0)
        (void)unlink(name); /* a name that stays does no harm beside the space */
    return descriptor;
}

enum fp_status conv_temporary_open(const char *beside, struct conv_temporary *ret_temporary,
                                   struct conv_error *error)
{
    /* /tmp comes last: it may be memory. */
    const char *const directories[] = {getenv("TMPDIR"), "/var/tmp", "/tmp"};
    const size_t count = strcmp(beside, "-") == 0 ? sizeof directories / sizeof directories[0] : 1;
    char copy[PATH_MAX];
    snprintf(copy, sizeof copy, "%s", beside);
    ret_temporary->descriptor = -1;
    for (size_t i = 0; i < count && ret_temporary->descriptor < 0; i++) {
        const char *directory = count == 1 ? dirname(copy) : directories[i];
        if (directory == NULL || directory[0] == '\0')
            continue;
        snprintf(ret_temporary->directory, sizeof ret_temporary->directory, "%s", directory);
        ret_temporary->descriptor = open_nameless(directory);
    }
    if (ret_temporary->descriptor < 0)
        return conv_fail(error, ret_temporary->directory, FP_ERR_WRITE, errno, 0,
                         "cannot make a temporary file");
    snprintf(ret_temporary->path, sizeof ret_temporary->path, "/proc/self/fd/%d", ret_temporary->descriptor);
    return FP_OK;
}

/* The file has no name: its directory tells whose disk was full. */
void conv_temporary_name(const struct conv_temporary *temporary, struct conv_error *error)
{
    if (error->output && error->cause.status == FP_ERR_WRITE)
        (void)conv_fail(error, temporary->directory, FP_ERR_WRITE, error->cause.sys_errno, 0,
                        "cannot write a temporary file");
}
