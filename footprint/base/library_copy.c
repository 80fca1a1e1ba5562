/* library_copy.c - make a copy of a library that all can read, find out who uses it, remove it. */
#include "footprint/base/library_copy.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "footprint/base/process.h"

#define PREFIX_BYTES 48

/* The first in which a file can be mapped to be executed: containers often forbid it in /dev/shm, systemd in /run. */
static const char *const PLACES[] = {"/dev/shm", "/run", "/tmp", "/var/tmp"};

/* ---- who can read ------------------------------------------------------------------------------- */

static bool modes_allow(const char *path, mode_t needed, char *ret_why, size_t size)
{
    struct stat facts;
    if (stat(path, &facts) != 0) {
        (void)snprintf(ret_why, size, "'%s' cannot be looked at: %s", path, strerror(errno));
        return false;
    }
    if ((facts.st_mode & needed) == needed)
        return true;
    (void)snprintf(ret_why, size, "'%s' is of mode %04o", path, (unsigned)facts.st_mode & 07777);
    return false;
}

bool fp_library_is_for_all(const char *path, char *ret_why, size_t size)
{
    char real[PATH_MAX];
    if (realpath(path, real) == NULL) {
        (void)snprintf(ret_why, size, "'%s' cannot be found: %s", path, strerror(errno));
        return false;
    }
    if (!modes_allow("/", S_IXOTH, ret_why, size))
        return false;
    for (char *slash = strchr(real + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (!modes_allow(real, S_IXOTH, ret_why, size))
            return false;
        *slash = '/';
    }
    return modes_allow(real, S_IROTH, ret_why, size);
}

/* ---- who uses it -------------------------------------------------------------------------------- */

static bool holds(const char *file, const char *text)
{
    const size_t length = strlen(text);
    char bytes[8192 + PATH_MAX];
    size_t kept = 0;
    bool found = false;
    const int fd = open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    ssize_t got = 1;
    while (fd >= 0 && !found && (got = read(fd, bytes + kept, sizeof bytes - kept)) > 0) {
        kept += (size_t)got;
        found = memmem(bytes, kept, text, length) != NULL;
        if (kept > length) { /* it may be cut in two */
            memmove(bytes, bytes + kept - length, length);
            kept = length;
        }
    }
    if (fd >= 0)
        (void)close(fd); /* only read from */
    return found;
}

/* A process uses it that has it mapped, or names it in its environment. Processes that we may not look at belong to
 * other users, and are not ours. */
static bool is_used(const char *directory)
{
    DIR *entries = opendir("/proc");
    const struct dirent *entry;
    bool used = entries == NULL; /* nobody can tell */
    while (entries != NULL && !used && (entry = readdir(entries)) != NULL) {
        char file[64];
        const int pid = atoi(entry->d_name); /* 0 for what is no process */
        if (pid <= 0)
            continue;
        (void)snprintf(file, sizeof file, "/proc/%d/maps", pid); /* fits */
        used = holds(file, directory);
        (void)snprintf(file, sizeof file, "/proc/%d/environ", pid); /* fits */
        used = used || holds(file, directory);
    }
    if (entries != NULL)
        (void)closedir(entries); /* only read */
    return used;
}

/* ---- removal ------------------------------------------------------------------------------------ */

static void prefix_of(char ret_prefix[PREFIX_BYTES])
{
    (void)snprintf(ret_prefix, PREFIX_BYTES, "mallab-library-%u-", (unsigned)geteuid()); /* fits */
}

/* Remove it by its descriptor, and only if its name, owner and mode are those of a directory that we made. It stays when
 * others put something into it. */
static void remove_unused(int directory)
{
    char link[64], path[PATH_MAX], prefix[PREFIX_BYTES];
    struct stat facts, named;
    const struct dirent *entry;
    DIR *entries;
    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", directory); /* fits */
    const ssize_t length = readlink(link, path, sizeof path - 1);
    if (length <= 0)
        return;
    path[length] = '\0';
    const char *slash = strrchr(path, '/');
    prefix_of(prefix);
    if (slash == NULL || strncmp(slash + 1, prefix, strlen(prefix)) != 0 || fstat(directory, &facts) != 0 ||
        facts.st_uid != geteuid() || (facts.st_mode & 022) != 0 || lstat(path, &named) != 0 ||
        named.st_ino != facts.st_ino || named.st_dev != facts.st_dev || is_used(path))
        return;
    const int copy = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    entries = copy >= 0 ? fdopendir(copy) : NULL;
    while (entries != NULL && (entry = readdir(entries)) != NULL)
        if (strncmp(entry->d_name, "libmallab", 9) == 0)
            (void)unlinkat(directory, entry->d_name, 0); /* else the directory stays, too */
    if (entries != NULL)
        (void)closedir(entries); /* only read */
    else if (copy >= 0)
        (void)close(copy);
    (void)rmdir(path); /* somebody else's by now, or not empty: it stays */
}

/* Remove copies of recordings whose processes were all killed. */
static void remove_left_over(const char *place)
{
    char prefix[PREFIX_BYTES];
    const struct dirent *entry;
    DIR *entries = opendir(place);
    prefix_of(prefix);
    while (entries != NULL && (entry = readdir(entries)) != NULL) {
        if (strncmp(entry->d_name, prefix, strlen(prefix)) != 0)
            continue;
        const int directory = openat(dirfd(entries), entry->d_name,
                                     O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (directory >= 0 && flock(directory, LOCK_EX | LOCK_NB) == 0) /* else somebody lives who has it */
            remove_unused(directory);
        if (directory >= 0)
            (void)close(directory);
    }
    if (entries != NULL)
        (void)closedir(entries); /* only read */
}

void fp_library_copy_end(int directory)
{
    if (directory < 0)
        return;
    remove_unused(directory);
    (void)close(directory); /* and the lock goes with the last who has it */
}

/* ---- the copy ------------------------------------------------------------------------------------ */

static bool copy_bytes(int from, int to)
{
    char bytes[65536];
    ssize_t got;
    while ((got = read(from, bytes, sizeof bytes)) > 0)
        if (!fp_write_all(to, bytes, (size_t)got))
            return false;
    return got == 0;
}

static bool can_be_mapped(int directory, const char *name)
{
    const int fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    void *area = fd >= 0 ? mmap(NULL, 1, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    if (fd >= 0)
        (void)close(fd); /* only read from */
    if (area == MAP_FAILED)
        return false;
    (void)munmap(area, 1); /* address space at worst */
    return true;
}

static bool fill(int directory, const char *from, const char *name)
{
    const int source = open(from, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    const int copy = openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    bool filled = source >= 0 && copy >= 0 && copy_bytes(source, copy) && fchmod(copy, 0444) == 0;
    if (source >= 0)
        (void)close(source); /* only read from */
    if (copy >= 0)
        filled = close(copy) == 0 && filled;
    return filled && can_be_mapped(directory, name);
}

/* Nobody else may put a directory of his own in its place: its parent is sticky, or only root's and ours to write. */
static bool is_safe(const char *place)
{
    struct stat facts;
    char why[PATH_MAX + 64];
    return stat(place, &facts) == 0 && S_ISDIR(facts.st_mode) && (facts.st_mode & S_IXOTH) != 0 &&
           (facts.st_uid == 0 || facts.st_uid == geteuid()) &&
           ((facts.st_mode & 022) == 0 || (facts.st_mode & S_ISVTX) != 0) &&
           fp_library_is_for_all(place, why, sizeof why);
}

static int copy_into(const char *place, const char *from, const char *name, char *ret_path, size_t size)
{
    char prefix[PREFIX_BYTES], path[PATH_MAX];
    struct stat facts;
    prefix_of(prefix);
    (void)snprintf(path, sizeof path, "%s/%sXXXXXX", place, prefix); /* fits */
    if (mkdtemp(path) == NULL)
        return -1;
    const int directory = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (directory >= 0 && fstat(directory, &facts) == 0 && facts.st_uid == geteuid() &&
        flock(directory, LOCK_EX | LOCK_NB) == 0 && fchmod(directory, 0755) == 0 &&
        fill(directory, from, name) && (size_t)snprintf(ret_path, size, "%s/%s", path, name) < size)
        return directory;
    if (directory >= 0) {
        (void)unlinkat(directory, name, 0); /* it may not be there */
        (void)close(directory);
    }
    (void)rmdir(path); /* empty, and ours */
    return -1;
}

int fp_library_copy_make(const char *path, char *ret_path, size_t size)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    int directory = -1;
    for (size_t i = 0; i < sizeof PLACES / sizeof PLACES[0]; i++)
        remove_left_over(PLACES[i]);
    for (size_t i = 0; directory < 0 && i < sizeof PLACES / sizeof PLACES[0]; i++)
        if (is_safe(PLACES[i]))
            directory = copy_into(PLACES[i], path, name, ret_path, size);
    return directory;
}
