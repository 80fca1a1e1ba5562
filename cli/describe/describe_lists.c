/* describe_lists.c - the parts of a recording: windows, programs and processes with what they used: as JSON, tables and words. */
#include "cli/describe/describe.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli/base/cli.h"
#include "footprint/base/words.h"
#include "record/recorder.h"

static bool is_known(uint64_t number)
{
    return number <= INT64_MAX;
}

static json_t *number(uint64_t value)
{
    return is_known(value) ? cli_json_number(value) : json_null();
}

/* ---- a list of the document as a table ------------------------------------------------------------ */

static char *moment_words(uint64_t unix_ns)
{
    const time_t seconds = (time_t)(unix_ns / 1000000000u);
    char words[32] = "-";
    struct tm parts;
    if (localtime_r(&seconds, &parts) != NULL)
        (void)strftime(words, sizeof words, "%m-%d %H:%M:%S", &parts); /* fits */
    return res_strdup(words);
}

static char *cell_of(const struct cli_column *column, const json_t *row)
{
    const json_t *value = json_object_get(row, column->key);
    const uint64_t whole = json_is_real(value) ? (uint64_t)json_real_value(value)
                                               : (uint64_t)json_integer_value(value);
    char span[32];
    if (column->how == CLI_SHOWN_WHERE_NOT)
        return res_strdup(json_is_false(value) ? column->heading : "");
    if (column->how == CLI_SHOWN_WHERE)
        return res_strdup(json_is_true(value) ? column->heading : "");
    if (column->how == CLI_SHOWN_TEXT)
        return res_strdup(json_is_string(value) ? json_string_value(value) : "-");
    if (!json_is_number(value))
        return res_strdup("-");
    switch (column->how) {
    case CLI_SHOWN_BYTES:
        return res_strdup(FP_BYTES((double)whole));
    case CLI_SHOWN_SPAN:
        return res_strdup(res_text_duration((double)whole, span));
    case CLI_SHOWN_MOMENT:
        return moment_words(whole);
    case CLI_SHOWN_ID:
        return res_printf("%llu", (unsigned long long)whole);
    default:
        return res_strdup(FP_GROUPED(whole));
    }
}

void cli_table_add(struct res_text *text, const struct cli_column *columns, const json_t *rows, size_t most)
{
    struct res_column shown[CLI_TABLE_COLUMNS] = {0};
    const struct res_style style = {0};
    struct res_grid grid;
    size_t count = 0, i;
    const json_t *row;
    for (; columns[count].heading != NULL; count++)
        shown[count] = (struct res_column){.heading = columns[count].heading,
                                           .right = columns[count].how >= CLI_SHOWN_ID,
                                           .least = columns[count].how > CLI_SHOWN_ID ? 8 : 0,
                                           .gap = count > 0 ? 2 : 0};
    shown[count - 1].open = true;
    res_grid_begin(&grid, shown, count);
    json_array_foreach(rows, i, row)
    {
        for (size_t k = 0; k < count && i < most; k++)
            res_grid_own(&grid, cell_of(&columns[k], row));
    }
    if (json_array_size(rows) > 0) {
        res_text_add(text, "\n", 1);
        res_grid_text(&grid, &style, text);
    }
    if (json_array_size(rows) > most)
        res_text_printf(text, "and %s more, see --json\n", FP_GROUPED(json_array_size(rows) - most));
    res_grid_release(&grid);
}

/* ---- what a process used: JSON --------------------------------------------------------------------------------------- */

static json_t *allocator_json(const struct fp_usage *usage)
{
    json_t *object = json_object();
    if (usage->runs_on == FP_RUNS_ON_UNKNOWN) {
        json_decref(object);
        return json_null();
    }
    cli_json_set(object, "name", (const char *)usage->allocator);
    cli_json_set(object, "version", (const char *)usage->version);
    cli_json_set(object, "how", fp_runs_on_name(usage->runs_on));
    cli_json_set(object, "library", (const char *)usage->library);
    return object;
}

