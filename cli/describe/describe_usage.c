/* describe_usage.c - a usage put into words and keys. */
#include "cli/describe/describe_usage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/json_bounds.h"
#include "footprint/base/words.h"

static bool is_known(uint64_t number)
{
    return number <= INT64_MAX;
}

static json_t *number(uint64_t value)
{
    return is_known(value) ? cli_json_number(value) : json_null();
}

/* ---- JSON --------------------------------------------------------------------------------------- */

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

static json_t *end_json(const struct fp_usage *usage)
{
    json_t *object = json_object();
    cli_json_set(object, "how", fp_ended_name(usage->ended));
    cli_json_set(object, "code", number(usage->code));
    return object;
}

void cli_usage_json(json_t *object, const struct fp_usage *usage, const char *ended)
{
    struct fp_usage nothing;
    json_t *cpu = json_object();
    fp_usage_init(&nothing);
    cli_json_set(object, ended, usage != NULL ? end_json(usage) : json_null());
    usage = usage != NULL ? usage : &nothing;
    cli_json_set(cpu, "user", number(usage->cpu_user_ns));
    cli_json_set(cpu, "system", number(usage->cpu_system_ns));
    cli_json_set(object, "cpu_ns", cpu);
    cli_json_set(object, "cpu_age_ns", number(usage->cpu_age_ns));
    cli_json_set(object, "faults_minor", number(usage->faults_minor));
    cli_json_set(object, "faults_major", number(usage->faults_major));
    cli_json_set(object, "rss_peak_bytes", number(usage->rss_peak_bytes));
    cli_json_set(object, "rss_anon_peak_bytes", number(usage->rss_anon_peak_bytes));
    cli_json_set(object, "rss_end_bytes", number(usage->rss_end_bytes));
    cli_json_set(object, "rss_anon_end_bytes", number(usage->rss_anon_end_bytes));
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

/* ---- words -------------------------------------------------------------------------------------- */

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
    switch (usage->ended) {
    case FP_ENDED_EXIT:
        return is_known(usage->code) ? res_printf("exit %llu", (unsigned long long)usage->code)
                                     : res_strdup("exit");
    case FP_ENDED_SIGNAL:
        return res_printf("ended by signal %llu", (unsigned long long)usage->code);
    case FP_ENDED_EXEC:
        return res_strdup("ended by exec");
    case FP_ENDED_RUNNING:
        return res_strdup("went on when recording ended");
    case FP_ENDED_UNKNOWN:
    case FP_ENDED_COUNT:
        break;
    }
    return res_strdup("");
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
