/* collect_filters.c - try behind the filters that we share with the programs what they are to do. */
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shim/collect/collect.h"

static uint32_t filters_of_ours(void)
{
    char line[256];
    uint32_t filters = 0;
    FILE *status = fopen("/proc/self/status", "re");
    if (status == NULL)
        return 0;
    while (fgets(line, sizeof line, status) != NULL && sscanf(line, "Seccomp_filters: %u", &filters) != 1)
        ;
    (void)fclose(status); /* only read */
    return filters;
}

/* A filter may refuse or kill. */
static bool child_survives(void)
{
    int ended = 1;
    const pid_t child = fork();
    if (child == 0) {
        unsigned char page;
        static _Alignas(4096) char here[4096];
        _exit(mincore(here, 1, &page) == 0 ? 0 : 1);
    }
    return child > 0 && waitpid(child, &ended, 0) == child && ended == 0;
}

uint32_t collect_filters_passed(void)
{
    const uint32_t filters = filters_of_ours();
    return filters > 0 && child_survives() ? filters : 0;
}
