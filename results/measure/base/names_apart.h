/* names_apart.h - names for people of workloads that stand side by side, made different where the workloads are.
 *
 * What tells workloads apart is the key of label and digest, never a name: a thousand hosts that record one service all call its
 * workload the same. */
#ifndef MALLAB_RESULTS_MEASURE_BASE_NAMES_APART_H
#define MALLAB_RESULTS_MEASURE_BASE_NAMES_APART_H

#include <stddef.h>

/* One of them. */
struct res_named {
    char **name;        /* its own, replaced where it is not its alone */
    const char *label;  /* of the host; NULL: none */
    const char *digest; /* of the file; NULL: not known */
};

/* res_key_compare - the order of two keys, 0 where they are the same; a label and a digest that are not there come first. */
int res_key_compare(const char *label, const char *digest, const char *other_label, const char *other_digest);

/* res_names_apart - where several with different keys have one name, put the label before it, "web1/x.wl", and where that is not
 * enough the digest's first eight letters behind it. Those with one key keep one name.
 * named  is sorted. */
void res_names_apart(struct res_named *named, size_t count);

#endif
