/* record_report.c - what `mallab record` says of a recording when its command has ended. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "cli/base/cli.h"
#include "footprint/base/words.h"
#include "record/control.h"
#include "record/recorder.h"
#include "record/recover.h"
#include "results/measure/base/support.h"

void cli_record_warn_of_nothing(const struct cli_verb *verb, const char *directory,
                                const struct cli_totals *totals, bool others_were_not)
{
    if (totals->others > 0 && totals->processes == 0)
        cli_say(verb, "nothing was recorded: no program goes by a name that --only asks for; seen: %s",
                totals->other_names);
    else if (!totals->known)
        cli_say(verb, "nothing can be said of the recording: '%s/recording.json' cannot be read", directory);
    else if (totals->processes == 0 && others_were_not)
        cli_say(verb, "nothing was recorded: no program that ran could be");
    else if (totals->processes == 0)
        cli_say(verb,
                "nothing was recorded: no process loaded the recorder. A wrapper that clears the "
                "environment (sudo, timeout, env -i) or a static or setuid program stands before it: put "
                "'mallab record' behind the wrapper");
    else if (totals->lost > 0)
        cli_say(verb, "nothing was recorded: all calls were lost");
    else if (totals->events_removed > 0)
        cli_say(verb, "no call was made in the windows that are kept");
    else if (others_were_not)
        cli_say(verb,
                "nothing was recorded: no call was seen of the programs that are recorded, and others could "
                "not be");
    else if (totals->pauses > 0)
        cli_say(verb, "nothing was recorded: the recording was paused, and no call made outside its "
                      "pauses");
    else
        cli_say(verb,
                "nothing was recorded: the program made no call, or brings an allocator of its own that "
                "is not called through malloc (PYTHONMALLOC=malloc makes Python call it)");
}

/* Its death is none of the command's doing, but the recording ends there. */
static void report_collector(const struct cli_recorded *recorded, const struct cli_totals *totals,
                             const char *shown)
{
    const int status = recorded->collector_status;
    char events[32], processes[32];
    char *how = WIFSIGNALED(status) ? res_printf("signal %d", WTERMSIG(status))
                                    : res_printf("exit code %d", WEXITSTATUS(status));
    if (totals->events > 0)
        cli_say(&CLI_RECORD,
                "the collector ended early (%s): what was not written by then is lost; '%s' holds about %s "
                "events "
                "of %s process%s: go on with 'mallab info %s' or 'mallab convert %s'",
                how, shown, fp_text_grouped(totals->events, events),
                fp_text_grouped(totals->processes, processes), totals->processes == 1 ? "" : "es", shown,
                shown);
    else
        cli_say(&CLI_RECORD,
                "the collector ended early (%s), before it had written any event to '%s': record again", how,
                shown);
    free(how);
}

/* It was told when it happened; here it stands with what is lost by it. */
static bool stop_lost_calls(const struct cli_totals *totals)
{
    return totals->lost > 0 &&
           (strcmp(totals->stopped_by, "disk_full") == 0 || strcmp(totals->stopped_by, "size_limit") == 0);
}

static void report_losses(const struct cli_totals *totals)
{
    char since[32];
    if (!stop_lost_calls(totals) || totals->events == 0)
        cli_say(&CLI_RECORD, "the recording is not whole, calls were lost: %s", totals->lost_by_cause);
    else
        cli_say(&CLI_RECORD,
                "the recording is not whole, calls were lost: %s; what was written by %s is kept, and "
                "converts; for more %s",
                totals->lost_by_cause, res_text_duration((double)totals->stopped_ns, since),
                strcmp(totals->stopped_by, "disk_full") == 0
                    ? "make room on the disk, or record onto another with -o"
                    : "raise --max-size");
}

static void report_choices(const struct cli_totals *totals)
{
    char others[32], events[32], since[32];
    if (totals->stopped_by[0] != '\0' && !stop_lost_calls(totals))
        cli_say(&CLI_RECORD, "recording stopped after %s, %s",
                res_text_duration((double)totals->stopped_ns, since),
                cli_control_stop_words(totals->stopped_by));
    if (totals->others > 0 && totals->processes > 0)
        cli_say(&CLI_RECORD, "%s process%s not asked for (--only): %s",
                fp_text_grouped(totals->others, others), totals->others == 1 ? " was" : "es were",
                totals->other_names);
    if (totals->pauses > 0)
        cli_say(&CLI_RECORD, "paused %llu time%s, %s in all: what was called then is not in it",
                (unsigned long long)totals->pauses, totals->pauses == 1 ? "" : "s",
                res_text_duration((double)totals->paused_ns, since));
    if (totals->windows_removed > 0)
        cli_say(&CLI_RECORD, "%llu windows, of which the last %llu are kept; %s events were in the others",
                (unsigned long long)totals->windows,
                (unsigned long long)(totals->windows - totals->windows_removed),
                fp_text_grouped(totals->events_removed, events));
    else if (totals->windows > 1)
        cli_say(&CLI_RECORD, "%llu windows", (unsigned long long)totals->windows);
}

void cli_record_report(const struct cli_recorded *recorded, bool quiet)
{
    const char *shown = recorded->shown;
    char events[32], processes[32], lost[32];
    const bool recovered = recorded->collector_status != 0 && cli_recover(&CLI_RECORD, recorded->directory);
    const struct cli_totals totals = cli_record_totals(recorded->directory);
    if (recorded->still_running != 0) {
        cli_say(
            &CLI_RECORD,
            "process %d and perhaps more still run and are recorded by mallab-collect (process %d) in the "
            "background; 'mallab info %s' tells what is written so far, and when they have ended",
            (int)recorded->still_running, (int)recorded->collector, shown);
        return;
    }
    if (recorded->collector_status != 0 && !recovered) {
        report_collector(recorded, &totals, shown);
        return;
    }
    if (!quiet && totals.known)
        cli_say(&CLI_RECORD, "%s events of %s process%s, %.2f bytes each, written to %s; lost %s",
                fp_text_grouped(totals.events, events), fp_text_grouped(totals.processes, processes),
                totals.processes == 1 ? "" : "es", totals.bytes_per_event, shown,
                fp_text_grouped(totals.lost, lost));
    if (!quiet)
        report_choices(&totals);
    if (totals.lost > 0)
        report_losses(&totals);
    if (totals.unattached > 0)
        cli_say(&CLI_RECORD, "%s process%s not recorded: more than can be recorded at one time",
                fp_text_grouped(totals.unattached, events), totals.unattached == 1 ? " was" : "es were");
    if (totals.events == 0)
        cli_record_warn_of_nothing(&CLI_RECORD, recorded->directory, &totals,
                                   recorded->watch.news.unrecorded_count > 0);
    else if (!quiet && totals.silent[0] != '\0')
        cli_say(&CLI_RECORD,
                "no call was seen of %s: such a program makes none, or brings an allocator of its own that "
                "is not "
                "called through malloc",
                totals.silent);
}
