/* cell_files.c - see cell_files.h. */
#include "results/measure/plan/cell_files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "footprint/base/process.h"
#include "footprint/base/support.h"
#include "footprint/base/trusted.h"

#define CELLS         "cells"
#define WHY_BYTES_MAX 1024u
#define TRIES_MAX     1000000u
#define NAME_BYTES    64u
#define NUMBER_DIGITS 16u /* of a cell: RES_PLAN_ROWS_MAX has 7 */
#define TRY_BEFORE    ", try "

/* ---- names ----------------------------------------------------------------------------------- */

enum res_cell_file res_cell_file_of(const char *name, uint64_t *ret_cell)
{
    const size_t digits = strspn(name, "0123456789");
    const char *ending = name + digits;
    const bool result = strncmp(ending, ".json", 5) == 0, why = strncmp(ending, ".why", 4) == 0;
    const char *rest = ending + (result ? 5 : 4);
    if (digits == 0 || digits > NUMBER_DIGITS || (digits > 1 && name[0] == '0') || !(result || why))
        return RES_CELL_OTHER;
    if (*rest != '\0' &&
        (*rest != '.' || rest[1] == '\0' || rest[1 + strspn(rest + 1, "0123456789abcdef")] != '\0'))
        return RES_CELL_OTHER;
    *ret_cell = strtoull(name, NULL, 10);
    if (*rest == '.')
        return RES_CELL_TEMPORARY;
    return result ? RES_CELL_RESULT : RES_CELL_WHY;
}

static void name_of(uint64_t cell, const char *ending, char ret_name[NAME_BYTES])
{
    (void)snprintf(ret_name, NAME_BYTES, "%" PRIu64 ".%s", cell, ending); /* fits */
}

char *res_node_name(void)
{
    struct utsname names;
    return res_text_plain(uname(&names) == 0 ? names.nodename : "");
}

/* ---- opening --------------------------------------------------------------------------------- */

int res_cells_open(int directory, bool make, char **ret_problem)
{
    struct fp_error error;
    char words[512];
    if (make && mkdirat(directory, CELLS, 0755) != 0 && errno != EEXIST) {
        *ret_problem = res_printf("cannot make '%s': %s", CELLS, strerror(errno));
        return -1;
    }
    const int fd = fp_trusted_open(directory, CELLS, S_IFDIR, FP_TRUSTED_READ, &error);
    if (fd < 0)
        *ret_problem = res_strdup(fp_error_text(&error, CELLS, words, sizeof words));
    return fd;
}

/* As the door does, but a file may have the two names that a result has while it is published, and ever since if its maker
 * was killed between the two. */
static int open_file(int cells, const char *name, struct fp_error *ret_error)
{
    struct stat facts;
    const int fd = openat(cells, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0) {
        *ret_error = fp_error_make(FP_ERR_OPEN, errno, 0, "cannot open");
        return -1;
    }
    enum fp_distrust distrust = FP_DISTRUST_KIND;
    if (fstat(fd, &facts) == 0) {
        facts.st_nlink -= facts.st_nlink == 2;
        distrust = fp_distrust(&facts, S_IFREG, geteuid(), true);
    }
    if (distrust == FP_TRUSTED)
        return fd;
    (void)close(fd); /* nothing was done with it */
    *ret_error = fp_error_make(FP_ERR_UNTRUSTED, 0, 0, "is another user's, or others may write to it");
    ret_error->distrust = distrust;
    (void)fp_trusted_user(facts.st_uid, ret_error->owner, sizeof ret_error->owner);
    return -1;
}

int res_cell_open(int cells, uint64_t cell, struct fp_error *ret_error)
{
    char name[NAME_BYTES];
    name_of(cell, "json", name);
    return open_file(cells, name, ret_error);
}

/* ---- writing --------------------------------------------------------------------------------- */

