/* output_place.c - following links, and refusing what is no file. */
#include "footprint/base/output_place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum fp_status fp_place(const char *path, char **ret_path)
{
    struct stat facts;
    const bool exists = lstat(path, &facts) == 0;
    if (exists && S_ISLNK(facts.st_mode)) {
        if (stat(path, &facts) != 0)
            return FP_ERR_OPEN;
        *ret_path = realpath(path, NULL);
        if (*ret_path == NULL)
            return errno == ENOMEM ? FP_ERR_MEMORY : FP_ERR_OPEN;
    } else {
        *ret_path = strdup(path);
        if (*ret_path == NULL)
            return FP_ERR_MEMORY;
    }
    if (!exists || S_ISREG(facts.st_mode))
        return FP_OK;
    free(*ret_path);
    *ret_path = NULL;
    return FP_ERR_FOREIGN;
}

bool fp_place_take(const char *temporary, const char *path, bool overwrite)
{
    if (overwrite)
        return rename(temporary, path) == 0;
    if (renameat2(AT_FDCWD, temporary, AT_FDCWD, path, RENAME_NOREPLACE) == 0)
        return true;
    if ((errno != EINVAL && errno != ENOSYS) || link(temporary, path) != 0)
        return false;
    (void)unlink(temporary); /* the file stands under its name; a left link does no harm */
    return true;
}
