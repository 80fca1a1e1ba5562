/* recordings.h - the further recordings of a validation, each replayed for its memory alone.
 *
 *   first     the recording that the experiment is of (experiment.h): time and memory
 *   further   the same command recorded once more. Every candidate makes as many memory passes of it as of the first, on the
 *             recorded clock where it has one; no time is taken from them. What they come to: fidelity.h
 *   left out  a further recording that predicts nothing, with the reason: the first is always there
 *
 * A candidate that failed on the first has no further passes. One that fails on a further recording has no prediction from that
 * one, with the reason; its others count. */
#ifndef MALLAB_RESULTS_MEASURE_VALIDATE_RECORDINGS_H
#define MALLAB_RESULTS_MEASURE_VALIDATE_RECORDINGS_H

#include "results/measure/experiment/experiment.h"
#include "results/measure/validate/fidelity.h"

#define RES_RECORDINGS_MAX 20u /* the first among them */

/* The passes of one candidate over one further recording. */
struct res_recording_entry {
    struct res_levels runs[RES_MEMORY_PASSES]; /* resident, of each pass */
    size_t run_count;
    struct res_course course; /* of resident memory in the first pass; ours. No moments: count 0 */
    char *digest;             /* of the ops that the first pass executed; NULL: there was none */
    char *failed;             /* one line; NULL when it did not */
};

struct res_recording {
    unsigned number;                            /* from 2: the first is the experiment's */
    uint64_t ops, duration_ns, live_peak_bytes; /* of its workload; 0 where there is none */
    struct res_recording_entry *entries;        /* candidates in their order; NULL where it was left out */
    size_t entry_count;
    char *left_out; /* one line; NULL when it was not */
};

struct res_recordings {
    struct res_recording all[RES_RECORDINGS_MAX - 1]; /* further ones that were made, left out or not */
    size_t count;
    unsigned asked; /* the first among them; 0: never asked for */
    bool stopped;   /* before all that were asked for; none is in part */
};

struct res_recording_options {
    const struct res_workload *workload; /* made of the further recording; borrowed, like all */
    const struct res_trial *trial;       /* of the first */
    unsigned passes;                     /* of each candidate, > 0; no more than RES_MEMORY_PASSES */
    uint64_t seed, timeout_ns;           /* as of an experiment */
    const char *touch;
    volatile sig_atomic_t *stop;
    void (*progress)(void *context, const char *entry, size_t runs_done, size_t runs_all); /* may be NULL */
    void *context;
};

/* res_recordings_add - room for one more.
 * number  of it, from 2. Returns it, with nothing but that. At most RES_RECORDINGS_MAX - 1 times. */
struct res_recording *res_recordings_add(struct res_recordings *recordings, unsigned number);

/* res_recording_replay - make the passes, candidates in shuffled order. Where no candidate came through, the recording is left out.
 * Returns  false when it was stopped: what was measured is dropped. */
bool res_recording_replay(const struct res_recording_options *options, struct res_recording *recording);

/* res_recording_leave_out - why: one line, taken over; what was measured is dropped. */
void res_recording_leave_out(struct res_recording *recording, char *why);

/* res_recording_levels - medians of a candidate's passes; NAN without one. */
struct res_levels res_recording_levels(const struct res_recording_entry *entry);

/* res_recording_tell - of one candidate (place): the number, and what became of its passes. */
void res_recording_tell(const struct res_recording *recording, size_t place,
                        struct res_recording_prediction *ret);

/* res_recordings_tell - how many recordings predict, and what each was.
 * first  the workload of the first. */
void res_recordings_tell(const struct res_recordings *recordings, const struct res_workload *first,
                         struct res_validated *ret);

/* res_recordings_used - how many predict, the first among them. */
size_t res_recordings_used(const struct res_recordings *recordings);

/* res_recordings_drop_last - as if it had not been begun. */
void res_recordings_drop_last(struct res_recordings *recordings);
void res_recordings_release(struct res_recordings *recordings);

/* res_course_of_run - resident memory of a replay over its recorded time.
 * shared   samples that the runs have in common (struct res_trial); NULL: none.
 * Returns  a course to be ended with res_course_release; without moments where the run has no samples. */
struct res_course res_course_of_run(const struct res_run *run, const json_t *shared);
void res_course_release(struct res_course *course);

#endif
