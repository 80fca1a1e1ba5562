/* sites.h - the allocations of each call site, and their fate: a sink that counts and hands on (site_tally.c), a pass with it.
 *
 *   site     as a footprint numbers them (footprint/fp/fp_sites.h); 0 stands for all whose stack is not known
 *   peak     the moment when most bytes were live in the process: what each site had then
 *   soon     at most CONV_SOON_CALLS calls of the process lie between an object's allocation and its release
 *   end      the last event that was handed over; ages and quarters are of it
 *
 * A resize ends its object and makes another, of the site that resized. Memory: 24 bytes an object that is live, besides the
 * table of addresses, and about 500 bytes a site; both are counted against the bound of memory. */
#ifndef MALLAB_CONVERT_SITES_SITES_H
#define MALLAB_CONVERT_SITES_SITES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "convert/base/error.h"
#include "convert/base/request.h"
#include "convert/base/survey_counts.h"
#include "convert/ops/track.h"
#include "footprint/fp/fp_sites.h"

/* ---- figures of call sites where only a sample of objects is recorded (footprint/fp/fp_sites.h) --
 *
 * An object that was chosen with the probability p stands for 1 / p objects (Horvitz and Thompson): each by its own size, and then
 * they are summed. So a figure has no bias, and the sum of (1 - p) / p^2, of bytes times their square, none as its variance. */

#define CONV_SAMPLES_LEAST 10 /* fewer tell no more than an upper bound */

/* The number of objects that one stands for, and what that adds to the variance of their number. */
struct conv_site_weight {
    double objects, variance;
};

/* The basis of a figure. If all allocations have their stack there is no variance. */
struct conv_site_basis {
    double samples;
    double objects_variance, bytes_variance;
};

/* The range of a figure. */
struct conv_site_range {
    bool is_told;     /* false: it is not to be shown, but for `high` */
    double low, high; /* 95 of 100 such ranges hold the true figure; high may be infinite */
};

/* conv_site_share - the probability with which an allocation of so many bytes is sampled, above 0, at most 1. */
double conv_site_share(uint64_t bytes, uint64_t mean);

/* conv_site_range - the range of a figure that rests on so many samples and has that variance. Without variance it is exact, and one that rests
 * on fewer than CONV_SAMPLES_LEAST is told only where they are so large that hardly any can have been missed. */
struct conv_site_range conv_site_range(double figure, double samples, double variance);

/* conv_site_peak_range - likewise of what was live when most was. By the same estimates that moment is found, which are too high
 * there: it goes down twice as far. */
struct conv_site_range conv_site_peak_range(double figure, double samples, double variance);

#define CONV_SOON_CALLS    100u
#define CONV_LIFE_CLASSES  48u /* class k: 2^k .. 2^(k+1) - 1 ns; the last one also what is longer */
#define CONV_SITE_QUARTERS 4u

/* Figures are whole numbers; of a sample they are estimates, and no whole ones. Each sampled object stands for as many as its
 * size was unlikely to be sampled. */
struct conv_site_counts {
    uint32_t site;                   /* fp_sites.h; 0: not known */
    double allocations, bytes;       /* resizes too, with all that they return */
    double resized;                  /* objects that ended by a resize */
    double freed, freed_soon;        /* objects; of them, soon, which of a sample is not known: NAN */
    double freed_elsewhere;          /* by another thread than the one that allocated */
    double live_objects, live_bytes; /* at the end */
    double peak_objects, peak_bytes; /* at the process' peak */
    uint64_t least_size, most_size;  /* of allocations; of a sample, of those in it */
    struct conv_site_basis made, live,
        peak;             /* of the figures of all, of those that live, of those at the peak */
    uint64_t oldest_ns;   /* age of the oldest object that is live; 0: none is */
    double overdue_bytes; /* live, and older than 99.9 % of the site's freed objects became */
    double quarter_bytes
        [CONV_SITE_QUARTERS]; /* live at the end, by the quarter of the time in which they were made */
    uint32_t lives[CONV_LIFE_CLASSES]; /* freed objects by their age then */
};

