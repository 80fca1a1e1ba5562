/* describe_brief.c - what and when, how many calls, how much memory, what the whole process used, and whether it is complete. */
#include "cli/describe/describe_brief.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/describe/describe.h"
#include "cli/describe/describe_lists.h"
#include "cli/describe/describe_usage.h"
#include "convert/import/formats.h"
#include "footprint/base/support.h"
#include "footprint/base/words.h"

static void line(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void line(const char *name, const char *format, ...)
{
    va_list list;
    printf("%-16s", name);
    va_start(list, format);
    vprintf(format, list);
    va_end(list);
    putchar('\n');
}

static void print_file(const struct conv_survey *survey, const char *path)
{
    char *file = res_text_plain(path), *program = res_text_plain(survey->program);
    char *processes;
    if (cli_processes_of(survey) != 1)
        processes = res_printf(" and its tree, %s processes", FP_GROUPED(cli_processes_of(survey)));
    else if (survey->process_id != 0)
        processes = res_printf(", process %u", survey->process_id);
    else
        processes = res_strdup("");
    line("file", "%s: %s%s%s%s", file, conv_kind_name(survey->kind), *program != '\0' ? " of " : "", program,
         processes);
    free(file);
    free(program);
    free(processes);
}

static void print_when(const struct conv_survey *survey)
{
    const time_t seconds = (time_t)(survey->start_unix_ns / 1000000000u);
    struct tm parts;
    char words[64] = "", span[32];
    if (survey->start_unix_ns != 0 && localtime_r(&seconds, &parts) != NULL)
        (void)strftime(words, sizeof words, "%Y-%m-%d %H:%M:%S %z", &parts); /* fits */
    if (survey->duration_ns > 0)
        line("recorded", "%s%s%s", words, words[0] != '\0' ? ", for " : "for ",
             res_text_duration((double)survey->duration_ns, span));
    else if (words[0] != '\0')
        line("recorded", "%s", words);
}

static void print_counts(const struct conv_survey *survey)
{
    const bool is_workload = survey->kind == CONV_KIND_WORKLOAD;
    const uint64_t calls = is_workload ? survey->ops : survey->events;
    line("calls", "%s%s by %s thread%s", FP_GROUPED(calls), is_workload ? " ops" : "",
         FP_GROUPED(survey->threads), survey->threads == 1 ? "" : "s");
    line("memory", "%s requested; at most %s live, %s object%s%s", FP_BYTES(survey->requested_bytes),
         FP_BYTES(survey->live_bytes_peak), FP_GROUPED(survey->live_objects_peak),
         survey->live_objects_peak == 1 ? "" : "s",
         cli_processes_of(survey) > 1 ? " (sums of each process' peak)" : "");
}

static void print_usage(const struct conv_survey *survey)
{
    char *words = cli_usage_words(survey->usage, false);
    if (*words != '\0')
        line(cli_processes_of(survey) > 1 ? "processes" : "process", "%s%s", words,
             cli_processes_of(survey) > 1 ? " (sums)" : "");
    free(words);
}

static void print_complete(const struct conv_survey *survey)
{
    char *why = res_text_plain(survey->incomplete_why);
    line("complete", "%s%s", survey->complete ? "yes, nothing lost" : "no: ", survey->complete ? "" : why);
    free(why);
}

static bool is_irregular(const struct conv_survey *survey)
{
    bool found = fp_loss_sum(survey->lost) > 0 || survey->lost_marks > 0;
    for (unsigned i = 0; i < CONV_IRREGULARITY_COUNT; i++)
        found = found || (survey->irregular[i] > 0 && i != CONV_PAUSES &&
                          (conv_irregularity_is_loss(i) || conv_irregularity_is_defect(i)));
    return found;
}

void cli_survey_print_brief(const struct conv_survey *survey, const char *path)
{
    print_file(survey, path);
    print_when(survey);
    print_counts(survey);
    print_usage(survey);
    print_complete(survey);
    cli_selection_print(&survey->selected);
    if (survey->stop_words != NULL)
        line("stopped", "%s", survey->stop_words);
    if (survey->lacks[0] != '\0')
        line("lacks", "%s", survey->lacks);
    if (survey->live != CONV_LIVE_KNOWN)
        line("live", "%s", cli_live_words(survey->live));
    if (is_irregular(survey) || !conv_survey_knows_losses(survey) ||
        survey->recording_state == CONV_RECORDING_GOING_ON)
        cli_losses_print(survey);
    cli_pauses_print(survey);
    cli_programs_print(survey);
}
