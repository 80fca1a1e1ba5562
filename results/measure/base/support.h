/* support.h - where it was before footprint/base had it; for the files that still name it here. */
#ifndef MALLAB_RESULTS_MEASURE_BASE_SUPPORT_H
#define MALLAB_RESULTS_MEASURE_BASE_SUPPORT_H

#include "footprint/base/support.h" /* IWYU pragma: export */

#endif
