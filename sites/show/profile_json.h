/* profile_json.h - a profile as JSON: in a flame page, and in a result.
 *
 *   strings      of the profile
 *   frames       three numbers each: function, module, file; -1: not known
 *   node_frames  by node: its frame
 *   parents      by node: how far before it its parent stands; 0: it has none
 *   holders      nodes with a value of their own, each as what is to be added to the one before
 *   metrics      `own` has a number for each of them; of estimates `samples` and `variances`, too */
#ifndef MALLAB_SITES_SHOW_PROFILE_JSON_H
#define MALLAB_SITES_SHOW_PROFILE_JSON_H

#include <jansson.h>

#include "footprint/base/support.h"
#include "sites/show/site_profile.h"

#define SITE_METRICS_MAX 256u /* of a profile that is read */

/* site_profile_put - add a profile to text. No byte of it could end a script element. shown: the metric to begin with. */
void site_profile_put(struct res_text *out, const struct site_profile *profile, uint32_t shown);

/* site_profile_json - the same as a JSON object, recursion left out and functions without lines. A new reference. */
json_t *site_profile_json(const struct site_profile *profile);

/* site_profile_read - a profile that JSON holds; anything may stand there.
 * ret_profile  to be released. Returns false, with nothing in it, where that is no profile. */
bool site_profile_read(const json_t *json, struct site_profile *ret_profile);

#endif
