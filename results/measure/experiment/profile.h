/* profile.h - what a workload asks for: sizes, lifetimes, calls over recorded time and by thread.
 *
 * Read from the workload's file behind the timed runs, once, and kept in the result as `profile` (docs/notes/results.md), so
 * that a report can show the workload without its file. Of bounded size, however long the workload:
 * RES_PROFILE_CLASSES classes of size and of lifetime, RES_PROFILE_STEPS steps of time, RES_PROFILE_THREADS threads.
 *
 *   size class  up to 8 bytes, up to 16, up to 32, ...; requests of nothing are among the first
 *   lifetime    from an object's allocation to its release, resizes included, in recorded time; the classes are powers
 *               of two. Objects still live at the end, and those that were there before the recording, are counted apart
 *   step        an equal part of recorded time; of ops, where the workload has no times */
#ifndef MALLAB_RESULTS_MEASURE_EXPERIMENT_PROFILE_H
#define MALLAB_RESULTS_MEASURE_EXPERIMENT_PROFILE_H

#include <jansson.h>

#include "results/measure/experiment/experiment.h"
#include "results/measure/result/result.h"

#define RES_PROFILE_CLASSES 64u
#define RES_PROFILE_STEPS   400u
#define RES_PROFILE_THREADS 12u /* the busiest; the others are added up in one */

/* res_profile_of - read a workload's file from beginning to end: its `profile`. A new reference.
 * res_profile_add - read each workload of an experiment from beginning to end, for the `profile` of its result. Takes 16 bytes for each
 * object id of a file, and the reader's. What cannot be read, or takes more memory than there is, is an object that only holds
 * `unavailable`, one line. */
json_t *res_profile_of(const char *path);
void res_profile_add(struct res_result *result, const struct res_experiment *experiment);

#endif
