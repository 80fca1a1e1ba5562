/* real_command.c - see real_command.h. */
#include "results/measure/experiment/real_command.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/support.h"

int res_command_start(const struct res_command *command, struct fp_process_plan plan,
                      struct fp_process *ret_process, char **ret_reason)
{
    int errors = fp_above_standard(open(command->errors, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    int error = errors < 0 ? errno : 0;
    plan.program = command->path;
    plan.arguments = command->arguments;
    plan.environment = command->environment;
    plan.streams[0] = plan.streams[1] = FP_STREAM_NULL;
    plan.streams[2] = errors;
    plan.own_group = plan.default_signals = plan.as_shell = true;
    *ret_process = FP_PROCESS_NONE;
    if (error == 0)
        error = fp_process_start(&plan, ret_process);
    fp_close(&errors);
    if (error != 0)
        *ret_reason = res_printf("cannot execute '%s': %s", command->path, strerror(error));
    return error;
}

char *res_command_end_words(int code)
{
    if (code == RES_SOME_SIGNAL)
        return res_strdup("by a signal");
    return code > 128 && code < 128 + NSIG
               ? res_printf("by signal %d (%s)", code - 128, strsignal(code - 128))
               : res_printf("with exit code %d", code);
}

char *res_command_last_words(const struct res_command *command)
{
    char text[4096];
    FILE *file = fopen(command->errors, "re");
    size_t length = 0;
    if (file != NULL && fseek(file, 0, SEEK_END) == 0) {
        const long size = ftell(file);
        if (fseek(file, size > (long)sizeof text - 1 ? size - (long)sizeof text + 1 : 0, SEEK_SET) == 0)
            length = fread(text, 1, sizeof text - 1, file);
    }
    if (file != NULL)
        fclose(file);
    while (length > 0 && (text[length - 1] == '\n' || text[length - 1] == ' '))
        length--;
    text[length] = '\0';
    const char *newline = strrchr(text, '\n');
    return length > 0 ? res_text_plain(newline != NULL ? newline + 1 : text) : res_strdup("it said nothing");
}
