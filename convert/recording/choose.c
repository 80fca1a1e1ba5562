/* choose.c - which processes of a recording are meant. */
#include "convert/recording/choose.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "convert/recording/recording_json.h"
#include "footprint/base/part_name.h"
#include "footprint/base/words.h"

#define NAMED_MOST 6u /* in one message */

bool conv_process_is_file(const struct conv_process *process, const char *name)
{
    char stem[CONV_STEM_BYTES], other[CONV_STEM_BYTES];
    uint32_t window;
    if (strcmp(process->file, name) == 0)
        return true;
    if (!fp_part_name(process->file, CONV_STEM_BYTES, stem, &window))
        return false;
    return strcmp(stem, name) == 0 || (window != 0 && fp_part_name(name, CONV_STEM_BYTES, other, &window) &&
                                       window != 0 && strcmp(stem, other) == 0);
}

/* ---- messages ------------------------------------------------------------------------------- */

/* " 4711 nginx, 4712 nginx", and how many more. */
static void list_processes(const struct conv_survey *survey, char *ret_text, size_t size)
{
    size_t used = 0;
    ret_text[0] = '\0';
    for (size_t i = 0; i < survey->process_count && i < NAMED_MOST && used < size; i++) {
        const struct conv_process *process = &survey->processes[i];
        const char *name = process->name != NULL ? process->name : ""; /* traces have none */
        used += (size_t)snprintf(ret_text + used, size - used, "%s %u%s%.30s", i > 0 ? "," : "",
                                 process->process_id, name[0] != '\0' ? " " : "", name);
    }
    if (survey->process_count > NAMED_MOST && used < size)
        snprintf(ret_text + used, size - used, " and %zu more ('mallab info' lists them)",
                 survey->process_count - NAMED_MOST);
}

static enum fp_status fail_missing(const char *directory, const struct conv_process *process,
                                   const char *remedy, struct conv_error *error)
{
    char path[2 * CONV_PATH_BYTES];
    snprintf(path, sizeof path, "%s/%s", directory, process->file);
    return conv_fail(error, path, FP_ERR_OPEN, 0, 0, "is missing, and recording.json lists it: %s", remedy);
}

/* Nothing is wrong with the recording, there is only nothing to convert. */
static enum fp_status fail_removed(const char *directory, const struct conv_process *process,
                                   struct conv_error *error)
{
    return conv_fail(error, directory, FP_ERR_READ, 0, 0,
                     "holds nothing of process %u (%.60s): its calls were in windows that are removed",
                     process->process_id, process->name);
}

/* ---- one, or a group ------------------------------------------------------------------------ */

static bool is_asked_for(const struct conv_process *process, const struct conv_options *options)
{
    return options->process_file != NULL
               ? conv_process_is_file(process, options->process_file)
               : options->process_id == 0 || process->process_id == options->process_id;
}

/* A footprint goes before a program of the same name. */
static bool names_footprint(const struct conv_survey *survey, const char *name)
{
    for (size_t i = 0; i < survey->process_count; i++)
        if (conv_process_is_file(&survey->processes[i], name))
            return true;
    return false;
}

static bool is_better(const struct conv_process *process, const struct conv_process *than, bool salvage)
{
    if (than == NULL)
        return true;
    if (process->removed != than->removed)
        return !process->removed;
    if (process->absent != than->absent)
        return !process->absent; /* nothing of it can be converted: conv_choice_judge tells */
    if (salvage && process->missing != than->missing)
        return !process->missing;
    return conv_calls_of(process) > conv_calls_of(than);
}

/* Where no member of a group can be taken: one that at least can be told of. */
static struct conv_process *best_of(const struct conv_options *options, struct conv_survey *survey)
{
    struct conv_process *best = NULL;
    for (size_t i = 0; i < survey->process_count; i++) {
        struct conv_process *process = &survey->processes[i];
        const bool meant = is_asked_for(process, options) ||
                           (options->process_file != NULL &&
                            strcmp(process->name, options->process_file) == 0);
        if (meant && is_better(process, best, options->salvage))
            best = process;
    }
    return best;
}

