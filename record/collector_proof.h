/* collector_proof.h - that a process is the collector of a recording, before anything is sent to it.
 *
 * recording.json only names a process id. A signal goes to a process that is held by a descriptor, so that it cannot become another
 * one, and that was seen, while it was held, to be ours, to run mallab-collect, and to have started when the file says;
 * while the lock of the recording's segment is held. */
#ifndef MALLAB_RECORD_COLLECTOR_PROOF_H
#define MALLAB_RECORD_COLLECTOR_PROOF_H

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

struct rec_proof {
    pid_t collector; /* 0: none is proven */
    int pidfd;       /* -1: the kernel has none; then it is proven again before each signal */
};

/* rec_proof_make - hold and prove the collector of a recording.
 * directory     the recording's, which must be ours.
 * recording     its recording.json, as it was read last.
 * ret_problem   on failure one line that says what is against it; the caller's to free.
 * Returns       whether it is proven. End it with rec_proof_release, whatever it returned. */
bool rec_proof_make(const char *directory, const json_t *recording, struct rec_proof *ret_proof,
                    char **ret_problem);
void rec_proof_release(struct rec_proof *proof);

/* rec_proof_signal - send a signal to the proven collector. Returns false with errno set; ESRCH: it has gone. */
bool rec_proof_signal(const struct rec_proof *proof, const char *directory, const json_t *recording,
                      int number);

/* rec_proof_has_gone - whether the proven collector has ended, waited for or not. */
bool rec_proof_has_gone(const struct rec_proof *proof);

#endif
