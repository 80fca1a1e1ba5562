/* sampled.h - run a command for real and watch the memory of its processes from outside, to their last moment.
 *
 *   image       a process between two execs: what one footprint is a recording of
 *   anonymous   RssAnon: resident pages that no file backs
 *   end         as the process stood when it had executed its last instruction and still had its memory
 *
 * The command is traced by ptrace(2), for four kinds of moments only: a process or thread begins, executes another
 * program, ends (PTRACE_EVENT_EXIT: the kernel stops it while its memory is still there, so that the highest and the last
 * figures are exact and no sampling can miss them), or gets a signal, which is handed on. A preloaded reporter would see
 * neither _exit nor a death by signal, and would be one more library in the program. Between those moments the process runs
 * untouched; its figures are read from /proc at every step. Runs for time are others (timed.h).
 *
 * What ends with an exec has no exact peak: it is the highest of its samples.
 *
 *   group       all images of a name that are there at one time: what they hold together is the highest sum of a look at all of
 *               them, and files and shared memory once, as much as the one has that has most, as confirm_service.c
 *
 * The command gets a process group of its own, /dev/null as stdin and stdout, and a file as stderr. */
#ifndef MALLAB_RESULTS_MEASURE_WATCH_SAMPLED_H
#define MALLAB_RESULTS_MEASURE_WATCH_SAMPLED_H

#include <sys/types.h>

#include "results/measure/experiment/timed.h"

#define RES_IMAGES_MAX  4096u /* of one run; later ones run unwatched */
#define RES_IMAGE_NAMES 64u

struct res_image {
    pid_t pid;
    char called[RES_IMAGE_NAMES];     /* base name of its argv[0] */
    char executable[RES_IMAGE_NAMES]; /* base name of the file */
    bool ended;
    bool exact;          /* it was seen at its end, so that peak_bytes is the kernel's */
    const char *library; /* the first of those looked for that was mapped at its end; NULL: none */

    double peak_bytes;                         /* of the total: VmHWM */
    double file_peak_bytes, sample_peak_bytes; /* of the samples: of others than anonymous, and of these */
    double anonymous_bytes;                    /* of the last one */
};

struct res_sampled_request {
    struct res_command command;
    uint64_t step_ns;             /* between samples */
    const char *group;            /* the images that are added up, by this name; NULL: none */
    const char *const *libraries; /* paths whose mapping is looked for at the end, NULL behind; NULL: none */
};

struct res_sampled {
    int status; /* as from waitpid, of the command */
    struct res_image *images;
    size_t image_count;
    double
        together_bytes; /* the most that several of the group held at one time; 0: there were never several */
};

/* res_sampled_run - run it once to the end of its last process.
 * ret         filled on RES_REAL_OK; res_sampled_release drops it.
 * ret_reason  one line, the caller's to free, on RES_REAL_FAILED.
 * Not for processes with threads or with other children: it waits for all. */
enum res_real_state res_sampled_run(const struct res_sampled_request *request, struct res_sampled *ret,
                                    char **ret_reason);
void res_sampled_release(struct res_sampled *sampled);

#endif
