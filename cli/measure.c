/* measure.c - --pin and --nice. */
#include "cli/measure.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "replay/binding.h"

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

int cli_measure_take(const struct cli_verb *verb, int option, const char *value, struct cli_measure *measure)
{
    char *end;
    if (option == CLI_MEASURE_PIN)
        return take_pin(verb, value, measure);
    errno = 0;
    const long nice = strtol(value, &end, 10);
    if (errno != 0 || end == value || *end != '\0' || value[0] == ' ' || value[0] == '+' || nice < -20 ||
        nice > 19)
        return cli_misuse(verb, "--nice takes a number from -20 to 19, not '%s'", value);
    put(measure, "--nice", value);
    return -1;
}
