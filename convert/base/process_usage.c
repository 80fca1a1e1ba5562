/* process_usage.c - usages copied and added up. */
#include "convert/base/process_usage.h"

#include <stdlib.h>
#include <string.h>

void conv_usage_free(struct fp_usage *usage)
{
    if (usage != NULL)
        fp_usage_release(usage);
    free(usage);
}

void conv_usage_set(struct fp_usage **to, const struct fp_usage *from)
{
    struct fp_usage *copy = from != NULL ? malloc(sizeof *copy) : NULL;
    conv_usage_free(*to);
    *to = copy;
    if (copy == NULL)
        return;
    *copy = *from;
    copy->points = from->point_count > 0 ? calloc(from->point_count, sizeof *copy->points) : NULL;
    if (copy->points != NULL)
        memcpy(copy->points, from->points, from->point_count * sizeof *copy->points);
    else
        copy->point_count = 0;
}

static void add(uint64_t *sum, uint64_t value)
{
    if (*sum == FP_USAGE_UNKNOWN || value == FP_USAGE_UNKNOWN)
        *sum = *sum == FP_USAGE_UNKNOWN ? value : *sum;
    else
        *sum = value <= INT64_MAX - *sum ? *sum + value : INT64_MAX;
}

static uint64_t higher(uint64_t a, uint64_t b)
{
    if (a == FP_USAGE_UNKNOWN || b == FP_USAGE_UNKNOWN)
        return a == FP_USAGE_UNKNOWN ? b : a;
    return a > b ? a : b;
}

static void add_to(struct fp_usage *sum, const struct fp_usage *usage)
{
    sum->begin_ns = usage->begin_ns < sum->begin_ns ? usage->begin_ns : sum->begin_ns;
    sum->end_ns = higher(sum->end_ns, usage->end_ns);
    add(&sum->cpu_user_ns, usage->cpu_user_ns);
    add(&sum->cpu_system_ns, usage->cpu_system_ns);
    add(&sum->faults_minor, usage->faults_minor);
    add(&sum->faults_major, usage->faults_major);
    add(&sum->rss_peak_bytes, usage->rss_peak_bytes);
    add(&sum->rss_anon_peak_bytes, usage->rss_anon_peak_bytes);
    add(&sum->rss_end_bytes, usage->rss_end_bytes);
    add(&sum->rss_anon_end_bytes, usage->rss_anon_end_bytes);
    add(&sum->recorder_bytes, usage->recorder_bytes);
    sum->cpu_age_ns = higher(sum->cpu_age_ns, usage->cpu_age_ns);
    sum->memory_age_ns = higher(sum->memory_age_ns, usage->memory_age_ns);
    if (sum->runs_on != usage->runs_on || strcmp(sum->allocator, usage->allocator) != 0 ||
        strcmp(sum->version, usage->version) != 0) {
        sum->runs_on = FP_RUNS_ON_UNKNOWN;
        sum->allocator[0] = sum->version[0] = sum->library[0] = '\0';
    }
    if (sum->ended != usage->ended || sum->code != usage->code) {
        sum->ended = FP_ENDED_UNKNOWN;
        sum->code = FP_USAGE_UNKNOWN;
    }
}

void conv_usage_add(struct fp_usage **sum, const struct fp_usage *usage)
{
    if (usage == NULL)
        return;
    if (*sum != NULL)
        add_to(*sum, usage);
    else
        conv_usage_set(sum, usage);
    if (*sum != NULL)
        fp_usage_release(*sum);
}
