/* sites.h - call sites of a process that was recorded with call stacks (mallab record --sites).
 *
 * One pass over a recording gives the counts of each call site; stacks and modules are those of its footprints, one list for
 * all windows of the process. Names of addresses are the business of sites/names. Nothing here prints. */
#ifndef MALLAB_CONVERT_SITES_SITES_H
#define MALLAB_CONVERT_SITES_SITES_H

#include <stdbool.h>
#include <stdint.h>

#include "convert/base/error.h"
#include "convert/base/process_stacks.h"
#include "convert/base/request.h"
#include "convert/base/survey_counts.h"
#include "footprint/fp/fp_sites.h"

/* ---- figures of call sites where only a sample of allocations has its stack (footprint/fp/fp_sites.h) --
 *
 * An object that was sampled with the probability p stands for 1 / p objects (Horvitz and Thompson): each by its own size, and then
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

/* conv_site_weight - the weight of an object of so many bytes; mean 0: of itself. */
struct conv_site_weight conv_site_weight(uint64_t bytes, uint64_t mean);

/* conv_site_rest_on - a figure rests on one more object, or, with -1, no longer on it. */
void conv_site_rest_on(struct conv_site_basis *basis, struct conv_site_weight weight, uint64_t bytes,
                       int times);

/* conv_site_range - the range of a figure that rests on so many samples and has that variance. Without variance it is exact, and one that rests
 * on fewer than CONV_SAMPLES_LEAST is told only where they are so large that hardly any can have been missed. */
struct conv_site_range conv_site_range(double figure, double samples, double variance);

#define CONV_SOON_CALLS    100u
#define CONV_LIFE_CLASSES  48u /* class k: 2^k .. 2^(k+1) - 1 ns; the last one also what is longer */
#define CONV_SITE_QUARTERS 4u

/* Figures are whole numbers; of a sample they are estimates, and no whole ones. Each sampled object stands for as many as its
 * size was unlikely to be sampled. */
struct conv_site_counts {
    uint32_t site;                   /* fp_sites.h; 0: not known */
    double allocations, bytes;       /* resizes too, with all that they return */
    double resized;                  /* objects that ended by a resize */
    double freed, freed_soon;        /* objects; of them, soon */
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

/* The ages of objects that count as live at the end. Zeroes: all. The recording's clock begins with it, also where
 * its first windows are gone. */
struct conv_sites_ages {
    struct conv_when since; /* made from that moment on */
    uint64_t older_ns;      /* so old at least */
    uint64_t from_ns;       /* made at that time of the recording's clock, or later */
    uint64_t now_ns;        /* what that clock shows, of a recording that goes on; 0: not known */
};

struct conv_sites {
    struct conv_survey survey; /* of the pass */
    uint64_t sample_bytes;     /* one allocation for so many bytes has its stack (fp_sites.h); 0: all have */
    struct conv_site_counts
        *counts; /* by number of site; 0, where there is one, first. What was not sampled has none */
    size_t count;
    /* Totals of the process, which are no estimates. */
    uint64_t live_bytes, live_objects; /* at the end, of those ages */
    uint64_t all_live_bytes;           /* at the end, of any age */
    uint64_t peak_bytes, peak_ns;      /* the process' peak, and when it was */
    uint64_t end_ns;                   /* of what was read: of the recording, or the section */
    uint64_t whole_ns;                 /* the recording's end; 0: not known */
    uint64_t since_ns;                 /* what counts as live was made then or later */
    uint64_t until_ns;                 /* and before this, by the recording's clock */
    uint64_t allocations, bytes;
    const char *executable; /* the program's path; "": not known */
    struct fp_sites stacks;
    struct conv_stacks owner; /* of both */
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

/* conv_site_life_ns - the age below which so large a share of a site's freed objects were freed: an upper bound, as classes
 * are wide. 0: none was freed. */
uint64_t conv_site_life_ns(const struct conv_site_counts *counts, double share);

#endif
