/* recover.c - mallab-collect --recover, where there is reason to. */
#include "record/recover.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/base/json_bounds.h"
#include "convert/recording/unfinished.h"
#include "footprint/base/places.h"

enum {
    NOTHING_TO_RECOVER = 3, /* mallab-collect's: its collector lives, or another process is at it */
    NOT_STARTED = 127,
};

/* A recording that is not finished names its shared memory, which goes with its collector unless that was killed. Nothing is
 * recovered of another user's recording, nor told here: whoever reads it next does. */
static bool left_something(const char *directory)
{
    json_t *json = cli_json_recording(directory);
    struct conv_recording recording = {0};
    const bool left = json != NULL && conv_recording_take(json, &recording) &&
                      conv_unfinished_is_left(&recording, directory);
    conv_recording_release(&recording);
    json_decref(json);
    return left;
}

static int run_collector(const char *program, const char *directory)
{
    int status = 0;
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        unsetenv("LD_PRELOAD"); /* it is not to be recorded */
        execl(program, program, "--recover", "--out", directory, (char *)NULL);
        _exit(NOT_STARTED);
    }
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    return child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : NOT_STARTED;
}

bool cli_recover(const struct cli_verb *verb, const char *path)
{
    char *program;
    int code;
    if (!left_something(path))
        return false;
    program = res_own_program("mallab-collect");
    if (program == NULL)
        return false;
    code = run_collector(program, path);
    if (code == 0)
        cli_say(verb,
                "'%s': its collector was killed; what that had left in shared memory is now in the recording",
                path);
    else if (code != NOTHING_TO_RECOVER)
        cli_say(verb, "'%s': what its killed collector left in shared memory could not be written here",
                path);
    free(program);
    return code == 0;
}
