/* interrupt.c - signals noted, temporary directories. */
#include "cli/base/cli.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "footprint/base/process.h"

/* ---- temporary files ------------------------------------------------------------------------ */

/* Nobody else's directory is called so: those of who was killed are found by the name. */
#define NAME_BEGIN "mallab-scratch."
#define NAME_BYTES (sizeof NAME_BEGIN - 1 + 6)
#define DEPTH_MOST 64
#define TRIES      16

static char *directory;
static pid_t maker; /* a child must not remove what its parent still needs */

static int open_below(int parent_fd, const char *name)
{
    return openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Removes by descriptors, and through no link: a part of it may be another user's, who exchanges what we are about to enter. */
static void remove_below(int parent_fd, const char *name, unsigned depth)
{
    if (unlinkat(parent_fd, name, 0) == 0 || depth == DEPTH_MOST)
        return;
    const int fd = open_below(parent_fd, name);
    DIR *entries = fd >= 0 ? fdopendir(fd) : NULL;
    const struct dirent *entry;
    while (entries != NULL && (entry = readdir(entries)) != NULL)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            remove_below(fd, entry->d_name, depth + 1);
    if (entries != NULL)
        (void)closedir(entries); /* and fd */
    else if (fd >= 0)
        (void)close(fd);
    (void)unlinkat(parent_fd, name, AT_REMOVEDIR); /* what cannot be removed stays */
}

static void remove_temporary(void)
{
    if (directory != NULL && getpid() == maker)
        remove_below(AT_FDCWD, directory, 0);
    free(directory);
    directory = NULL;
}

/* Whoever works in one of ours holds a lock on it, which no death leaves behind: where there is none, it was left by SIGKILL. */
static void remove_left(const char *parent)
{
    DIR *entries = opendir(parent);
    const struct dirent *entry;
    struct stat facts;
    while (entries != NULL && (entry = readdir(entries)) != NULL) {
        if (strncmp(entry->d_name, NAME_BEGIN, sizeof NAME_BEGIN - 1) != 0 ||
            strlen(entry->d_name) != NAME_BYTES)
            continue;
        const int fd = open_below(dirfd(entries), entry->d_name);
        if (fd < 0)
            continue;
        if (fstat(fd, &facts) == 0 && facts.st_uid == geteuid() && flock(fd, LOCK_EX | LOCK_NB) == 0)
            remove_below(dirfd(entries), entry->d_name, 0);
        (void)close(fd); /* and the lock */
    }
    if (entries != NULL)
        (void)closedir(entries); /* only read */
}

/* The lock is ours as long as we live. False: another start took the directory for one that was left. */
static bool hold(const char *path)
{
    struct stat facts;
    const int fd = open_below(AT_FDCWD, path);
    if (fd >= 0)
        (void)flock(fd, LOCK_EX); /* where there are no locks, nobody gets one and removes it */
    return fd >= 0 && fstat(fd, &facts) == 0 && facts.st_nlink > 0;
}

const char *cli_temporary_parent(void)
{
    const char *parent = getenv("TMPDIR");
    return parent != NULL && *parent == '/' ? parent : "/tmp";
}

const char *cli_temporary_directory(const struct cli_verb *verb)
{
    const char *parent = cli_temporary_parent();
    if (directory != NULL)
        return directory;
    remove_left(parent);
    for (unsigned i = 0; directory == NULL && i < TRIES; i++) {
        char *path = res_printf("%s/" NAME_BEGIN "XXXXXX", parent);
        if (mkdtemp(path) == NULL) {
            cli_say(verb,
                    "cannot make a temporary directory in '%s': %s; set TMPDIR to one that can be written",
                    parent, strerror(errno));
            free(path);
            return NULL;
        }
        if (hold(path))
            directory = path;
        else
            free(path);
    }
    maker = getpid();
    atexit(remove_temporary);
    return directory;
}

/* ---- signals --------------------------------------------------------------------------------- */

volatile sig_atomic_t cli_stopped_by;

static void on_stop(int signal_number)
{
    cli_stopped_by = signal_number;
}

void cli_stops_take(void)
{
    static const int NUMBERS[] = {FP_ENDING_SIGNALS};
    const struct sigaction action = {.sa_handler = on_stop};
    fp_signals_take(NUMBERS, FP_ENDING_COUNT, &action, NULL);
}

void cli_stops_end(void)
{
    const int number = (int)cli_stopped_by;
    if (number == 0)
        return;
    fflush(stdout);
    remove_temporary();
    fp_end_by_signal(number);
}
