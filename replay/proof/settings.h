/* settings.h - proof that the allocator runs with the settings that were asked for: each is read back from it.
 *
 *   setting    a name and a value in the allocator's own words: "opt.narenas" = "1"
 *   asked      as the environment, or an expectation of the candidate's, says it
 *   found      as the allocator says it
 *   variable   one of the environment; it may carry several settings (MALLOC_CONF) or one
 *
 * Most allocators ignore a misspelt setting in silence, and the figures would be another candidate's. So
 * a run whose settings cannot be read back, or read otherwise, fails before the first op.
 *
 * jemalloc tells by mallctl, mimalloc by mi_option_get, tcmalloc by its properties and flags. glibc has no
 * such call: its loader lists the tunables that it accepted. Nothing here uses the allocator before the first op. */
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

/* rep_settings_names - tell which settings the allocator knows, each as a user names it behind "CANDIDATE+": "narenas". kind
 * must be set. For people: it may use stdio and the allocator, so nothing is to be measured afterwards.
 * told      called for each; the name is valid during the call, length bytes, not terminated. */
typedef void rep_settings_told(const char *name, size_t length);
void rep_settings_names(const struct rep_settings *settings, rep_settings_told *told);

/* ---- for the files settings_*.c -------------------------------------------------------------- */

/* One of these for each kind of allocator. */
struct rep_settings_kind {
    const char *kind;
    /* Only its library exports this: it tells the kind where `address` is all that is proven. */
    const char *symbol;
    const char *family; /* beginning of the variables that it reads; NULL: only those that take() accepts */
    /* Put the settings of a variable onto the list. Returns false, why untouched, when it reads no such variable;
     * also false, why set, when the value cannot be understood. */
    bool (*take)(struct rep_settings *settings, const char *variable, const char *value);
    /* Fill found and from. Returns false when nobody tells: why may say more. */
    bool (*read)(struct rep_settings *settings, struct rep_setting *setting);
    struct rep_arenas (*arenas)(void);      /* NULL: it does not tell */
    void (*names)(rep_settings_told *told); /* as rep_settings_names */
};

extern const struct rep_settings_kind rep_settings_glibc, rep_settings_jemalloc, rep_settings_mimalloc,
    rep_settings_tcmalloc;

/* rep_settings_add - append; a name that is there already gets the new value, as the last one counts.
 * Returns   false with why set when a text is too long, or there are too many. */
bool rep_settings_add(struct rep_settings *settings, const char *name, size_t name_length, const char *value,
                      size_t value_length);

/* rep_settings_number - a whole decimal or 0x number, nothing behind it. */
bool rep_settings_number(const char *text, long long *ret_number);

/* rep_listing_read - run a program to its end and keep what it prints, standard output and error together.
 * path, argument  the program and its only argument.
 * variable        "NAME=VALUE" to add to this process's environment, or NULL.
 * Returns         the text, in static storage that the next call overwrites; what is beyond 32 KiB is
 *                 dropped. NULL when it could not be started or printed nothing. */
const char *rep_listing_read(const char *path, const char *argument, const char *variable);

/* rep_settings_refuse - set why, unless it is set. Returns false. */
bool rep_settings_refuse(struct rep_settings *settings, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
