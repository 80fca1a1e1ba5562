/* settings.c - settings that were asked for: gathered, read back from the allocator, and compared. */
#include "replay/proof/settings.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "replay/base/own_process.h"

extern char **environ;

/* ---- the list --------------------------------------------------------------------------------- */

bool rep_settings_refuse(struct rep_settings *settings, const char *format, ...)
{
    va_list arguments;
    if (settings->why[0] != '\0')
        return false;
    va_start(arguments, format);
    vsnprintf(settings->why, sizeof settings->why, format, arguments);
    va_end(arguments);
    return false;
}

bool rep_settings_number(const char *text, long long *ret_number)
{
    char *end;
    errno = 0;
    const long long number = strtoll(text, &end, 0);
    if (errno != 0 || end == text || *end != '\0')
        return false;
    *ret_number = number;
    return true;
}

/* Appends; a name that is there already gets the new value, as the last one counts. Returns false with why set when a text is too
 * long, or there are too many. */
static bool add(struct rep_settings *settings, const char *name, size_t name_length, const char *value,
                size_t value_length)
{
    struct rep_setting *setting = NULL;
    if (name_length == 0 || name_length >= REP_SETTING_TEXT_MAX || value_length >= REP_SETTING_TEXT_MAX)
        return rep_settings_refuse(settings, "'%.40s' is no setting: its name or value is empty or too long",
                                   name);
    for (uint32_t i = 0; i < settings->count; i++) {
        if (strncmp(settings->list[i].name, name, name_length) == 0 &&
            settings->list[i].name[name_length] == '\0')
            setting = &settings->list[i];
    }
    if (setting == NULL && settings->count == REP_SETTINGS_MAX)
        return rep_settings_refuse(settings, "more than %u settings", REP_SETTINGS_MAX);
    if (setting == NULL)
        setting = &settings->list[settings->count++];
    *setting = (struct rep_setting){.from = "nobody"};
    memcpy(setting->name, name, name_length);
    memcpy(setting->asked, value, value_length);
    return true;
}

bool rep_settings_name(struct rep_settings *settings, const char *variable)
{
    if (settings->named_count == REP_SETTINGS_MAX)
        return false;
    settings->named[settings->named_count++] = variable;
    return true;
}

bool rep_settings_expect(struct rep_settings *settings, const char *text)
{
    const char *sign = strchr(text, '=');
    return sign != NULL && add(settings, text, (size_t)(sign - text), sign + 1, strlen(sign + 1));
}

/* ---- gathering ------------------------------------------------------------------------------- */

/* Tells whether the library that malloc comes from has this symbol. */
static bool serves_malloc(const char *symbol)
{
    const void *library = rep_library_of(symbol);
    return library != NULL && library == rep_library_of("malloc");
}

static const struct rep_settings_kind *kind_of(const struct rep_settings *settings)
{
    for (const struct rep_settings_kind *kind = rep_settings_kinds;
         kind < rep_settings_kinds + REP_ALLOCATORS; kind++) {
        if (strcmp(kind->name, settings->kind) == 0 ||
            (strcmp(settings->kind, "address") == 0 && serves_malloc(kind->symbol)))
            return kind;
    }
    return NULL;
}

/* "glibc.malloc.arena_max=2:glibc.malloc.tcache_count=0", "narenas:1,thp:always" */
static bool take_list(struct rep_settings *settings, const struct rep_settings_kind *kind, const char *value)
{
    const char ends[] = {kind->between, '\0'};
    for (size_t length; *value != '\0'; value += length + (value[length] == kind->between)) {
        char name[REP_SETTING_TEXT_MAX];
        length = strcspn(value, ends);
        const char *sign = memchr(value, kind->sign, length);
        const size_t name_length = sign != NULL ? (size_t)(sign - value) : 0;
        if (sign == NULL || name_length + strlen(kind->prefix) >= sizeof name)
            return rep_settings_refuse(settings, "'%.*s' in %s is not 'name%cvalue'",
                                       (int)(length < 80 ? length : 80), value, kind->list, kind->sign);
        snprintf(name, sizeof name, "%s%.*s", kind->prefix, (int)name_length, value);
        if (!add(settings, name, name_length > 0 ? strlen(name) : 0, sign + 1, length - name_length - 1))
            return false;
    }
    return true;
}

static bool is_of_family(const struct rep_settings_kind *kind, const char *variable)
{
    return kind->family != NULL && strncmp(variable, kind->family, strlen(kind->family)) == 0;
}

/* Puts the settings of a variable onto the list. Returns false, why untouched, when the kind reads no such variable; also false,
 * why set, when the value cannot be understood. */
static bool take(struct rep_settings *settings, const struct rep_settings_kind *kind, const char *variable,
                 const char *value)
{
    const char *name = rep_setting_set_by((enum rep_allocator)(kind - rep_settings_kinds), variable);
    if (kind->list != NULL && strcmp(variable, kind->list) == 0)
        return take_list(settings, kind, value);
    if (kind->is_each && is_of_family(kind, variable) && strlen(variable) > strlen(kind->family))
        name = variable;
    return name != NULL && add(settings, name, strlen(name), value, strlen(value));
}

static bool is_named(const struct rep_settings *settings, const char *variable)
{
    for (uint32_t i = 0; i < settings->named_count; i++) {
        if (strcmp(settings->named[i], variable) == 0)
            return true;
    }
    return false;
}