json_t *cli_usage_end_json(const struct fp_usage *usage)
{
    json_t *object = json_object();
    cli_json_set(object, "how", fp_ended_name(usage->ended));
    cli_json_set(object, "code", number(usage->code));
    return object;
}

void cli_usage_json(json_t *object, const struct fp_usage *usage, const char *ended)
{
    struct fp_usage nothing;
    json_t *cpu = json_object(), *machine = json_object();
    fp_usage_init(&nothing);
    cli_json_set(object, ended, usage != NULL ? cli_usage_end_json(usage) : json_null());
    usage = usage != NULL ? usage : &nothing;
    cli_json_set(cpu, "user", number(usage->cpu_user_ns));
    cli_json_set(cpu, "system", number(usage->cpu_system_ns));
    cli_json_set(object, "cpu_ns", cpu);
    struct fp_usage copy = *usage;
    for (size_t i = 0; i < FP_USAGE_NUMBER_COUNT; i++) {
        const char *key = FP_USAGE_NUMBERS[i].key;
        const bool of_machine = FP_USAGE_NUMBERS[i].together == FP_OF_MACHINE;
        if (of_machine || strncmp(key, "rss_", 4) == 0 || strncmp(key, "faults_", 7) == 0 ||
            strcmp(key, "cpu_age_ns") == 0)
            cli_json_set(of_machine ? machine : object, key,
                         number(*fp_usage_at(&copy, &FP_USAGE_NUMBERS[i])));
    }
    cli_json_set(machine, "huge_pages", fp_huge_pages_name(copy.machine.huge_pages));
    cli_json_set(machine, "kernel", copy.machine.kernel[0] != '\0' ? copy.machine.kernel : NULL);
    cli_json_set(object, "machine_recorded", machine);
    cli_json_set(object, "rss_recorder_bytes", number(usage->recorder_bytes));
    cli_json_set(object, "rss_age_ns", number(usage->memory_age_ns));
    cli_json_set(object, "ran_ns", number(fp_usage_ran_ns(usage)));
    cli_json_set(object, "runs_on", allocator_json(usage));
}

json_t *cli_usage_series_json(const struct fp_usage *usage)
{
    json_t *array = json_array();
    for (uint32_t i = 0; usage != NULL && i < usage->point_count; i++) {
        const struct fp_usage_point *point = &usage->points[i];
        json_t *object = json_object();
        cli_json_set(object, "time_ns", point->time_ns);
        cli_json_set(object, "rss_bytes", point->rss_bytes);
        cli_json_set(object, "rss_anon_bytes", point->rss_anon_bytes);
        cli_json_set(object, "cpu_ns", point->cpu_ns);
        json_array_append_new(array, object);
    }
    return array;
}

/* ---- and words -------------------------------------------------------------------------------------- */

/* Takes over both. */
static char *joined(char *words, char *more)
{
    char *both = res_printf("%s%s%s", words, *words != '\0' && *more != '\0' ? ", " : "", more);
    free(words);
    free(more);
    return both;
}

static char *allocator_words(const struct fp_usage *usage)
{
    if (usage->runs_on == FP_RUNS_ON_UNKNOWN)
        return res_strdup("");
    char *name = res_text_plain(usage->allocator[0] != '\0' ? usage->allocator : "a malloc of its own");
    char *version = res_text_plain(usage->version);
    version[strcspn(version, "-")] = '\0'; /* jemalloc's has a commit behind it */
    char *words = res_printf("runs on %s%s%s (%s)", name, *version != '\0' ? " " : "", version,
                             fp_runs_on_name(usage->runs_on));
    free(name);
    free(version);
    return words;
}

static char *end_words(const struct fp_usage *usage)
{
    static const char *const WORDS[FP_ENDED_COUNT] = {"", "exit", "ended by signal", "ended by exec",
                                                      "went on when recording ended"};
    const bool has_code = usage->ended == FP_ENDED_EXIT || usage->ended == FP_ENDED_SIGNAL;
    return has_code && is_known(usage->code)
               ? res_printf("%s %llu", WORDS[usage->ended], (unsigned long long)usage->code)
               : res_strdup(WORDS[usage->ended]);
}

