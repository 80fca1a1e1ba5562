/* stops.c - signals that end an experiment. */
#include "cli/base/stops.h"

#include <stdio.h>

#include "cli/base/cli.h"
#include "footprint/base/signals.h"

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
    cli_temporary_remove();
    fp_end_by_signal(number);
}
