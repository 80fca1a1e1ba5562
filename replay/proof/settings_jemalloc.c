/* settings_jemalloc.c - MALLOC_CONF, read back by mallctl.
 *
 * opt.* is what was asked for, once jemalloc has refused or cut what it cannot read. Where another name tells what came
 * of it, that one counts: 100000 arenas are asked for and 4094 made. Source: jemalloc(3), "TUNING" and "MALLCTL
 * NAMESPACE". */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "replay/base/own_process.h"
#include "replay/proof/settings.h"

/* Options whose value is a text; mallctl tells a size, which these share with numbers. */
static const char *const TEXTS[] = {
    "opt.metadata_thp",       "opt.dss",  "opt.percpu_arena", "opt.thp",
    "opt.zero_realloc",       "opt.junk", "opt.prof_prefix",  "opt.stats_print_opts",
    "opt.stats_interval_opts"};

/* "narenas:1,thp:always" */
static bool take(struct rep_settings *settings, const char *variable, const char *value)
{
    if (strcmp(variable, "MALLOC_CONF") != 0)
        return false;
    while (*value != '\0') {
        char name[REP_SETTING_TEXT_MAX];
        const size_t length = strcspn(value, ",");
        const char *colon = memchr(value, ':', length);
        const size_t name_length = colon != NULL ? (size_t)(colon - value) : 0;
        if (colon == NULL || name_length + sizeof "opt." > sizeof name)
            return rep_settings_refuse(settings, "'%.*s' in MALLOC_CONF is not 'name:value'",
                                       (int)(length < 80 ? length : 80), value);
        const int written = snprintf(name, sizeof name, "opt.%.*s", (int)name_length, value);
        if (!rep_settings_add(settings, name, (size_t)written, colon + 1, length - name_length - 1))
            return false;
        value += length + (value[length] == ',');
    }
    return true;
}

static bool is_text(const char *name)
{
    for (size_t i = 0; i < sizeof TEXTS / sizeof TEXTS[0]; i++) {
        if (strcmp(TEXTS[i], name) == 0)
            return true;
    }
    return false;
}

/* jemalloc tells the value in force of some options by another name than the value that was asked for. */
static const char *const IN_FORCE[][2] = {
    {"opt.narenas", "arenas.narenas"},
    {"opt.tcache", "thread.tcache.enabled"},
    {"opt.tcache_max", "arenas.tcache_max"},
    {"opt.dirty_decay_ms", "arena.0.dirty_decay_ms"},
    {"opt.muzzy_decay_ms", "arena.0.muzzy_decay_ms"},
    {"opt.dss", "arena.0.dss"},
    {"opt.background_thread", "background_thread"},
    {"opt.max_background_threads", "max_background_threads"},
    {"opt.prof_active", "prof.active"},
};

struct answer {
    size_t length; /* of the value: that tells its type */
    union {
        bool flag;
        unsigned number;
        ssize_t large; /* the unsigned ones that need the top bit do not occur */
        const char *text;
    } value;
};

typedef int mallctl_function(const char *, void *, size_t *, void *, size_t);

/* mallctl refuses with EINVAL a length that is not the value's own: that tells which type it has.
 * Returns 0 or what mallctl did. */
static int ask(mallctl_function *mallctl, const char *name, struct answer *ret_answer)
{
    static const size_t LENGTHS[] = {sizeof(bool), sizeof(unsigned), sizeof(size_t)};
    int error = EINVAL;
    for (size_t i = 0; i < sizeof LENGTHS / sizeof LENGTHS[0]; i++) {
        struct answer answer = {.length = LENGTHS[i]};
        error = mallctl(name, &answer.value, &answer.length, NULL, 0);
        if (error == 0 && answer.length == LENGTHS[i]) {
            *ret_answer = answer;
            return 0;
        }
        if (error == ENOENT)
            break;
    }
    return error != 0 ? error : EINVAL;
}

/* The arena of large objects is one besides those that are asked for; older versions have none. */
static unsigned arenas_besides(mallctl_function *mallctl)
{
    struct answer threshold;
    return ask(mallctl, "opt.oversize_threshold", &threshold) == 0 && threshold.length == sizeof(size_t) &&
           threshold.value.large != 0;
}

