/* interrupt.c - see interrupt.h. */
#include "cli/base/interrupt.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/cli.h"
#include "cli/base/say.h"
#include "footprint/base/signals.h"
#include "footprint/base/support.h"

/* ---- temporary files ------------------------------------------------------------------------ */

static char *directory;
static pid_t maker; /* a child must not remove what its parent still needs */

#define DEPTH_MOST 64

/* By descriptors, and through no link: a part of it may be another user's, who exchanges what we are about to enter. */
static void remove_below(int parent_fd, const char *name, unsigned depth)
{
    if (unlinkat(parent_fd, name, 0) == 0 || depth == DEPTH_MOST)
        return;
    const int fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
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

const char *cli_temporary_directory(const struct cli_verb *verb)
{
    const char *parent = getenv("TMPDIR");
    if (directory != NULL)
        return directory;
    if (parent == NULL || *parent != '/')
        parent = "/tmp";
    char *path = res_printf("%s/mallab-XXXXXX", parent);
    if (mkdtemp(path) == NULL) {
        cli_say(verb, "cannot make a temporary directory in '%s': %s; set TMPDIR to one that can be written",
                parent, strerror(errno));
        free(path);
        return NULL;
    }
    directory = path;
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
