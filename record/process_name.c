/* process_name.c - see process_name.h. */
#include "record/process_name.h"

#include <stdlib.h>
#include <string.h>

#include "convert/recording/recording.h"
#include "footprint/base/support.h"

#define NAMES_LISTED 12u

/* "'a', 'b' and more", each once. */
static char *names_of(const struct conv_survey *survey)
{
    struct res_text names = {0};
    size_t listed = 0;
    for (size_t i = 0; i < survey->process_count && listed <= NAMES_LISTED; i++) {
        bool before = false;
        for (size_t k = 0; k < i && !before; k++)
            before = strcmp(survey->processes[k].name, survey->processes[i].name) == 0;
        if (before || listed++ == NAMES_LISTED)
            continue;
        char *plain = res_text_plain(survey->processes[i].name);
        res_text_printf(&names, "%s'%s'", names.length > 0 ? ", " : "", plain);
        free(plain);
    }
    if (listed > NAMES_LISTED)
        res_text_printf(&names, " and more");
    return names.text != NULL ? names.text : res_strdup("none");
}

static bool went_on_as_another(const struct conv_process *process)
{
    return process->ended != NULL && strcmp(process->ended, "exec") == 0;
}

enum rec_named rec_process_named(const char *recording, const char *name, uint32_t *ret_process_id,
                                 char **ret_file, char **ret_problem)
{
    struct conv_survey survey = {0};
    struct conv_error *error = res_calloc(1, sizeof *error);
    const struct conv_process *found = NULL;
    char text[CONV_PATH_BYTES + 512];
    enum rec_named named = REC_NAMED_UNREADABLE;
    bool by_exec = false;
    if (conv_recording_list(recording, &survey, error) != FP_OK) {
        *ret_problem = res_strdup(conv_error_text(error, text, sizeof text));
        goto out;
    }
    for (size_t i = 0; i < survey.process_count; i++) {
        const struct conv_process *process = &survey.processes[i];
        if (strcmp(process->name, name) != 0)
            continue;
        if (ret_file != NULL && went_on_as_another(process))
            by_exec = true;
        else if (found == NULL || process->events > found->events)
            found = process;
    }
    named = found != NULL ? REC_NAMED : REC_NAMED_NONE;
    if (found == NULL) {
        char *names = names_of(&survey);
        *ret_problem = res_printf(
            by_exec ? "each '%s' executed another program and so has no end of its own: choose "
                      "what it became; recorded are %s"
                    : "no process '%s' was recorded; recorded are %s",
            name, names);
        free(names);
        goto out;
    }
    *ret_process_id = found->process_id;
    if (ret_file != NULL)
        *ret_file = res_strdup(found->file);
out:
    conv_survey_release(&survey);
    free(error);
    return named;
}
