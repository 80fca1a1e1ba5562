/* places.c - where the other programs, the shim and the candidates are: in the build tree, or installed. */
#include "footprint/base/places.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "footprint/base/support.h"

/* The directory of this program, found once; without /proc by what the kernel was told to execute. NULL: neither tells,
 * and only the installed places count. */
static const char *own_directory(void)
{
    static char path[PATH_MAX];
    if (path[0] == '\0') {
        const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
        const char *told = (const char *)getauxval(AT_EXECFN);
        if (length > 0)
            path[length] = '\0';
        else if (told == NULL || realpath(told, path) == NULL)
            return NULL;
        char *slash = strrchr(path, '/');
        if (slash == NULL)
            return NULL;
        *slash = '\0';
    }
    return path;
}

const char *const *res_program_directories(void)
{
    static const char *directories[3];
    size_t count = 0;
    if (own_directory() != NULL)
        directories[count++] = own_directory();
    directories[count++] = MALLAB_LIBEXECDIR;
    directories[count] = NULL;
    return directories;
}

char *res_own_program(const char *name)
{
    return res_find_program(res_program_directories(), name);
}

char *res_own_library(const char *name)
{
    const char *const directories[] = {own_directory(), MALLAB_LIBDIR};
    for (size_t i = 0; i < sizeof directories / sizeof directories[0]; i++) {
        if (directories[i] == NULL)
            continue;
        char *path = res_path_join(directories[i], name);
        if (access(path, R_OK) == 0)
            return path;
        free(path);
    }
    return NULL;
}

char *res_allocators_directory(void)
{
    const char *named = getenv("MALLAB_ALLOCATORS");
    if (named != NULL && *named != '\0')
        return res_strdup(named);
    /* Installed, mallab-collect is in libexec; beside us it is only in a build tree. */
    char *beside = own_directory() != NULL ? res_path_join(own_directory(), "mallab-collect") : NULL;
    const bool in_build_tree = beside != NULL && access(beside, X_OK) == 0;
    free(beside);
    return res_path_join(in_build_tree ? MALLAB_SOURCE_DATADIR : MALLAB_DATADIR, "allocators");
}
