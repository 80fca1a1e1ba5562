/* unfinished.c - the collector that recording.json names, looked for. */
#include "convert/recording/recording_json.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "footprint/base/proc.h"
#include "footprint/base/segment_file.h"

static bool is_this_boot(const struct conv_recording *recording)
{
    const char *recorded = recording->collector.boot_id;
    char boot[FP_BOOT_BYTES];
    return recorded != NULL && recorded[0] != '\0' && strcmp(recorded, fp_proc_boot(boot)) == 0;
}

static bool is_this_namespace(const struct conv_recording *recording)
{
    const uint64_t recorded = recording->collector.pid_namespace;
    struct stat mine;
    return recorded == 0 || stat("/proc/self/ns/pid", &mine) != 0 || mine.st_ino == recorded;
}

static bool is_copy(const struct conv_recording *recording, const char *directory)
{
    const uint64_t recorded = recording->collector.directory_inode;
    struct stat found;
    return recorded != 0 && stat(directory, &found) == 0 && found.st_ino != recorded;
}

/* The same process, by its start time, and not one that is dead and only not waited for. */
static bool runs(uint32_t pid, uint64_t start_ticks)
{
    struct fp_proc_stat stat;
    if (pid == 0 || (kill((pid_t)pid, 0) != 0 && errno == ESRCH))
        return false;
    if (!fp_proc_stat((pid_t)pid, &stat))
        return true; /* it may be hidden from us: the process id must do */
    return !stat.ended && (start_ticks == 0 || stat.start_ticks == start_ticks);
}

/* The recording's segment, if the recording is ours: of another user's nothing is touched but to be read. */
static bool open_segment(const struct conv_recording *recording, const char *directory,
                         struct fp_segment_file *ret_file)
{
    const int fd = fp_trusted_open(AT_FDCWD, directory, S_IFDIR, FP_TRUSTED_OWN, NULL);
    const bool opened = fd >= 0 &&
                        fp_segment_open(fd, recording->segment_path, FP_TRUSTED_OWN, ret_file, NULL);
    if (fd >= 0)
        (void)close(fd); /* only looked into */
    return opened;
}

bool conv_unfinished_ask_lock(const struct conv_recording *recording, const char *directory, bool *ret_alive)
{
    struct fp_segment_file segment;
    if (!open_segment(recording, directory, &segment))
        return false;
    *ret_alive = fp_segment_is_held(segment.fd);
    fp_segment_close(&segment);
    return true;
}

static void say(struct conv_survey *survey, enum conv_recording_state state, const char *why)
{
    survey->recording_state = state;
    snprintf(survey->unfinished_why, sizeof survey->unfinished_why, "%s", why);
}

/* Nothing is left of a copy: the shared memory belongs to the directory that was written to, and a copy may be anybody's. */
bool conv_unfinished_is_left(const struct conv_recording *recording, const char *directory)
{
    struct fp_segment_file segment;
    if (!recording->collector.told || recording->collector.directory_inode == 0 ||
        is_copy(recording, directory) || !is_this_boot(recording) ||
        !open_segment(recording, directory, &segment))
        return false;
    fp_segment_close(&segment);
    return true;
}

void conv_unfinished_judge(const struct conv_recording *recording, const char *directory,
                           struct conv_survey *survey)
{
    const uint64_t pid = recording->collector.process_id;
    bool alive = false;
    survey->collector_pid = pid <= INT32_MAX ? (uint32_t)pid : 0;
    if (!recording->collector.told) {
        say(survey, CONV_RECORDING_UNKNOWN, "its collector had not finished");
    } else if (is_copy(recording, directory)) {
        say(survey, CONV_RECORDING_COPIED, "it was copied before its collector had finished");
    } else if (is_this_boot(recording) && !is_this_namespace(recording) &&
               !conv_unfinished_ask_lock(recording, directory, &alive)) {
        say(survey, CONV_RECORDING_OUT_OF_SIGHT,
            "its collector had not finished, and cannot be seen from here (another pid namespace)");
    } else if (is_this_boot(recording) &&
               (alive || (is_this_namespace(recording) &&
                          runs(survey->collector_pid, recording->collector.start_ticks)))) {
        say(survey, CONV_RECORDING_GOING_ON, "");
        snprintf(survey->unfinished_why, sizeof survey->unfinished_why,
                 "it is still being recorded (collector %u)", survey->collector_pid);
    } else {
        say(survey, CONV_RECORDING_ENDED_EARLY,
            conv_unfinished_is_left(recording, directory)
                ? "its collector ended before it had finished; what it left in shared memory is written by "
                  "'mallab convert' and 'mallab ab'"
                : "its collector ended before it had finished");
    }
}

bool conv_unfinished_process_gone(const struct conv_recording *recording, uint32_t pid)
{
    return recording->collector.told && is_this_boot(recording) && is_this_namespace(recording) &&
           !runs(pid, 0);
}
