/* settings.c - settings that were asked for, gathered, and compared with those that were found. */
#include "replay/proof/settings.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>
#include <unistd.h>

#include "replay/base/own_process.h"

extern char **environ;

#define VARIABLES_MAX     4096u
#define LISTING_BYTES_MAX 32768u
#define LISTING_SECONDS   10u /* a program that takes longer to print its list is ended */

static const char TUNABLES[] = "GLIBC_TUNABLES"; /* the loader reads it whatever the allocator is */

/* ---- helpers of the settings_*.c ------------------------------------------------------------- */

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

bool rep_settings_add(struct rep_settings *settings, const char *name, size_t name_length, const char *value,
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

/* ---- what another program of this environment prints, without malloc --------------------------- */

/* Runs in the child of vfork, which shares our memory: it writes to its variables and `variables` only. */
__attribute__((noreturn)) static void become(char **arguments, char *variable, int out)
{
    static char *variables[VARIABLES_MAX];
    size_t count = 0;
    for (; environ[count] != NULL && count + 2 < VARIABLES_MAX; count++)
        variables[count] = environ[count];
    variables[count] = variable; /* NULL ends the list one earlier */
    variables[count + 1] = NULL;
    const int null = open("/dev/null", O_RDONLY);
    (void)alarm(LISTING_SECONDS); /* exec keeps it */
    if (null >= 0 && dup2(null, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0 &&
        dup2(out, STDERR_FILENO) >= 0)
        execve(arguments[0], arguments, variables);
    _exit(127);
}

static pid_t start(char **arguments, char *variable, int out)
{
    const pid_t child = vfork(); /* no handlers of the allocator's run, as they would at fork */
    if (child == 0)
        become(arguments, variable, out);
    return child;
}

/* All that comes until the end; what has no room is read too, or the child would wait for ever. */
static size_t read_all(int fd, char *text, size_t size)
{
    char rest[4096];
    size_t length = 0;
    for (;;) {
        const bool full = length == size;
        const ssize_t count = full ? read(fd, rest, sizeof rest) : read(fd, text + length, size - length);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return length;
        length += full ? 0 : (size_t)count;
    }
}

const char *rep_listing_read(const char *path, const char *argument, const char *variable)
{
    static char text[LISTING_BYTES_MAX], words[3][PATH_MAX];
    char *arguments[] = {words[0], words[1], NULL};
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return NULL;
    snprintf(words[0], sizeof words[0], "%s", path);
    snprintf(words[1], sizeof words[1], "%s", argument);
    snprintf(words[2], sizeof words[2], "%s", variable != NULL ? variable : "");
    const pid_t child = start(arguments, variable != NULL ? words[2] : NULL, ends[1]);
    (void)close(ends[1]); /* nothing was written by us */
    const size_t length = child > 0 ? read_all(ends[0], text, sizeof text - 1) : 0;
    (void)close(ends[0]); /* it was only read */
    while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
        continue;
    text[length] = '\0';
    return length > 0 ? text : NULL;
}

/* ---- gathering ------------------------------------------------------------------------------- */

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
    return sign != NULL &&
           rep_settings_add(settings, text, (size_t)(sign - text), sign + 1, strlen(sign + 1));
}

/* Tells whether the library that malloc comes from has this symbol. */
static bool serves_malloc(const char *symbol)
{
    const void *library = rep_library_of(symbol);
    return library != NULL && library == rep_library_of("malloc");
}

static const struct rep_settings_kind *kind_of(const struct rep_settings *settings)
{
    static const struct rep_settings_kind *const KINDS[] = {&rep_settings_glibc, &rep_settings_jemalloc,
                                                            &rep_settings_mimalloc, &rep_settings_tcmalloc};
    for (size_t i = 0; i < sizeof KINDS / sizeof KINDS[0]; i++) {
        if (strcmp(KINDS[i]->kind, settings->kind) == 0 ||
            (strcmp(settings->kind, "address") == 0 && serves_malloc(KINDS[i]->symbol)))
            return KINDS[i];
    }
    return NULL;
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
    if (settings->unproven && rep_settings_add(settings, variable, strlen(variable), value, strlen(value))) {
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
    const bool named = is_named(settings, variable);
    if (strcmp(variable, TUNABLES) == 0)
        kind = &rep_settings_glibc;
    const bool family = kind != NULL && kind->family != NULL &&
                        strncmp(variable, kind->family, strlen(kind->family)) == 0;
    if (kind != NULL && kind->take(settings, variable, value))
        return true;
    if (settings->why[0] != '\0')
        return false;
    return !named && !family ? true : pass_unproven(settings, variable, value);
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
    for (size_t i = 0; i < sizeof WORDS / sizeof WORDS[0]; i++) {
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
    const struct rep_settings_kind *kind = tunable ? &rep_settings_glibc : kind_of(settings);
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
    for (uint32_t i = 0; kind == &rep_settings_glibc && i < settings->count; i++)
        if (strcmp(settings->list[i].name, "glibc.malloc.arena_max") == 0 &&
            rep_settings_number(settings->list[i].found, &most) && most > 0)
            settings->arenas.most = (uint64_t)most;
    return most <= 0 || settings->arenas.made <= (uint64_t)most ||
           rep_settings_refuse(settings, "malloc was asked to have at most %lld arenas, but has %llu", most,
                               (unsigned long long)settings->arenas.made);
}

void rep_settings_names(const struct rep_settings *settings, rep_settings_told *told)
{
    const struct rep_settings_kind *kind = kind_of(settings);
    if (kind != NULL)
        kind->names(told);
}