/* Beside its name, on the disk. Returns false, with errno, where nothing is left. */
static bool write_temporary(int cells, const char *name, const char *text, size_t length,
                            char ret_temporary[NAME_BYTES])
{
    uint64_t random = 0;
    int error = 0;
    if (getrandom(&random, sizeof random, 0) != (ssize_t)sizeof random)
        random = (uint64_t)getpid(); /* its name must be free in any case */
    (void)snprintf(ret_temporary, NAME_BYTES, "%s.%016" PRIx64, name, random); /* fits */
    const int fd = openat(cells, ret_temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (fd < 0)
        return false;
    if (!fp_write_all(fd, text, length) || fsync(fd) != 0)
        error = errno;
    if (close(fd) != 0 && error == 0) /* where a network's file system tells of a full disk */
        error = errno;
    if (error != 0)
        (void)unlinkat(cells, ret_temporary, 0); /* torn, and its name says that it is no result */
    errno = error;
    return error == 0;
}

/* The temporary gets the name too, unless that is taken. A network's file system may report a failure of what was done, as when
 * the answer was lost and the question asked again: the temporary's number of names tells. Returns 0 or an errno. */
static int take_name(int cells, const char *temporary, const char *name)
{
    struct stat facts;
    if (linkat(cells, temporary, cells, name, 0) == 0)
        return 0;
    const int error = errno;
    if (fstatat(cells, temporary, &facts, AT_SYMLINK_NOFOLLOW) == 0 && facts.st_nlink > 1)
        return 0;
    if (error != EPERM && error != EOPNOTSUPP && error != ENOSYS && error != EMLINK)
        return error;
    /* No links here. */
    return renameat2(cells, temporary, cells, name, RENAME_NOREPLACE) == 0 ? 0 : errno;
}

enum res_cell_outcome res_cell_publish(int cells, uint64_t cell, const char *text, size_t length,
                                       char **ret_problem)
{
    char name[NAME_BYTES], temporary[NAME_BYTES];
    name_of(cell, "json", name);
    int error = write_temporary(cells, name, text, length, temporary) ? 0 : errno;
    if (error == 0) {
        error = take_name(cells, temporary, name);
        (void)unlinkat(cells, temporary,
                       0);  /* where it stays it is one name more of the same file, or dropped */
        (void)fsync(cells); /* not all file systems can; the file itself is on the disk */
    }
    if (error == 0)
        return RES_CELL_PUBLISHED;
    if (error == EEXIST)
        return RES_CELL_WAS_THERE;
    *ret_problem = res_printf("cannot write '" CELLS "/%s': %s", name, strerror(error));
    return RES_CELL_FAILED;
}

/* ---- why there is none ------------------------------------------------------------------------- */

char *res_cell_why(int cells, uint64_t cell)
{
    struct fp_error error;
    char name[NAME_BYTES], text[WHY_BYTES_MAX];
    name_of(cell, "why", name);
    const int fd = open_file(cells, name, &error);
    if (fd < 0)
        return NULL;
    const ssize_t count = read(fd, text, sizeof text - 1);
    (void)close(fd); /* only read from */
    text[count > 0 ? count : 0] = '\0';
    text[strcspn(text, "\n")] = '\0';
    return text[0] != '\0' ? res_text_plain(text) : NULL;
}

uint64_t res_cell_tries(int cells, uint64_t cell)
{
    char *why = res_cell_why(cells, cell);
    uint64_t tries = 0;
    for (const char *at = why; at != NULL && (at = strstr(at, TRY_BEFORE)) != NULL;) {
        at += strlen(TRY_BEFORE);
        const size_t digits = strspn(at, "0123456789");
        if (digits > 0 && digits < 8 && strcmp(at + digits, ")") == 0)
            tries = strtoull(at, NULL, 10);
    }
    free(why);
    return tries < TRIES_MAX ? tries : TRIES_MAX;
}

void res_cell_set_why(int cells, uint64_t cell, int code, const char *cause)
{
    char name[NAME_BYTES], temporary[NAME_BYTES];
    char *plain = res_text_plain(cause), *node = res_node_name();
    char *line = res_printf("%.*s (exit %d on %.64s" TRY_BEFORE "%" PRIu64 ")\n", (int)WHY_BYTES_MAX / 2,
                            plain, code, node, res_cell_tries(cells, cell) + 1);
    name_of(cell, "why", name);
    if (write_temporary(cells, name, line, strlen(line), temporary) &&
        renameat(cells, temporary, cells, name) != 0)
        (void)unlinkat(cells, temporary, 0); /* unsaid then */
    free(line);
    free(node);
    free(plain);
}
