/* settings_tcmalloc.c - gperftools: properties where it has them, else the flag that the variable sets.
 * Source: gperftools' tcmalloc.html, "Modifying Runtime Behavior", and malloc_extension.h. */
#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "replay/base/own_process.h"
#include "replay/proof/settings.h"

/* The library exports its flags by names that are meant to deter linking; reading is what we need. */
#define FLAG(bits, type, name)                                                                               \
    "_ZN" bits "FLAG__namespace_do_not_use_directly_use_DECLARE_" type "_instead" name "E"

static const struct {
    const char *variable;
    const char *property; /* of MallocExtension_GetNumericProperty; NULL: the flag below */
    const char *flag;
    bool real; /* the flag is a double, else an int64 */
} KNOWN[] = {
    {"TCMALLOC_MAX_TOTAL_THREAD_CACHE_BYTES", "tcmalloc.max_total_thread_cache_bytes", NULL, false},
    {"TCMALLOC_AGGRESSIVE_DECOMMIT", "tcmalloc.aggressive_memory_decommit", NULL, false},
    {"TCMALLOC_HEAP_LIMIT_MB", "tcmalloc.heap_limit_mb", NULL, false},
    {"TCMALLOC_RELEASE_RATE", NULL, FLAG("62", "double", "27FLAGS_tcmalloc_release_rate"), true},
    {"TCMALLOC_LARGE_ALLOC_REPORT_THRESHOLD", NULL,
     FLAG("61", "int64", "43FLAGS_tcmalloc_large_alloc_report_threshold"), false},
};

static bool take(struct rep_settings *settings, const char *variable, const char *value)
{
    for (size_t i = 0; i < sizeof KNOWN / sizeof KNOWN[0]; i++) {
        if (strcmp(KNOWN[i].variable, variable) == 0)
            return rep_settings_add(settings, variable, strlen(variable), value, strlen(value));
    }
    return false;
}

static bool read_property(const char *property, struct rep_setting *setting)
{
    int (*numeric)(const char *, size_t *);
    size_t value;
    if (!rep_symbol("MallocExtension_GetNumericProperty", &numeric) || !numeric(property, &value))
        return false;
    snprintf(setting->found, sizeof setting->found, "%zu", value);
    setting->from = "MallocExtension_GetNumericProperty";
    return true;
}

static bool read_back(struct rep_settings *settings, struct rep_setting *setting)
{
    const void *flag;
    for (size_t i = 0; i < sizeof KNOWN / sizeof KNOWN[0]; i++) {
        if (strcmp(KNOWN[i].variable, setting->name) != 0)
            continue;
        if (KNOWN[i].property != NULL)
            return read_property(KNOWN[i].property, setting);
        if (!rep_symbol(KNOWN[i].flag, &flag))
            return false;
        if (KNOWN[i].real)
            snprintf(setting->found, sizeof setting->found, "%g", *(const double *)flag);
        else
            snprintf(setting->found, sizeof setting->found, "%lld", (long long)*(const int64_t *)flag);
        setting->from = "its flag";
        return true;
    }
    return read_property(setting->name, setting); /* an expectation may name any property */
}

/* Only settings that can be proven are told. Of others neither property nor flag is known. */
static void names(rep_settings_told *told)
{
    static const char PREFIX[] = "TCMALLOC_";
    for (size_t i = 0; i < sizeof KNOWN / sizeof KNOWN[0]; i++) {
        char name[REP_SETTING_TEXT_MAX];
        size_t length = 0;
        for (const char *letter = KNOWN[i].variable + sizeof PREFIX - 1; *letter != '\0'; letter++)
            name[length++] = (char)tolower((unsigned char)*letter);
        told(name, length);
    }
}

const struct rep_settings_kind rep_settings_tcmalloc = {.kind = "tcmalloc",
                                                        .symbol = "MallocExtension_GetNumericProperty",
                                                        .family = "TCMALLOC_",
                                                        .take = take,
                                                        .read = read_back,
                                                        .names = names};
