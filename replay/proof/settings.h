/* settings.h - proof that the allocator runs with the settings that were asked for: each is read back from it.
 *
 *   setting    a name and a value in the allocator's own words: "opt.narenas" = "1"
 *   asked      as the environment, or an expectation of the candidate's, says it
 *   found      as the allocator says it
 *   variable   one of the environment; it may carry several settings (MALLOC_CONF) or one
 *
 * Most allocators ignore a misspelt setting in silence, and the figures would be another candidate's. So
 * a run whose settings cannot be read back, or read otherwise, fails before the first op. Nothing here uses the allocator
 * before that. */
#ifndef MALLAB_REPLAY_PROOF_SETTINGS_H
#define MALLAB_REPLAY_PROOF_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REP_SETTINGS_MAX     64u
#define REP_SETTING_TEXT_MAX 128u

struct rep_setting {
    char name[REP_SETTING_TEXT_MAX];
    char asked[REP_SETTING_TEXT_MAX];
    char found[REP_SETTING_TEXT_MAX]; /* "" when nobody tells, which only `unproven` lets pass */
    bool unread;                      /* nobody tells of it, and it may pass all the same */
    const char *from;                 /* who told: "mallctl", "mi_option_get", ...; "nobody" */
};

/* The number of arenas, which malloc's threads share out among themselves. 0: the allocator has none, or does not tell. */
struct rep_arenas {
    uint64_t most; /* that it would make */
    uint64_t made;
};

struct rep_settings {
    const char *kind; /* of proof, see allocator_proof.h */
    bool unproven;    /* variables that this kind is not known to read may pass, shown as such */
    uint32_t count;
    struct rep_setting list[REP_SETTINGS_MAX];
    const char *named[REP_SETTINGS_MAX]; /* variables that the candidate sets */
    uint32_t named_count;
    struct rep_arenas arenas; /* after the run */
    char why[1024];           /* the first thing that failed, for one line on stderr */
};

/* rep_settings_name - note a variable that the candidate sets: it must be proven whatever it is. Those that
 * the allocator's kind is known to read are looked at in any case. Borrowed. False: there are too many. */
bool rep_settings_name(struct rep_settings *settings, const char *variable);

/* rep_settings_expect - note "NAME=VALUE", which the allocator must confirm.
 * Returns   false when it is not of this form, too long or one too many. */
bool rep_settings_expect(struct rep_settings *settings, const char *text);

/* rep_settings_check - before the first op: read all back. kind must be set. Returns   false with why set. */
bool rep_settings_check(struct rep_settings *settings);

/* rep_settings_after - after the last measurement: count the arenas. Returns false, with why set, where glibc has more than asked. */
bool rep_settings_after(struct rep_settings *settings);

/* ---- between settings.c and settings_read.c ---------------------------------------------------- */

enum rep_allocator { REP_GLIBC, REP_JEMALLOC, REP_MIMALLOC, REP_TCMALLOC, REP_ALLOCATORS };

/* One of these for each kind of allocator. */
struct rep_settings_kind {
    const char *name; /* of proof */
    /* Only its library exports this: it tells the kind where `address` is all that is proven. */
    const char *symbol;
    const char *family; /* beginning of the variables that it reads; NULL: it has none */
    const char *list;   /* a variable that carries several settings; NULL: each carries one */
    char between, sign; /* of that list's settings; of a name and its value */
    const char *prefix; /* that the allocator wants before a name of the list */
    bool is_each;       /* each variable of the family is a setting */
    /* Fills found and from. Returns false when nobody tells: why may say more. */
    bool (*read)(struct rep_settings *settings, struct rep_setting *setting);
    struct rep_arenas (*arenas)(void); /* NULL: it does not tell */
};

extern const struct rep_settings_kind rep_settings_kinds[REP_ALLOCATORS];

/* rep_setting_set_by - the setting that this variable alone sets; NULL: none is known. */
const char *rep_setting_set_by(enum rep_allocator kind, const char *variable);

/* rep_settings_number - a whole decimal or 0x number, nothing behind it. */
bool rep_settings_number(const char *text, long long *ret_number);

/* rep_settings_refuse - set why, unless it is set. Returns false. */
bool rep_settings_refuse(struct rep_settings *settings, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#define REP_COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

#endif
