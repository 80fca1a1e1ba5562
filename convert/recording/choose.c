/* choose.c - the choice of a recording's processes, and how they belong together. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "convert/recording/recording.h"
#include "footprint/base/words.h"

/* ---- groups of processes ----------------------------------------------------------------------------- */

#define OTHERS_SHARE 100 /* the others of a group count from this part of its calls on */

/* The part of a recording that is looked at. */
struct view {
    const struct conv_survey *survey;
    size_t from; /* the first process that counts */
    bool salvage;
};

uint64_t conv_calls_of(const struct conv_process *process)
{
    return conv_add_saturating(process->events, fp_loss_sum(process->lost));
}

static struct conv_choice choice_of_one(struct conv_process *process)
{
    return (struct conv_choice){.members = {process}, .count = 1, .lead = process};
}

static bool is_usable(const struct view *view, size_t number)
{
    const struct conv_process *process = &view->survey->processes[number];
    return !process->absent && !process->removed && !(view->salvage && process->missing) &&
           conv_calls_of(process) > 0;
}

static bool is_named(const struct view *view, size_t number, const char *name)
{
    return is_usable(view, number) && strcmp(view->survey->processes[number].name, name) == 0;
}

/* It executed another program: of a worker, nothing but the way there. */
static bool went_on(const struct conv_process *process)
{
    return process->ended != NULL && strcmp(process->ended, "exec") == 0;
}

/* ---- the members of a name -------------------------------------------------------------------- */

static struct conv_process *least_of(const struct conv_choice *choice, size_t *ret_at)
{
    size_t at = 0;
    for (size_t i = 1; i < choice->count; i++)
        if (conv_calls_of(choice->members[i]) <= conv_calls_of(choice->members[at]))
            at = i;
    *ret_at = at;
    return choice->members[at];
}

/* The members with most calls stay if there are more than the maximum; the order of the list does, too. */
static void add_member(struct conv_choice *choice, struct conv_process *process)
{
    size_t at = choice->count;
    if (choice->count == CONV_MEMBERS_MAX) {
        const struct conv_process *least = least_of(choice, &at);
        choice->left_out++;
        if (conv_calls_of(process) <= conv_calls_of(least))
            return;
        memmove(&choice->members[at], &choice->members[at + 1],
                (choice->count - at - 1) * sizeof choice->members[0]);
        choice->count--;
    }
    choice->members[choice->count++] = process;
}

static void take_named(const struct view *view, const char *name, struct conv_choice *ret_choice)
{
    const struct conv_survey *survey = view->survey;
    bool all_went_on = true;
    *ret_choice = (struct conv_choice){0};
    for (size_t i = view->from; i < survey->process_count; i++)
        if (is_named(view, i, name) && !went_on(&survey->processes[i]))
            all_went_on = false;
    for (size_t i = view->from; i < survey->process_count; i++)
        if (is_named(view, i, name) && (all_went_on || !went_on(&survey->processes[i])))
            add_member(ret_choice, &survey->processes[i]);
    for (size_t i = 0; i < ret_choice->count; i++)
        if (ret_choice->lead == NULL ||
            conv_calls_of(ret_choice->members[i]) > conv_calls_of(ret_choice->lead))
            ret_choice->lead = ret_choice->members[i];
}

void conv_group_named(const struct conv_survey *survey, const char *name, bool salvage,
                      struct conv_choice *ret_choice)
{
    const struct view view = {.survey = survey, .salvage = salvage};
    take_named(&view, name, ret_choice);
}

/* ---- the rule --------------------------------------------------------------------------------- */

/* The last image of a process. False: it is not in the list. */
static bool find_last(const struct conv_survey *survey, uint32_t process_id, size_t *ret_number)
{
    size_t number = survey->process_count;
    while (number > 0 && survey->processes[number - 1].process_id != process_id)
        number--;
    *ret_number = number - 1;
    return number > 0;
}

/* The last image of the command's process; where that is not known or was not recorded, the first process's. */
static size_t own_of(const struct conv_survey *survey)
{
    size_t own;
    if (survey->command_pid == 0 || !find_last(survey, survey->command_pid, &own))
        (void)find_last(survey, survey->processes[0].process_id, &own); /* it is there */
    return own;
}

