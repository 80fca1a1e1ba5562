/* interrupt.c - see interrupt.h. */
#include "cli/base/interrupt.h"

#include <errno.h>
#include <ftw.h>
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

static int remove_entry(const char *path, const struct stat *facts, int kind, struct FTW *place)
{
    (void)remove(path); /* what cannot be removed stays, in the user's temporary directory */
    return 0;
}

void cli_tree_remove(const char *path)
{
    nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static void remove_temporary(void)
{
    if (directory != NULL && getpid() == maker)
        cli_tree_remove(directory);
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
