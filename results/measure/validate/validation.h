/* validation.h - run a real program under each candidate, for its time and for its memory, rounds interleaved.
 *
 *   timed run     whole-process time (timed.h), every round, and the baseline a second time as control
 *   sampled run   memory (sampled.h), in the first rounds: it repeats better than time. In all rounds, and for the control
 *                 too, where the recorded process is one of several: then its processor time comes from there as well
 *   mapped run    a sampled run that tells the heap from the program's own mappings (smaps.h), which costs it time
 *   startup run   a sampled run of a program that never calls malloc, true(1): what the allocator takes by itself
 *
 * Before the first round the program runs once uncounted under every candidate, sampled. The candidate's library is always
 * preloaded, the C library for glibc's own malloc too: programs that are linked against another allocator then run on
 * glibc's as well.
 * An entry that fails (it ends otherwise than the recorded run, its library is not in the process, the process that was
 * recorded is not there) is out, with the reason; the others go on. */
#ifndef MALLAB_RESULTS_MEASURE_VALIDATE_VALIDATION_H
#define MALLAB_RESULTS_MEASURE_VALIDATE_VALIDATION_H

#include "results/measure/experiment/experiment.h"
#include "results/measure/experiment/timed.h"
#include "results/measure/validate/recordings.h"
#include "results/measure/validate/sampled.h"

#define RES_MEMORY_ROUNDS 5u /* sampled runs of each candidate, at most, where time is not taken from them */
#define RES_MAPPED_ROUNDS 3u

struct res_validation_options {
    const char *path;       /* of the program; arguments: argv */
    char *const *arguments; /* borrowed, like all */
    const char *process;    /* name of the process that was recorded */
    bool only_process;      /* it was the only one: the whole command's time is its time */
    int exit_code;          /* of the recorded run; 128 + signal */
    const char *directory;  /* for what runs leave behind */
    const char *hyperfine;  /* its path; NULL: not there */
    const char *apart;      /* path of libmallab-apart.so; NULL: not there, and all without a name is heap */
    const struct res_candidate *const *candidates; /* resolved and found; the first is the baseline */
    size_t candidate_count;                        /* > 0 */
    unsigned rounds;                               /* > 0 */
    uint64_t seed, timeout_ns, step_ns;
    volatile sig_atomic_t *stop;
    void (*progress)(void *context, const char *what, const char *entry, unsigned round, size_t runs_done,
                     size_t runs_all); /* before each run; round 0 is the warm-up */
    void *context;
};

struct res_validation_entry {
    const struct res_candidate *candidate;
    bool is_control;
    struct res_timed *timed; /* one of each finished round, or less when it failed on the way */
    size_t timed_count;
    struct res_image *images; /* of the process that was recorded */
    size_t image_count;
    struct res_image *mapped; /* the same of the mapped runs */
    size_t mapped_count;
    double startup_heap_bytes;      /* NAN: unknown, and the files too */
    struct res_files startup_files; /* what the startup run held besides */
    char *failed;                   /* one line; NULL when it did not */
};

struct res_validation {
    struct res_validation_options options; /* as given: its pointers stay borrowed */
    struct res_validation_entry *entries;  /* candidates in their order, then the control */
    size_t entry_count;
    size_t alike;    /* processes by the recorded one's name, in the baseline's last sampled run */
    unsigned rounds; /* finished */
    bool stopped;
    struct res_recordings
        further; /* none behind res_validation_run: filled by who records the program again */
};

/* res_validation_run - run it all but for further recordings. ret is always filled; ends with res_validation_release. */
void res_validation_run(const struct res_validation_options *options, struct res_validation *ret);
void res_validation_release(struct res_validation *validation);

#endif