static enum fp_status fail_none(const char *directory, const struct conv_options *options,
                                const struct conv_survey *survey, struct conv_error *error)
{
    char names[200];
    list_processes(survey, names, sizeof names);
    if (options->process_file != NULL)
        return conv_fail(error, directory, FP_ERR_ARGUMENT, 0, 0,
                         "holds no footprint and no program '%.60s', only those of%s", options->process_file,
                         names);
    return conv_fail(error, directory, FP_ERR_ARGUMENT, 0, 0, "holds no process %u, only%s",
                     options->process_id, names);
}

enum fp_status conv_recording_choose(const char *directory, const struct conv_options *options,
                                     struct conv_survey *survey, struct conv_choice *ret_choice,
                                     struct conv_error *error)
{
    const bool asked = conv_process_asked(options);
    struct conv_choice choice = {0};
    if (!asked)
        conv_group_default(survey, options->salvage, &choice);
    else if (options->process_file != NULL && !names_footprint(survey, options->process_file))
        conv_group_named(survey, options->process_file, options->salvage, &choice);
    if (choice.count == 0) {
        struct conv_process *best = best_of(options, survey);
        if (best == NULL)
            return fail_none(directory, options, survey, error);
        choice = conv_choice_one(best);
    }
    for (size_t i = 0; i < choice.count; i++) {
        if (choice.members[i]->missing)
            return fail_missing(directory, choice.members[i],
                                !asked && !options->salvage
                                    ? "copy the recording again; --salvage takes another process"
                                    : "copy the recording again, or choose another process",
                                error);
        if (choice.members[i]->removed)
            return fail_removed(directory, choice.members[i], error);
    }
    *ret_choice = choice;
    return FP_OK;
}

void conv_choice_judge(const struct conv_options *options, struct conv_survey *survey)
{
    const struct conv_process *chosen = NULL, *busier = NULL;
    char digits[FP_TEXT_BYTES];
    if (conv_process_asked(options))
        return;
    for (size_t i = 0; i < survey->process_count; i++)
        if (survey->processes[i].chosen)
            chosen = &survey->processes[i];
    for (size_t i = 0; chosen != NULL && i < survey->process_count; i++) {
        const struct conv_process *other = &survey->processes[i];
        if (other->absent && conv_calls_of(other) > conv_calls_of(busier != NULL ? busier : chosen))
            busier = other;
    }
    if (busier != NULL)
        conv_incomplete(survey,
                        "process %u (%.60s) made more calls than this one, and all %s of them were lost: no "
                        "footprint of it could be written",
                        busier->process_id, busier->name, fp_text_grouped(conv_calls_of(busier), digits));
}

/* ---- several -------------------------------------------------------------------------------- */

enum fp_status conv_recording_choose_all(const char *directory, struct conv_survey *survey,
                                         struct conv_error *error)
{
    const struct conv_process *removed = NULL;
    bool met = false;
    for (size_t i = 0; i < survey->process_count; i++) {
        struct conv_process *process = &survey->processes[i];
        if (process->removed)
            removed = process;
        else if (!process->absent)
            process->chosen = met = true;
    }
    if (met)
        return FP_OK;
    return removed != NULL
               ? fail_removed(directory, removed, error)
               : conv_fail(error, directory, FP_ERR_READ, 0, 0, "holds no process of which calls were kept");
}

enum fp_status conv_recording_leave_missing(const char *directory, const struct conv_options *options,
                                            struct conv_survey *survey, struct conv_error *error)
{
    const struct conv_process *first = NULL;
    size_t missing = 0, left = 0;
    for (size_t i = 0; i < survey->process_count; i++) {
        struct conv_process *process = &survey->processes[i];
        if (!process->chosen)
            continue;
        if (!process->missing) {
            left++;
            continue;
        }
        if (!options->salvage)
            return fail_missing(directory, process,
                                "copy the recording again, or leave it out with --salvage", error);
        process->chosen = false;
        if (missing++ == 0)
            first = process;
    }
    if (missing == 0)
        return FP_OK;
    if (left == 0)
        return fail_missing(directory, first, "as are all others that are meant; copy the recording again",
                            error);
    if (missing == 1)
        conv_incomplete(survey, "left out: footprint '%.100s' is missing", first->file);
    else
        conv_incomplete(survey, "left out: %zu footprints are missing, '%.100s' the first of them", missing,
                        first->file);
    return FP_OK;
}
