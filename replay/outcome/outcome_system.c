/* outcome_system.c - system calls, counters and binding of a run, as JSON and as text. */
#include "footprint/base/words.h"
#include "replay/outcome/outcome_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

json_t *rep_syscalls_json(const struct rep_syscalls *syscalls)
{
    json_t *object = json_object();
    uint64_t total = 0;
    if (!syscalls->active)
        return json_pack("{s:s}", "unavailable", syscalls->why);
    for (unsigned kind = 0; kind < REP_SYSCALL_KINDS; kind++) {
        const uint64_t count = rep_syscalls_of(syscalls, kind);
        total += count;
        if (json_object_set_new(object, rep_syscall_names[kind], json_integer((json_int_t)count)) != 0)
            goto failed;
    }
    if (json_object_set_new(object, "total", json_integer((json_int_t)total)) == 0)
        return object;
failed:
    json_decref(object);
    return NULL;
}

void rep_syscalls_text(const struct rep_syscalls *syscalls)
{
    const char *comma = "";
    char digits[32];
    printf("%-18s", "system calls");
    if (!syscalls->active) {
        printf("unavailable: %s\n", syscalls->why);
        return;
    }
    for (unsigned kind = 0; kind < REP_SYSCALL_KINDS; kind++, comma = ", ")
        printf("%s%s %s", comma, rep_syscall_names[kind],
               fp_text_grouped(rep_syscalls_of(syscalls, kind), digits));
    printf("\n");
}

json_t *rep_counters_json(const struct rep_counters *counters)
{
    json_t *array = json_array();
    for (unsigned i = 0; i < REP_COUNTERS; i++) {
        const struct rep_counter *counter = &counters->counters[i];
        json_t *one = counter->sys_errno != 0
                          ? json_pack("{s:s, s:n, s:s}", "name", counter->name, "count", "unavailable",
                                      rep_counter_why(counter->sys_errno))
                          : json_pack("{s:s, s:I, s:b, s:f}", "name", counter->name, "count",
                                      (json_int_t)counter->count, "user_only", counter->user_only,
                                      "counted_share", counter->share);
        if (json_array_append_new(array, one) != 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

void rep_counters_text(const struct rep_counters *counters)
{
    char digits[32];
    for (unsigned i = 0; i < REP_COUNTERS; i++) {
        const struct rep_counter *counter = &counters->counters[i];
        if (counter->sys_errno != 0)
            printf("%-18sunavailable: %s\n", counter->name, rep_counter_why(counter->sys_errno));
        else
            printf("%-18s%s%s%s\n", counter->name, fp_text_grouped(counter->count, digits),
                   counter->user_only ? ", user code only" : "", counter->share < 1 ? ", estimated" : "");
    }
}

json_t *rep_binding_json(const struct rep_binding *binding)
{
    json_t *object = json_pack("{s:s}", "pin", binding->how);
    if (!binding->nice_asked || object == NULL)
        return object;
    json_t *refused = binding->nice_refused != 0 ? json_string(strerror(binding->nice_refused)) : json_null();
    if (json_object_set_new(object, "nice", json_integer(binding->nice)) == 0 &&
        json_object_set_new(object, "nice_refused", refused) == 0)
        return object;
    json_decref(object);
    return NULL;
}