/* A process that was killed told nothing: then its figures are of a look before. */
static char *age_words(const struct fp_usage *usage)
{
    char cpu[32], memory[32];
    const bool old_cpu = is_known(usage->cpu_age_ns) && usage->cpu_age_ns > 0;
    const bool old_memory = is_known(usage->memory_age_ns) && usage->memory_age_ns > 0;
    char *words = res_strdup("");
    if (old_cpu)
        words = joined(words, res_printf("processor time of a look %s before the end",
                                         res_text_duration((double)usage->cpu_age_ns, cpu)));
    if (old_memory)
        words = joined(words, res_printf("memory of a look %s before the end",
                                         res_text_duration((double)usage->memory_age_ns, memory)));
    return words;
}

char *cli_usage_words(const struct fp_usage *usage, bool detailed)
{
    char time[32];
    if (usage == NULL)
        return res_strdup("");
    char *words = allocator_words(usage);
    const uint64_t cpu_ns = fp_usage_cpu_ns(usage);
    if (is_known(cpu_ns))
        words = joined(words, res_printf("CPU %s", res_text_duration((double)cpu_ns, time)));
    if (detailed && is_known(cpu_ns))
        words = joined(words, res_printf("of it %s in the kernel",
                                         res_text_duration((double)usage->cpu_system_ns, time)));
    if (detailed && is_known(usage->faults_minor))
        words = joined(words, res_printf("%s page faults", FP_GROUPED(usage->faults_minor)));
    if (is_known(usage->rss_peak_bytes))
        words = joined(words, res_printf("peak RSS %s", FP_BYTES((double)usage->rss_peak_bytes)));
    if (detailed && is_known(usage->rss_anon_peak_bytes))
        words = joined(words, res_printf("of it anonymous %s", FP_BYTES((double)usage->rss_anon_peak_bytes)));
    words = joined(words, end_words(usage));
    return detailed ? joined(words, age_words(usage)) : words;
}

/* ---- windows --------------------------------------------------------------------------------- */

static json_t *window_array(const struct conv_survey *survey)
{
    json_t *array = json_array();
    for (size_t i = 0; i < survey->window_list_count; i++) {
        const struct conv_window *window = &survey->window_list[i];
        json_t *object = json_object();
        cli_json_set(object, "window", window->number);
        cli_json_set(object, "begin_ns", window->begin_ns);
        cli_json_set(object, "begin_unix_ns",
                     survey->start_unix_ns > 0 ? cli_json_number(survey->start_unix_ns + window->begin_ns)
                                               : json_null());
        cli_json_set(object, "end_ns", cli_json_known(window->end_ns));
        cli_json_set(object, "events", window->events);
        cli_json_set(object, "live_end_bytes", window->live_bytes_end);
        cli_json_set(object, "live_end_objects", window->live_objects_end);
        cli_json_set(object, "lost", window->lost);
        cli_json_set(object, "processes", window->processes);
        cli_json_set(object, "file_bytes", window->file_bytes);
        json_array_append_new(array, object);
    }
    return array;
}

/* ---- programs -------------------------------------------------------------------------------- */

/* A program with all its processes; the peak is that of the largest. */
struct program {
    const char *name; /* the survey's */
    uint64_t processes, events;
    uint64_t cpu_ns, rss_peak_bytes; /* FP_USAGE_UNKNOWN: of none of them is it known */
};

static struct program program_of(const struct conv_process *process)
{
    const struct fp_usage *usage = process->usage;
    return (struct program){.name = process->name,
                            .processes = 1,
                            .events = process->events,
                            .cpu_ns = usage != NULL ? fp_usage_cpu_ns(usage) : FP_USAGE_UNKNOWN,
                            .rss_peak_bytes = usage != NULL ? usage->rss_peak_bytes : FP_USAGE_UNKNOWN};
}

