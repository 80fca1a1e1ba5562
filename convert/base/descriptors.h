/* descriptors.h - as many files open at once as the system lets this process have. Private to convert/.
 *
 * Each window of a process, and in a merge each process that runs at the time, is a footprint that stays open. The soft
 * limit protects programs that use select(), which converting does not; it is put back, since children inherit it. */
#ifndef MALLAB_CONVERT_BASE_DESCRIPTORS_H
#define MALLAB_CONVERT_BASE_DESCRIPTORS_H

#include "convert/convert.h"

/* conv_descriptors_raise - raise the soft limit to the hard one until conv_descriptors_lower was called as often. Where that
 * is not allowed nothing changes. */
void conv_descriptors_raise(void);
void conv_descriptors_lower(void);

/* conv_descriptors_failed - word that a footprint could not be opened for want of descriptors. Returns FP_ERR_LIMIT. */
enum fp_status conv_descriptors_failed(const char *path, struct conv_error *error);

#endif