static uint64_t calls_of_name(const struct view *view, const char *name)
{
    uint64_t calls = 0;
    for (size_t i = view->from; i < view->survey->process_count; i++)
        if (name == NULL ? is_usable(view, i) : is_named(view, i, name))
            calls = conv_add_saturating(calls, conv_calls_of(&view->survey->processes[i]));
    return calls;
}

/* Calls of the processes that own forked, and that stayed what it is. */
static uint64_t calls_of_workers(const struct view *view, const struct conv_process *own)
{
    uint64_t calls = 0;
    for (size_t i = view->from; i < view->survey->process_count; i++) {
        const struct conv_process *process = &view->survey->processes[i];
        if (process->process_id != own->process_id && is_named(view, i, own->name) && !went_on(process))
            calls = conv_add_saturating(calls, conv_calls_of(process));
    }
    return calls;
}

static int by_name(const void *a, const void *b)
{
    const struct conv_process *one = *(const struct conv_process *const *)a,
                              *other = *(const struct conv_process *const *)b;
    const int order = strcmp(one->name, other->name);
    return order != 0 ? order : one < other ? -1 : one > other; /* both are of the list */
}

/* The name with most calls, of equal ones the first; NULL: there is none, or no memory to find it. */
static const char *busiest_name(const struct view *view)
{
    const struct conv_process **sorted = malloc(view->survey->process_count * sizeof *sorted);
    const char *busiest = NULL;
    size_t count = 0;
    uint64_t calls = 0, most = 0;
    if (sorted == NULL)
        return NULL;
    for (size_t i = view->from; i < view->survey->process_count; i++)
        if (is_usable(view, i))
            sorted[count++] = &view->survey->processes[i];
    qsort(sorted, count, sizeof *sorted, by_name);
    for (size_t i = 0; i < count; i++) {
        calls = i > 0 && strcmp(sorted[i]->name, sorted[i - 1]->name) == 0 ? calls : 0;
        calls = conv_add_saturating(calls, conv_calls_of(sorted[i]));
        if (calls <= most)
            continue;
        most = calls;
        busiest = sorted[i]->name;
    }
    free(sorted);
    return busiest;
}

static bool others_count(const struct conv_choice *choice)
{
    uint64_t calls = 0;
    for (size_t i = 0; i < choice->count; i++)
        calls = conv_add_saturating(calls, conv_calls_of(choice->members[i]));
    return calls - conv_calls_of(choice->lead) >= calls / OTHERS_SHARE;
}

void conv_group_default(const struct conv_survey *survey, bool salvage, struct conv_choice *ret_choice)
{
    struct view view = {.survey = survey, .salvage = salvage};
    *ret_choice = (struct conv_choice){0};
    if (survey->process_count == 0)
        return;
    const size_t number = own_of(survey);
    struct conv_process *own = &survey->processes[number];
    /* Only the list of a finished recording is in the order in which processes began. */
    if (survey->recording_state == CONV_RECORDING_FINISHED)
        view.from = number;
    if (calls_of_name(&view, NULL) == 0)
        view.from = 0; /* own cannot be converted, and nothing comes behind it */
    const uint64_t all = calls_of_name(&view, NULL), workers = calls_of_workers(&view, own);
    const uint64_t calls = is_usable(&view, number) ? conv_calls_of(own) : 0;
    const uint64_t both = conv_add_saturating(calls, workers);
    const bool is_own = calls > 0 && both >= all - both;
    const char *name = is_own ? own->name : busiest_name(&view);
    if (name != NULL)
        take_named(&view, name, ret_choice);
    if (ret_choice->count > 1 && !others_count(ret_choice))
        *ret_choice = choice_of_one(ret_choice->lead);
}

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
    ret_text[0] = '\0';
    for (size_t i = 0; i < survey->process_count && i < NAMED_MOST; i++) {
        const struct conv_process *process = &survey->processes[i];
        fp_text_more(ret_text, size, ",", " %u%s%.30s", process->process_id,
                     process->name[0] != '\0' ? " " : "", process->name);
    }
    if (survey->process_count > NAMED_MOST)
        fp_text_more(ret_text, size, "", " and %zu more ('mallab info' lists them)",
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

/* The process to tell of where no member of a group can be taken. */
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
        choice = choice_of_one(best);
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