static void add_process(struct program *program, const struct program *more)
{
    program->processes++;
    program->events += more->events;
    if (program->cpu_ns == FP_USAGE_UNKNOWN || more->cpu_ns == FP_USAGE_UNKNOWN)
        program->cpu_ns = program->cpu_ns == FP_USAGE_UNKNOWN ? more->cpu_ns : program->cpu_ns;
    else
        program->cpu_ns = conv_add_saturating(program->cpu_ns, more->cpu_ns);
    if (program->rss_peak_bytes == FP_USAGE_UNKNOWN ||
        (more->rss_peak_bytes != FP_USAGE_UNKNOWN && more->rss_peak_bytes > program->rss_peak_bytes))
        program->rss_peak_bytes = more->rss_peak_bytes;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct program *)a)->name, ((const struct program *)b)->name);
}

static int by_events(const void *a, const void *b)
{
    const struct program *one = a, *other = b;
    if (one->events != other->events)
        return one->events > other->events ? -1 : 1;
    return strcmp(one->name, other->name);
}

/* The programs of a recording, by their events. The caller's to free. */
static struct program *programs_of(const struct conv_survey *survey, size_t *ret_count)
{
    struct program *programs = res_calloc(survey->process_count + 1, sizeof *programs);
    size_t count = 0;
    for (size_t i = 0; i < survey->process_count; i++)
        programs[i] = program_of(&survey->processes[i]);
    qsort(programs, survey->process_count, sizeof *programs, by_name);
    for (size_t i = 0; i < survey->process_count; i++) {
        if (count > 0 && strcmp(programs[count - 1].name, programs[i].name) == 0) {
            add_process(&programs[count - 1], &programs[i]);
        } else {
            programs[count++] = programs[i];
        }
    }
    qsort(programs, count, sizeof *programs, by_events);
    *ret_count = count;
    return programs;
}

static json_t *program_array(const struct conv_survey *survey)
{
    size_t count;
    struct program *programs = programs_of(survey, &count);
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++) {
        json_t *object = json_object();
        cli_json_set(object, "name", programs[i].name);
        cli_json_set(object, "processes", programs[i].processes);
        cli_json_set(object, "events", programs[i].events);
        cli_json_set(object, "cpu_ns", number(programs[i].cpu_ns));
        cli_json_set(object, "rss_peak_bytes", number(programs[i].rss_peak_bytes));
        json_array_append_new(array, object);
    }
    free(programs);
    return array;
}

/* ---- processes ------------------------------------------------------------------------------- */

static json_t *process_array(const struct conv_survey *survey)
{
    json_t *array = json_array();
    for (size_t i = 0; i < survey->process_count; i++) {
        const struct conv_process *process = &survey->processes[i];
        json_t *object = json_object();
        cli_json_set(object, "file", process->file);
        cli_json_set(object, "name", process->name);
        cli_json_set(object, "pid", process->process_id);
        cli_json_set(object, "parent_pid", process->parent_process_id);
        cli_json_set(object, "events", process->events);
        cli_json_set(object, "ended", process->ended);
        cli_json_set(object, "complete", process->complete);
        cli_json_set(object, "chosen", process->chosen);
        cli_json_set(object, "missing", process->missing);
        cli_json_set(object, "removed", process->removed);
        cli_usage_json(object, process->usage, "end");
        json_array_append_new(array, object);
    }
    return array;
}

/* ---- threads and what was selected ------------------------------------------------------------ */

static int by_calls(const void *left, const void *right)
{
    const struct conv_thread *a = left, *b = right;
    if (a->events != b->events)
        return a->events > b->events ? -1 : 1;
    return a->thread_id < b->thread_id ? -1 : a->thread_id > b->thread_id;
}

static json_t *thread_array(const struct conv_survey *survey)
{
    struct conv_thread *sorted = res_calloc(survey->thread_count + 1, sizeof *sorted);
    json_t *array = json_array();
    for (size_t i = 0; i < survey->thread_count; i++)
        sorted[i] = survey->thread_list[i];
    qsort(sorted, survey->thread_count, sizeof *sorted, by_calls);
    for (size_t i = 0; i < survey->thread_count; i++) {
        const struct conv_thread *thread = &sorted[i];
        json_t *object = json_object();
        cli_json_set(object, "thread_id", thread->thread_id);
        cli_json_set(object, "main", thread->is_main);
        cli_json_set(object, "events", thread->events);
        json_array_append_new(array, object);
    }
    free(sorted);
    return array;
}

