/* measure_options.c - see measure_options.h. */
#include "cli/options/measure_options.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "replay/system/binding.h"

#define IDLE_MAX_NS UINT64_C(86400000000000)

static void put(struct cli_measure *measure, const char *option, const char *value)
{
    for (unsigned i = 0; i < measure->count; i += 2) {
        if (strcmp(measure->options[i], option) == 0) { /* given twice: the last one counts */
            measure->options[i + 1] = value;
            return;
        }
    }
    measure->options[measure->count++] = option;
    measure->options[measure->count++] = value;
}

/* Tried here, so that it is told once and not as the failure of every run. Returns an errno. */
static int try_processors(struct rep_binding *binding)
{
    cpu_set_t before;
    if (binding->each || strcmp(binding->how, "no") == 0 || sched_getaffinity(0, sizeof before, &before) != 0)
        return 0;
    const int error = rep_binding_apply(binding, false);
    (void)sched_setaffinity(0, sizeof before, &before); /* it was so before */
    return error;
}

static int take_pin(const struct cli_verb *verb, const char *value, struct cli_measure *measure)
{
    struct rep_binding binding = {0};
    if (!rep_binding_parse(&binding, value))
        return cli_misuse(verb, "--pin takes 'no', 'auto' or processors as 0,2-3, not '%s'", value);
    const int error = try_processors(&binding);
    if (error != 0)
        return cli_misuse(verb, "cannot keep to the processors '%s': %s; lscpu lists those that there are",
                          value, strerror(error));
    put(measure, "--pin", value);
    return -1;
}

static int take_nice(const struct cli_verb *verb, const char *value, struct cli_measure *measure)
{
    char *end;
    errno = 0;
    const long nice = strtol(value, &end, 10);
    if (errno != 0 || end == value || *end != '\0' || value[0] == ' ' || value[0] == '+' || nice < -20 ||
        nice > 19)
        return cli_misuse(verb, "--nice takes a number from -20 to 19, not '%s'", value);
    put(measure, "--nice", value);
    return -1;
}

static int take_idle(const struct cli_verb *verb, const char *value, struct cli_measure *measure)
{
    uint64_t idle_ns = 0;
    if (strcmp(value, "0") != 0 && (!cli_parse_duration(value, &idle_ns) || idle_ns > IDLE_MAX_NS))
        return cli_misuse(verb, "--idle takes a duration of a day at most, as 60s or 5m, or 0, not '%s'",
                          value);
    measure->idle_ns = idle_ns;
    return -1;
}

bool cli_measure_has(int option)
{
    return option == 'a' || option == 'b' || option == 'n' ||
           (option >= CLI_MEASURE_PIN && option < CLI_MEASURE_END);
}

int cli_measure_take(const struct cli_verb *verb, int option, const char *value, struct cli_measure *measure)
{
    switch (option) {
    case 'a':
        measure->allocators = value;
        break;
    case 'b':
        measure->baseline = value;
        break;
    case CLI_MEASURE_PIN:
        return take_pin(verb, value, measure);
    case CLI_MEASURE_NICE:
        return take_nice(verb, value, measure);
    case CLI_MEASURE_IDLE:
        return take_idle(verb, value, measure);
    case 'n':
        if (!cli_parse_count(value, 1, CLI_ROUNDS_MAX, &measure->rounds))
            return cli_misuse(verb, "'%s' is no number of rounds: 1 to %u", value, CLI_ROUNDS_MAX);
        measure->has_rounds = true;
        break;
    case CLI_MEASURE_SEED:
        if (!cli_parse_count(value, 0, (UINT64_C(1) << CLI_SEED_BITS) - 1, &measure->seed))
            return cli_misuse(verb, "'%s' is no seed: 0 to 2^%d - 1", value, CLI_SEED_BITS);
        measure->has_seed = true;
        break;
    case CLI_MEASURE_TOUCH:
        if (strcmp(value, "none") != 0 && strcmp(value, "page") != 0 && strcmp(value, "full") != 0)
            return cli_misuse(verb, "--touch takes 'none', 'page' or 'full', not '%s'", value);
        measure->touch = value;
        break;
    case CLI_MEASURE_TIMEOUT:
        if (!cli_parse_duration(value, &measure->timeout_ns))
            return cli_misuse(verb, "'%s' is no duration for --timeout: write 90s or 5m", value);
        break;
    case CLI_MEASURE_LIMIT:
        if (!cli_parse_size(value, &measure->limit_bytes))
            return cli_misuse(verb, "'%s' is no size for --limit: write 64M or 1.5G", value);
        break;
    case CLI_MEASURE_LIMIT_BY:
        if (strcmp(value, "cgroup") != 0 && strcmp(value, "data") != 0)
            return cli_misuse(verb, "--limit-by takes 'cgroup' or 'data', not '%s'", value);
        measure->limit_by = value;
        break;
    case CLI_MEASURE_LIMIT_IN:
        measure->limit_in = value;
        break;
    case CLI_MEASURE_ONE_THREAD:
        put(measure, "--threads", "1");
        measure->one_thread = true;
        break;
    default:
        break;
    }
    return -1;
}

uint64_t cli_measure_seed(const struct cli_measure *measure)
{
    return measure->has_seed ? measure->seed : cli_draw_seed();
}

uint64_t cli_measure_idle_ms(const struct cli_measure *measure)
{
    return (measure->idle_ns + 999999) / 1000000;
}
