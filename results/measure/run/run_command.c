/* run_command.c - environment and command line of a run. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "footprint/base/support.h"
#include "results/measure/run/run.h"

#define ARGUMENTS_MAX 40 /* of our own */

static bool steers_allocator(const char *variable)
{
    /* A trailing '*' stands for any ending, as every allocator adds settings with each version. */
    static const char *const names[] = {
        "LD_PRELOAD=",    "LD_AUDIT=",  "LD_BIND_NOW=", "GLIBC_TUNABLES=", "MALLOC_*",
        "_RJEM_MALLOC_*", "MIMALLOC_*", "TCMALLOC_*",   "PERFTOOLS_*",     "HEAPPROFILE*",
        "HEAPCHECK*",     "SCUDO_*",    "TBB_*",        "MALLAB_OUT=",     "MALLAB_SEGMENT=",
        "MALLAB_QUIET=",  "JEMALLOC_*", "RPMALLOC_*",   "SNMALLOC_*",      "HOARD_*",
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const size_t length = strlen(names[i]);
        const size_t compared = names[i][length - 1] == '*' ? length - 1 : length;
        if (strncmp(variable, names[i], compared) == 0)
            return true;
    }
    return false;
}

char **res_run_environment(const struct res_candidate *candidate)
{
    size_t count = 0;
    size_t kept = 0;
    while (environ[count] != NULL)
        count++;
    const size_t own = candidate != NULL ? candidate->variable_count : 0;
    char **variables = res_calloc(count + own + 2, sizeof *variables);
    for (size_t i = 0; i < count; i++) {
        bool replaced = steers_allocator(environ[i]);
        for (size_t k = 0; k < own && !replaced; k++) {
            const char *name = candidate->environment[k].name;
            replaced = strncmp(environ[i], name, strlen(name)) == 0 && environ[i][strlen(name)] == '=';
        }
        if (!replaced)
            variables[kept++] = res_strdup(environ[i]);
    }
    for (size_t k = 0; k < own; k++)
        variables[kept++] = res_printf("%s=%s", candidate->environment[k].name,
                                       candidate->environment[k].value);
    if (candidate != NULL && candidate->preload != NULL)
        variables[kept++] = res_printf("LD_PRELOAD=%s", candidate->path);
    return variables;
}

void res_strings_free(char **strings)
{
    if (strings == NULL)
        return;
    for (size_t i = 0; strings[i] != NULL; i++)
        free(strings[i]);
    free(strings);
}

char **res_run_arguments(const struct res_run_request *request, const char *const *extra)
{
    const struct res_candidate *candidate = request->candidate;
    size_t count = 0;
    size_t extra_count = 0;
    while (extra != NULL && extra[extra_count] != NULL)
        extra_count++;
    size_t more_count = 0;
    while (request->more != NULL && request->more[more_count] != NULL)
        more_count++;
    char **arguments = res_calloc(ARGUMENTS_MAX + extra_count + more_count +
                                      2 * (candidate->variable_count + candidate->expected_count),
                                  sizeof *arguments);
    arguments[count++] = res_strdup(candidate->program);
    if (!request->as_text)
        arguments[count++] = res_strdup("--json");
    arguments[count++] = res_strdup("--candidate");
    arguments[count++] = res_strdup(candidate->name);
    if (request->touch != NULL) {
        arguments[count++] = res_strdup("--touch");
        arguments[count++] = res_strdup(request->touch);
    }
    if (request->recorded_clock) {
        arguments[count++] = res_strdup("--clock");
        arguments[count++] = res_strdup("recorded");
        if (res_candidate_follows_clock(candidate))
            arguments[count++] = res_strdup("--expect-clock");
    }
    if (request->idle_ms > 0) {
        arguments[count++] = res_strdup("--idle-ms");
        arguments[count++] = res_printf("%llu", (unsigned long long)request->idle_ms);
    }
    if (candidate->library != NULL) {
        arguments[count++] = res_strdup("--expect-library");
        arguments[count++] = res_strdup(candidate->preload != NULL ? candidate->path : candidate->library);
    }
    if (candidate->proof != NULL) {
        arguments[count++] = res_strdup("--proof");
        arguments[count++] = res_strdup(candidate->proof);
    }
    for (size_t i = 0; i < candidate->variable_count; i++) {
        arguments[count++] = res_strdup("--setting");
        arguments[count++] = res_strdup(candidate->environment[i].name);
    }
    for (size_t i = 0; i < candidate->expected_count; i++) {
        arguments[count++] = res_strdup("--expect");
        arguments[count++] = res_printf("%s=%s", candidate->expected[i].name, candidate->expected[i].value);
    }
    if (candidate->settings != NULL)
        arguments[count++] = res_strdup("--unproven");
    if (request->limit_bytes != 0) {
        arguments[count++] = res_strdup("--limit");
        arguments[count++] = res_printf("%llu", (unsigned long long)request->limit_bytes);
    }
    if (request->limit_bytes != 0 && request->group != NULL) {
        arguments[count++] = res_strdup("--limit-group");
        arguments[count++] = res_strdup(request->group->directory);
        arguments[count++] = res_strdup("--limit-notes");
        arguments[count++] = res_printf("%d", request->group->notes_fd);
    }
    if (request->check)
        arguments[count++] = res_strdup("--check");
    if (request->waste)
        arguments[count++] = res_strdup("--waste");
    if (request->ret_failure != NULL)
        arguments[count++] = res_strdup("--report-failure");
    if (request->pass_option != NULL)
        arguments[count++] = res_strdup(request->pass_option);
    for (size_t i = 0; i < more_count; i++)
        arguments[count++] = res_strdup(request->more[i]);
    for (size_t i = 0; extra != NULL && extra[i] != NULL; i++)
        arguments[count++] = res_strdup(extra[i]);
    if (request->workload != NULL) {
        arguments[count++] = res_strdup("--");
        arguments[count++] = res_strdup(request->workload);
    }
    return arguments;
}
