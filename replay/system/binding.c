/* binding.c - affinity and nice. */
#include "replay/system/binding.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* One "N" or "N-M" of a list; at its end on success. */
static bool take_range(const char **at, cpu_set_t *set)
{
    char *end;
    if (**at < '0' || **at > '9')
        return false;
    const unsigned long first = strtoul(*at, &end, 10);
    unsigned long last = first;
    if (*end == '-') {
        if (end[1] < '0' || end[1] > '9')
            return false;
        last = strtoul(end + 1, &end, 10);
    }
    if (last < first || last >= REP_PROCESSORS_MAX)
        return false;
    for (unsigned long cpu = first; set != NULL && cpu <= last; cpu++)
        CPU_SET(cpu, set);
    *at = end;
    return true;
}

static bool parse_list(const char *list, cpu_set_t *set)
{
    while (take_range(&list, set)) {
        if (*list == '\0')
            return true;
        if (*list++ != ',')
            return false;
    }
    return false;
}

bool rep_binding_parse(struct rep_binding *binding, const char *how)
{
    binding->how = how;
    binding->each = strcmp(how, "auto") == 0;
    return binding->each || strcmp(how, "no") == 0 || parse_list(how, NULL);
}

int rep_binding_apply(struct rep_binding *binding, bool one_thread)
{
    cpu_set_t set;
    if (binding->how[0] >= '0' && binding->how[0] <= '9') {
        CPU_ZERO(&set);
        (void)parse_list(binding->how, &set); /* it was checked */
        if (sched_setaffinity(0, sizeof set, &set) != 0)
            return errno;
    }
    binding->count = 0;
    if (sched_getaffinity(0, sizeof set, &set) != 0) { /* more than 1024: one baton is slow but right */
        binding->count = 1;
        binding->each = false;
    } else {
        for (unsigned cpu = 0; cpu < REP_PROCESSORS_MAX; cpu++)
            if (CPU_ISSET(cpu, &set))
                binding->processors[binding->count++] = (uint16_t)cpu;
    }
    if (binding->each && one_thread)
        binding->processors[0] = binding->processors[binding->count - 1];
    rep_binding_thread(binding, 0);
    if (binding->nice_asked && setpriority(PRIO_PROCESS, 0, binding->nice) != 0)
        binding->nice_refused = errno;
    return 0;
}

void rep_binding_thread(const struct rep_binding *binding, uint32_t number)
{
    cpu_set_t set;
    if (!binding->each)
        return;
    CPU_ZERO(&set);
    CPU_SET(binding->processors[number % binding->count], &set);
    (void)sched_setaffinity(0, sizeof set, &set); /* fails when it was taken away meanwhile: then unbound */
}