/* The answer of what is in force, unless nobody tells; older versions do not know each name. */
static void ask_in_force(mallctl_function *mallctl, const char *name, struct answer *answer)
{
    for (size_t i = 0; i < sizeof IN_FORCE / sizeof IN_FORCE[0]; i++) {
        if (strcmp(IN_FORCE[i][0], name) == 0 && ask(mallctl, IN_FORCE[i][1], answer) == 0 && i == 0)
            answer->value.number -= arenas_besides(mallctl);
    }
}

static void spell(const struct answer *answer, struct rep_setting *setting)
{
    if (answer->length == sizeof(bool))
        snprintf(setting->found, sizeof setting->found, "%s", answer->value.flag ? "true" : "false");
    else if (answer->length == sizeof(unsigned))
        snprintf(setting->found, sizeof setting->found, "%u", answer->value.number);
    else if (is_text(setting->name))
        snprintf(setting->found, sizeof setting->found, "%s",
                 answer->value.text != NULL ? answer->value.text : "");
    else
        snprintf(setting->found, sizeof setting->found, "%zd", answer->value.large);
}

static struct rep_arenas arenas(void)
{
    mallctl_function *mallctl;
    struct answer answer;
    struct rep_arenas found = {0};
    uint64_t epoch = 1; /* written, it brings what is told of arenas up to date */
    if (!rep_symbol("mallctl", &mallctl) || mallctl("epoch", NULL, NULL, &epoch, sizeof epoch) != 0 ||
        ask(mallctl, "arenas.narenas", &answer) != 0)
        return found;
    found.most = answer.value.number - arenas_besides(mallctl);
    for (uint64_t i = 0; i < found.most; i++) {
        char name[48];
        snprintf(name, sizeof name, "arena.%llu.initialized", (unsigned long long)i);
        found.made += ask(mallctl, name, &answer) == 0 && answer.value.flag;
    }
    return found;
}

static bool read_back(struct rep_settings *settings, struct rep_setting *setting)
{
    mallctl_function *mallctl;
    struct answer answer;
    if (!rep_symbol("mallctl", &mallctl))
        return false;
    const int error = ask(mallctl, setting->name, &answer);
    if (error == ENOENT)
        return rep_settings_refuse(
            settings, "the setting %s=%s cannot be proven: this jemalloc has no '%s'; is it spelt right?",
            setting->name, setting->asked, setting->name);
    if (error != 0)
        return false;
    ask_in_force(mallctl, setting->name, &answer);
    spell(&answer, setting);
    setting->from = "mallctl";
    return true;
}

/* The report lists the options at its top, "  opt.narenas: 8"; "mdablxeh" leaves out all else. */
static void look_for_option(void *told, const char *text)
{
    static char line[REP_SETTING_TEXT_MAX]; /* it comes in pieces */
    static size_t length;
    static const char HEAD[] = "  opt.";
    rep_settings_told *const *tell = told;
    for (; *text != '\0'; text++) {
        if (*text == '\n') {
            line[length] = '\0';
            const size_t name_length = strcspn(line, ":");
            if (strncmp(line, HEAD, sizeof HEAD - 1) == 0 && line[name_length] == ':')
                (*tell)(line + sizeof HEAD - 1, name_length - (sizeof HEAD - 1));
            length = 0;
        } else if (length + 1 < sizeof line) {
            line[length++] = *text;
        }
    }
}

static void names(rep_settings_told *told)
{
    void (*print)(void (*)(void *, const char *), void *, const char *);
    if (rep_symbol("malloc_stats_print", &print))
        print(look_for_option, &told, "mdablxeh");
}

const struct rep_settings_kind rep_settings_jemalloc = {.kind = "jemalloc",
                                                        .symbol = "mallctl",
                                                        .family = "MALLOC_CONF",
                                                        .take = take,
                                                        .read = read_back,
                                                        .arenas = arenas,
                                                        .names = names};