static json_t *selection_json(const struct conv_selected *selected)
{
    if (selected->text[0] == '\0')
        return json_null();
    json_t *object = json_object();
    cli_json_set(object, "text", selected->text);
    cli_json_set(object, "from_ns", selected->from_ns);
    cli_json_set(object, "to_ns", cli_json_known(selected->to_ns));
    cli_json_set(object, "head_calls", cli_json_known(selected->head));
    return object;
}

/* ---- all ------------------------------------------------------------------------------------- */

void cli_survey_lists_json(json_t *object, const struct conv_survey *survey)
{
    if (survey->kind == CONV_KIND_RECORDING && survey->process_count > 0) {
        cli_json_set(object, "window_list", window_array(survey));
        cli_json_set(object, "program_list", program_array(survey));
        cli_json_set(object, "not_recorded", rec_unrecorded_load(survey->input));
    }
    if (survey->process_count > 0)
        cli_json_set(object, "process_list", process_array(survey));
    cli_json_set(object, "thread_list", thread_array(survey));
    cli_json_set(object, "selection", selection_json(&survey->selected));
}

#define THREAD_LINES 12u

/* clang-format off */
static const struct cli_column THREADS[] = {
    {"thread", "thread_id", CLI_SHOWN_ID}, {"calls", "events", CLI_SHOWN_COUNT}, {"main", "main", CLI_SHOWN_WHERE}, {0}};

static const struct cli_column WINDOWS[] = {
    {"window", "window", CLI_SHOWN_ID}, {"began", "begin_unix_ns", CLI_SHOWN_MOMENT},
    {"from", "begin_ns", CLI_SHOWN_SPAN}, {"to", "end_ns", CLI_SHOWN_SPAN}, {"events", "events", CLI_SHOWN_COUNT},
    {"live at end", "live_end_bytes", CLI_SHOWN_BYTES}, {"objects", "live_end_objects", CLI_SHOWN_COUNT},
    {"lost", "lost", CLI_SHOWN_COUNT}, {0}};

static const struct cli_column PROGRAMS[] = {
    {"processes", "processes", CLI_SHOWN_COUNT}, {"events", "events", CLI_SHOWN_COUNT}, {"CPU", "cpu_ns", CLI_SHOWN_SPAN},
    {"peak RSS", "rss_peak_bytes", CLI_SHOWN_BYTES}, {"program", "name", CLI_SHOWN_TEXT}, {0}};

static const struct cli_column PROCESSES[] = {
    {"process", "pid", CLI_SHOWN_ID}, {"parent", "parent_pid", CLI_SHOWN_ID}, {"events", "events", CLI_SHOWN_COUNT},
    {"ended", "ended", CLI_SHOWN_TEXT}, {"footprint", "file", CLI_SHOWN_TEXT}, {"missing", "missing", CLI_SHOWN_WHERE},
    {"removed", "removed", CLI_SHOWN_WHERE}, {"not whole", "complete", CLI_SHOWN_WHERE_NOT}, {0}};
/* clang-format on */

void cli_survey_lists_print(const struct conv_survey *survey, bool details)
{
    json_t *object = json_object();
    struct res_text text = {0};
    cli_survey_lists_json(object, survey);
    if (details && survey->thread_count > 1)
        cli_table_add(&text, THREADS, json_object_get(object, "thread_list"), THREAD_LINES);
    if (details)
        cli_table_add(&text, WINDOWS, json_object_get(object, "window_list"), SIZE_MAX);
    if (survey->process_count > 1)
        cli_table_add(&text, PROGRAMS, json_object_get(object, "program_list"), SIZE_MAX);
    if (details)
        cli_table_add(&text, PROCESSES, json_object_get(object, "process_list"), SIZE_MAX);
    cli_put(text.text != NULL ? text.text : "", text.length);
    free(text.text);
    json_decref(object);
}
