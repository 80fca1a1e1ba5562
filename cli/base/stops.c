/* stops.c - signals that end an experiment. */
#include "cli/base/stops.h"

#include <stddef.h>
#include <stdio.h>

#include "cli/base/cli.h"

volatile sig_atomic_t cli_stopped_by;

static void on_stop(int signal_number)
{
    cli_stopped_by = signal_number;
}

void cli_stops_take(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    const struct sigaction action = {.sa_handler = on_stop};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        struct sigaction before;
        sigaction(numbers[i], NULL, &before);
        if (before.sa_handler != SIG_IGN)
            sigaction(numbers[i], &action, NULL);
    }
}

void cli_stops_end(void)
{
    const int number = (int)cli_stopped_by;
    if (number == 0)
        return;
    fflush(stdout);
    cli_temporary_remove();
    signal(number, SIG_DFL);
    raise(number);
}
