/* sites.h - call sites of a process that was recorded with call stacks (mallab record --sites).
 *
 * One pass over a recording gives the counts of each call site; stacks and modules are those of its footprints, one list for
 * all windows of the process. Names of addresses are the business of sites/names. Nothing here prints. */
#ifndef MALLAB_CONVERT_SITES_SITES_H
#define MALLAB_CONVERT_SITES_SITES_H

#include <stdbool.h>
#include <stdint.h>

#include "convert/base/error.h"
#include "convert/base/request.h"
#include "convert/base/survey_counts.h"
#include "convert/sites/site_tally.h"
#include "footprint/fp/fp_sites.h"

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