/* The allocator does not read this variable, or does not tell of it. */
static bool pass_unproven(struct rep_settings *settings, const char *variable, const char *value)
{
    if (settings->unproven && add(settings, variable, strlen(variable), value, strlen(value))) {
        settings->list[settings->count - 1].unread = true;
        return true;
    }
    return rep_settings_refuse(
        settings,
        "the setting %s=%s cannot be proven: an allocator of kind '%s' does not tell of it; is "
        "it spelt right? ('settings = unproven' in the candidate's file lets it pass)",
        variable, value, settings->kind);
}

static bool take_variable(struct rep_settings *settings, const char *variable, const char *value)
{
    const struct rep_settings_kind *kind = kind_of(settings);
    if (strcmp(variable, rep_settings_kinds[REP_GLIBC].list) == 0)
        kind = &rep_settings_kinds[REP_GLIBC]; /* the loader reads it whatever the allocator is */
    if (kind != NULL && take(settings, kind, variable, value))
        return true;
    if (settings->why[0] != '\0')
        return false;
    const bool must = is_named(settings, variable) || (kind != NULL && is_of_family(kind, variable));
    return !must || pass_unproven(settings, variable, value);
}

static bool gather(struct rep_settings *settings)
{
    for (char **entry = environ; *entry != NULL; entry++) {
        char variable[REP_SETTING_TEXT_MAX];
        const char *sign = strchr(*entry, '=');
        if (sign == NULL || (size_t)(sign - *entry) >= sizeof variable)
            continue; /* no variable of any allocator's */
        memcpy(variable, *entry, (size_t)(sign - *entry));
        variable[sign - *entry] = '\0';
        if (!take_variable(settings, variable, sign + 1))
            return false;
    }
    for (uint32_t i = 0; i < settings->named_count; i++) {
        if (getenv(settings->named[i]) == NULL)
            return rep_settings_refuse(settings, "the variable %s is not set", settings->named[i]);
    }
    return true;
}

/* ---- comparing ------------------------------------------------------------------------------- */

static const char *plain_word(const char *text)
{
    static const char *const WORDS[][2] = {{"true", "1"},  {"yes", "1"}, {"on", "1"},
                                           {"false", "0"}, {"no", "0"},  {"off", "0"}};
    for (size_t i = 0; i < REP_COUNT_OF(WORDS); i++) {
        if (strcasecmp(text, WORDS[i][0]) == 0)
            return WORDS[i][1];
    }
    return text;
}

static bool is_same(const char *asked, const char *found)
{
    long long left, right;
    asked = plain_word(asked);
    found = plain_word(found);
    if (rep_settings_number(asked, &left) && rep_settings_number(found, &right))
        return left == right;
    char *asked_end, *found_end; /* a rate: 0.5 */
    const double asked_real = strtod(asked, &asked_end), found_real = strtod(found, &found_end);
    if (*asked != '\0' && *asked_end == '\0' && *found != '\0' && *found_end == '\0')
        return asked_real >= found_real && asked_real <= found_real;
    return strcmp(asked, found) == 0;
}

static bool check_one(struct rep_settings *settings, struct rep_setting *setting)
{
    const bool tunable = strncmp(setting->name, "glibc.", 6) == 0;
    const struct rep_settings_kind *kind = tunable ? &rep_settings_kinds[REP_GLIBC] : kind_of(settings);
    if (setting->unread)
        return true;
    if (tunable && strncmp(setting->name, "glibc.malloc.", 13) == 0 && kind_of(settings) != kind)
        return rep_settings_refuse(settings, "the setting %s has no effect: malloc is not glibc's here",
                                   setting->name);
    if (kind == NULL || !kind->read(settings, setting))
        return rep_settings_refuse(settings,
                                   "the setting %s=%s cannot be proven: an allocator of kind '%s' does not "
                                   "know or does not tell '%s'",
                                   setting->name, setting->asked, settings->kind, setting->name);
    if (!is_same(setting->asked, setting->found))
        return rep_settings_refuse(settings, "the setting %s was asked to be '%s', but %s says '%s'",
                                   setting->name, setting->asked, setting->from, setting->found);
    return true;
}

bool rep_settings_check(struct rep_settings *settings)
{
    if (!gather(settings))
        return false;
    for (uint32_t i = 0; i < settings->count; i++) {
        if (!check_one(settings, &settings->list[i]))
            return false;
    }
    return true;
}

bool rep_settings_after(struct rep_settings *settings)
{
    const struct rep_settings_kind *kind = kind_of(settings);
    long long most = 0;
    if (kind == NULL || kind->arenas == NULL)
        return true;
    settings->arenas = kind->arenas();
    for (uint32_t i = 0; kind == &rep_settings_kinds[REP_GLIBC] && i < settings->count; i++)
        if (strcmp(settings->list[i].name, "glibc.malloc.arena_max") == 0 &&
            rep_settings_number(settings->list[i].found, &most) && most > 0)
            settings->arenas.most = (uint64_t)most;
    return most <= 0 || settings->arenas.made <= (uint64_t)most ||
           rep_settings_refuse(settings, "malloc was asked to have at most %lld arenas, but has %llu", most,
                               (unsigned long long)settings->arenas.made);
}
