/* flame_page.h - a profile as one HTML page that needs nothing else: stacks drawn by their values, with zoom, search, and a
 * switch of value; colours tell the ratio to what a value is compared with.
 *
 *   strings      of the profile
 *   frames       three numbers each: function, module, file; -1: not known
 *   node_frames  by node: its frame
 *   parents      by node: how far before it its parent stands; 0: it has none
 *   holders      nodes with a value of their own, each as what is to be added to the one before
 *   metrics      `own` has a number for each of them; of estimates `samples` and `variances`, too
 *
 * The page is put together when mallab is built, from flame.html, flame.js, flame.css and, of the report's page,
 * results/report/html/elements.js and report.css. Names are untrusted: they reach it as JSON in a script element of type
 * application/json, in which no byte can end the element, and from there only as text. A content security policy allows the
 * page its own script, by its hash, and no request. */
#ifndef MALLAB_SITES_SHOW_FLAME_PAGE_H
#define MALLAB_SITES_SHOW_FLAME_PAGE_H

#include "sites/show/site_profile.h"

/* site_flame_page - the page; the caller's to free. Recursion is left out, lines of one function add up.
 * shown  the metric that it begins with. The same profile gives the same bytes. */
char *site_flame_page(const struct site_profile *profile, uint32_t shown);

#endif
