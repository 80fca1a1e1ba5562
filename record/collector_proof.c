/* collector_proof.c - hold, look, signal. */
#include "record/collector_proof.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "convert/recording/recording_json.h"
#include "convert/recording/unfinished.h"
#include "footprint/base/places.h"
#include "footprint/base/process.h"
#include "footprint/base/segment_file.h"
#include "footprint/base/support.h"
#include "footprint/base/trusted.h"
#include "record/recording_words.h"

#define PROGRAM "mallab-collect"

/* ---- the process ------------------------------------------------------------------------------ */

/* The file that a process executes is the collector beside us; or is called so, and nobody but us and root made it. One that was
 * built anew meanwhile is called so with " (deleted)" behind it. */
static bool runs_collector(pid_t pid)
{
    char link[64], path[4096];
    struct stat executed, own;
    ssize_t length;
    char *program = res_own_program(PROGRAM);
    snprintf(link, sizeof link, "/proc/%d/exe", (int)pid);
    const bool found = stat(link, &executed) == 0;
    const bool same = found && program != NULL && stat(program, &own) == 0 && own.st_dev == executed.st_dev &&
                      own.st_ino == executed.st_ino;
    free(program);
    if (same || !found)
        return same;
    length = readlink(link, path, sizeof path - 1);
    if (length <= 0)
        return false;
    path[length] = '\0';
    const char *slash = strrchr(path, '/');
    const size_t name = strlen(PROGRAM);
    return slash != NULL && strncmp(slash + 1, PROGRAM, name) == 0 &&
           (slash[1 + name] == '\0' || strcmp(slash + 1 + name, " (deleted)") == 0) &&
           (executed.st_uid == 0 || executed.st_uid == geteuid());
}

static bool is_ours(pid_t pid)
{
    char path[64];
    struct stat facts;
    snprintf(path, sizeof path, "/proc/%d", (int)pid);
    return stat(path, &facts) == 0 && facts.st_uid == geteuid();
}

/* ---- the recording ---------------------------------------------------------------------------- */

static bool lock_is_held(const char *directory, const json_t *recording)
{
    const char *path = json_string_value(json_object_get(recording, "segment_path"));
    const int fd = fp_trusted_open(AT_FDCWD, directory, S_IFDIR, FP_TRUSTED_OWN, NULL);
    struct fp_segment_file segment;
    bool held = false;
    if (fd >= 0 && fp_segment_open(fd, path, FP_TRUSTED_OWN, &segment, NULL)) {
        held = fp_segment_is_held(segment.fd);
        fp_segment_close(&segment);
    }
    if (fd >= 0)
        close(fd);
    return held;
}

/* Why the process is not the recording's collector: by what recording.json says (boot, namespace, start time, copy), by the
 * lock, by the process itself. NULL: it is. */
static char *find_objection(pid_t pid, const char *directory, const json_t *recording)
{
    struct conv_survey *survey = res_calloc(1, sizeof *survey);
    struct conv_recording facts = {0};
    char *objection = NULL;
    if (conv_recording_take(recording, &facts))
        conv_unfinished_judge(&facts, directory, survey);
    conv_recording_release(&facts);
    if (survey->recording_state != CONV_RECORDING_GOING_ON)
        objection = res_printf("the recording in '%s' does not go on: %s", directory, survey->unfinished_why);
    else if (!lock_is_held(directory, recording))
        objection = res_printf(
            "the recording in '%s' does not go on: nobody holds the lock of its shared memory", directory);
    else if (!is_ours(pid) || !runs_collector(pid))
        objection = res_printf(
            "the collector of the recording in '%s' is not seen from here: process %d is another", directory,
            (int)pid);
    free(survey);
    return objection;
}

bool rec_proof_make(const char *directory, const json_t *recording, struct rec_proof *ret_proof,
                    char **ret_problem)
{
    const uint64_t number = rec_count(json_object_get(recording, "collector"), "pid");
    const pid_t pid = number <= INT32_MAX ? (pid_t)number : 0;
    *ret_proof = (struct rec_proof){.pidfd = pid > 0 ? fp_pidfd_open(pid)
                                                     : -1}; /* held first, then looked at */
    *ret_problem = find_objection(pid, directory, recording);
    if (*ret_problem == NULL && pid > 0) {
        ret_proof->collector = pid;
        if (!rec_proof_has_gone(ret_proof))
            return true;
    }
    ret_proof->collector = 0;
    if (*ret_problem == NULL)
        *ret_problem = res_printf("the recording in '%s' does not go on: its collector has just ended",
                                  directory);
    return false;
}

void rec_proof_release(struct rec_proof *proof)
{
    if (proof->pidfd >= 0)
        close(proof->pidfd);
    *proof = (struct rec_proof){.pidfd = -1};
}

bool rec_proof_signal(const struct rec_proof *proof, const char *directory, const json_t *recording,
                      int number)
{
    if (proof->collector <= 0) {
        errno = ESRCH;
        return false;
    }
    if (proof->pidfd >= 0)
        return fp_pidfd_signal(proof->pidfd, number);
    char *objection = find_objection(proof->collector, directory, recording);
    free(objection);
    if (objection != NULL) {
        errno = ESRCH;
        return false;
    }
    return kill(proof->collector, number) == 0;
}

bool rec_proof_has_gone(const struct rec_proof *proof)
{
    struct pollfd ended = {proof->pidfd, POLLIN, 0};
    if (proof->pidfd >= 0)
        return poll(&ended, 1, 0) > 0;
    return kill(proof->collector, 0) != 0 && errno == ESRCH;
}
