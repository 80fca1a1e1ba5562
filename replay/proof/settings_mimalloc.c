/* settings_mimalloc.c - MIMALLOC_NAME, read back by mi_option_get(number).
 *
 * The numbers differ from version to version, so their names come from the library itself: with MIMALLOC_VERBOSE it
 * lists its options at a process's start, in their order. That list's values must be what mi_option_get says here, or
 * the order was not understood. Source: mimalloc's documentation, "Environment Options", and mimalloc.h. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "replay/base/own_process.h"
#include "replay/proof/settings.h"

static const char PREFIX[] = "MIMALLOC_";
static const char LINE[] = "mimalloc: option '"; /* of its list */

static bool take(struct rep_settings *settings, const char *variable, const char *value)
{
    return strncmp(variable, PREFIX, sizeof PREFIX - 1) == 0 && variable[sizeof PREFIX - 1] != '\0' &&
           rep_settings_add(settings, variable, strlen(variable), value, strlen(value));
}

/* Sizes are kept in KiB: "1G" reads 1048576. */
static void spell_size(struct rep_setting *setting)
{
    char *end;
    const unsigned long long number = strtoull(setting->asked, &end, 10);
    const int unit = toupper((unsigned char)*end);
    const unsigned shift = unit == 'M' ? 10 : unit == 'G' ? 20 : 0;
    if (end != setting->asked && (unit == 'K' || unit == 'M' || unit == 'G') && number < 1u << 30 &&
        (end[1] == '\0' || strcasecmp(end + 1, "iB") == 0 || strcasecmp(end + 1, "B") == 0))
        snprintf(setting->asked, sizeof setting->asked, "%llu", number << shift);
}

static bool read_back(struct rep_settings *settings, struct rep_setting *setting)
{
    const char *name = setting->name;
    long (*option_get)(int);
    if (strncmp(name, PREFIX, sizeof PREFIX - 1) == 0)
        name += sizeof PREFIX - 1;
    if (!rep_symbol("mi_option_get", &option_get))
        return false;
    const char *at = rep_listing_read("/proc/self/exe", "--help", "MIMALLOC_VERBOSE=1");
    bool found = false;
    int number = 0;
    for (; at != NULL && (at = strstr(at, LINE)) != NULL; number++) {
        at += sizeof LINE - 1;
        const size_t length = strcspn(at, "'\n");
        if (at[length] != '\'' || at[length + 1] != ':')
            return false;
        const long value = option_get(number);
        const bool is_verbose = length == 7 && strncmp(at, "verbose", 7) == 0; /* ours, there */
        if (!is_verbose && strtol(at + length + 2, NULL, 10) != value)
            return rep_settings_refuse(
                settings, "mimalloc's list of options says '%.*s' of '%.*s', mi_option_get %ld",
                (int)strcspn(at + length + 2, "\n"), at + length + 2, (int)length, at, value);
        if (length != strlen(name) || strncasecmp(at, name, length) != 0)
            continue;
        snprintf(setting->found, sizeof setting->found, "%ld", value);
        setting->from = "mi_option_get";
        found = true;
        if (strcasecmp(name, "reserve_os_memory") == 0)
            spell_size(setting);
    }
    if (!found && number > 0)
        return rep_settings_refuse(
            settings,
            "the setting %s=%s cannot be proven: this mimalloc has no option '%s'; is it "
            "spelt right?",
            setting->name, setting->asked, name);
    return found;
}

static void names(rep_settings_told *told)
{
    const char *at = rep_listing_read("/proc/self/exe", "--help", "MIMALLOC_VERBOSE=1");
    for (; at != NULL && (at = strstr(at, LINE)) != NULL;) {
        at += sizeof LINE - 1;
        told(at, strcspn(at, "'\n"));
    }
}

const struct rep_settings_kind rep_settings_mimalloc = {.kind = "mimalloc",
                                                        .symbol = "mi_option_get",
                                                        .family = PREFIX,
                                                        .take = take,
                                                        .read = read_back,
                                                        .names = names};