/* An object that is live. */
struct conv_site_object {
    uint64_t birth_ns;
    uint64_t birth_call; /* number of the call among the process' */
    uint32_t counts;     /* of its site */
    uint32_t lane;
};

struct conv_site_tally {
    struct conv_sink next;
    struct conv_track track; /* the tag, a number of the table, is an index into objects */
    struct conv_site_object *objects;
    size_t object_capacity;
    uint32_t *of_site; /* by site: its counts + 1; 0: none yet */
    size_t site_capacity;
    struct conv_site_counts *counts;
    uint64_t *lives; /* as counts: at which peak its peak figures were taken last */
    size_t count, capacity, lives_capacity;
    uint64_t sample_bytes; /* as in struct conv_survey; to be set before the first event */
    uint64_t calls, now_ns;
    double live_bytes, peak_bytes; /* of a sample, estimates */
    uint64_t peak_ns;
    uint64_t peaks; /* so many times there was more than ever */
};

/* conv_site_tally_init - nothing is alive. Returns false: no memory; conv_site_tally_release accepts it in either case. The
 * struct stays where it is until then. */
bool conv_site_tally_init(struct conv_site_tally *tally);
void conv_site_tally_release(struct conv_site_tally *tally);

/* conv_site_tally_sink - the tally as a sink, in front of next. Errors: FP_ERR_MEMORY, and next's. */
struct conv_sink conv_site_tally_sink(struct conv_site_tally *tally, struct conv_sink next);

/* conv_site_tally_end - at tally->now_ns what is live is looked at, object by object, and the counts are whole.
 * from_ns, until_ns  of the objects only those count as live that were made from the one on and before the other.
 * Returns            false: no memory. Sites are in their order then, and no event may follow. */
bool conv_site_tally_end(struct conv_site_tally *tally, uint64_t from_ns, uint64_t until_ns);

/* conv_site_life_ns - the age below which so large a share of a site's freed objects were freed: an upper bound, as classes
 * are wide. 0: none was freed. */
uint64_t conv_site_life_ns(const struct conv_site_counts *counts, double share);

/* ---- call sites of a process that was recorded with call stacks (mallab record --sites) -------------
 *
 * One pass over a recording gives the counts of each call site; stacks and modules are those of its footprints, one list for
 * all windows of the process. Names of addresses are the business of sites/names. Nothing here prints. */

/* The ages of objects that count as live at the end. Zeroes: all. The recording's clock begins with it, also where
 * its first windows are gone. */
struct conv_sites_ages {
    struct conv_when since; /* made from that moment on */
    uint64_t older_ns;      /* so old at least */
    uint64_t from_ns;       /* made at that time of the recording's clock, or later */
    uint64_t now_ns;        /* what that clock shows, of a recording that goes on; 0: not known */
};

struct conv_sites {
    struct conv_survey survey;       /* of the pass */
    struct conv_site_counts *counts; /* by site; 0, where there is one, first. What was not chosen has none */
    size_t count;
    double all_live_bytes;  /* at the end, of any age */
    uint64_t peak_ns;       /* when the process' peak was */
    uint64_t end_ns;        /* of what was read: of the recording, or the section */
    uint64_t whole_ns;      /* the recording's end; 0: not known */
    uint64_t since_ns;      /* what counts as live was made then or later */
    uint64_t until_ns;      /* and before this, by the recording's clock */
    const char *executable; /* the program's path; "": not known */
    struct fp_sites stacks;
    struct fp_stacks owner; /* of both */
};

/* conv_sites_file - read a footprint or a recording for its sites.
 * path      as in conv_file.
 * options   which process, which section. borrowed. NULL: the defaults.
 * ages      of what is live, those that count. NULL: all.
 * ret_sites filled on FP_OK; end it with conv_sites_release.
 * Returns   as conv_file; FP_ERR_FOREIGN for an input without call stacks. */
enum fp_status conv_sites_file(const char *path, const struct conv_options *options,
                               const struct conv_sites_ages *ages, struct conv_sites *ret_sites,
                               struct conv_error *ret_error);
void conv_sites_release(struct conv_sites *sites);

#endif
