/* processors.c - one variable read, and this program executed anew with it. */
#include "replay/system/processors.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "replay/base/own_process.h"

extern char **environ;

#define VARIABLES_MAX 4096u
#define TUNABLES_MAX  4096u

static const char VARIABLE[] = "MALLAB_PROCESSORS="; /* "USABLE,ONLINE" */

static bool parse(const char *text, struct rep_told *ret_told)
{
    char *end;
    const unsigned long usable = strtoul(text, &end, 10),
                        online = *end == ',' ? strtoul(end + 1, &end, 10) : 0;
    if (*end != '\0' || usable == 0 || usable > online || online > FP_PROCESSORS_MAX)
        return false;
    *ret_told = (struct rep_told){(unsigned)usable, (unsigned)online};
    return true;
}

/* While libraries are initialised there may be no environment yet; then it is asked again. */
struct rep_told rep_told(void)
{
    static struct rep_told known;
    static bool looked;
    struct rep_told found = {0};
    if (__atomic_load_n(&looked, __ATOMIC_ACQUIRE) || environ == NULL)
        return known;
    for (char **entry = environ; *entry != NULL; entry++)
        if (strncmp(*entry, VARIABLE, sizeof VARIABLE - 1) == 0)
            (void)parse(*entry + sizeof VARIABLE - 1, &found); /* another text tells nothing */
    known = found;                                             /* two threads write the same */
    __atomic_store_n(&looked, true, __ATOMIC_RELEASE);
    return known;
}

static bool is_set(const char *text, const char *name)
{
    return text != NULL && strstr(text, name) != NULL;
}

/* Limits the arenas as arena_get2 of malloc/malloc.c does, by the processors that are online (2.34 to 2.38 by those that may be used, as they
 * were released). It first counts them when arena_test, 8, is passed, so one more is there by then. Empty where malloc is not
 * glibc's, or the user has set it. */
static void limit_arenas(unsigned online, char *ret_entry, size_t size)
{
    const char *tunables = getenv("GLIBC_TUNABLES");
    const bool is_glibc = rep_library_of("malloc") == rep_library_of("gnu_get_libc_version");
    ret_entry[0] = '\0';
    if (!is_glibc || is_set(tunables, "glibc.malloc.arena_max") ||
        is_set(tunables, "glibc.malloc.arena_test") || getenv("MALLOC_ARENA_MAX") != NULL ||
        getenv("MALLOC_ARENA_TEST") != NULL)
        return;
    const unsigned cores_share = sizeof(long) == 4 ? 2 : 8, limit = online * cores_share;
    const int length = snprintf(ret_entry, size, "GLIBC_TUNABLES=%s%sglibc.malloc.arena_max=%u",
                                tunables != NULL ? tunables : "", tunables != NULL ? ":" : "",
                                online > 1 ? limit : limit + 1);
    if (length < 0 || (size_t)length >= size)
        ret_entry[0] = '\0';
}

static bool is_here(struct rep_told told)
{
    return told.usable == rep_processors() && (long)told.online == sysconf(_SC_NPROCESSORS_ONLN);
}

bool rep_tell(struct rep_told told, char **arguments)
{
    static char *variables[VARIABLES_MAX], mine[64], arenas[TUNABLES_MAX];
    const struct rep_told now = rep_told();
    size_t count = 0;
    if (told.usable == 0 || (now.usable == told.usable && now.online == told.online) ||
        (now.usable == 0 && is_here(told)))
        return true;
    (void)snprintf(mine, sizeof mine, "%s%u,%u", VARIABLE, told.usable, told.online); /* fits */
    limit_arenas(told.online, arenas, sizeof arenas);
    for (char **entry = environ; *entry != NULL && count + 3 < VARIABLES_MAX; entry++)
        if (strncmp(*entry, VARIABLE, sizeof VARIABLE - 1) != 0 &&
            (arenas[0] == '\0' || strncmp(*entry, "GLIBC_TUNABLES=", 15) != 0))
            variables[count++] = *entry;
    variables[count++] = mine;
    if (arenas[0] != '\0')
        variables[count++] = arenas;
    (void)execve("/proc/self/exe", arguments, variables); /* it returns where there is no /proc */
    const unsigned long path = getauxval(AT_EXECFN);
    const char *name;
    memcpy(&name, &path, sizeof name);
    return execve(name, arguments, variables) == 0;
}
