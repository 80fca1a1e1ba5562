/* plan_losers.c - see plan_losers.h. */
#include "cli/verbs/plan_losers.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/say.h"
#include "footprint/base/json_read.h"
#include "footprint/base/support.h"

void cli_plan_losers_add(struct cli_plan_losers *losers, const char *label, const char *digest)
{
    losers->wanted = res_realloc(losers->wanted, losers->count + 1, sizeof *losers->wanted);
    losers->wanted[losers->count++] = (struct res_plan_wanted){
        .label = res_strdup(label),
        .file_digest = digest != NULL ? strtoull(digest, NULL, 16) : 0,
        .any_digest = digest == NULL,
    };
}

/* {"label": ..., "file_digest": ...} each; what is not so is passed over. */
static void take_named(const json_t *list, struct cli_plan_losers *losers)
{
    size_t i;
    json_t *one;
    json_array_foreach(list, i, one)
    {
        const char *label = json_string_value(json_object_get(one, "label"));
        const char *digest = json_string_value(json_object_get(one, "file_digest"));
        if (label != NULL && digest != NULL)
            cli_plan_losers_add(losers, label, digest);
    }
}

int cli_plan_losers_read(const struct cli_verb *verb, const char *path, struct cli_plan_losers *losers)
{
    const struct fp_json_bound bound = {FP_JSON_RESULT_BYTES, FP_JSON_RESULT_MEMORY};
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const size_t before = losers->count;
    json_error_t error = {.text = ""};
    json_t *root = NULL, *candidate;
    size_t i;
    if (fd < 0 || fp_json_read(fd, &bound, &root, &error) != FP_OK) {
        char *plain = res_text_plain(fd < 0 ? strerror(errno) : error.text);
        cli_say(verb, "cannot read '%s': %s", path, plain);
        free(plain);
        if (fd >= 0)
            (void)close(fd); /* only read from */
        return CLI_UNREADABLE;
    }
    (void)close(fd); /* only read from */
    const json_t *inner = json_object_get(root, "fleet"), *fleet = json_is_object(inner) ? inner : root;
    json_array_foreach(json_object_get(fleet, "candidates"), i, candidate)
    {
        take_named(json_object_get(candidate, "losers"), losers);
        take_named(json_object_get(candidate, "nearest"), losers);
    }
    json_decref(root);
    if (losers->count > before)
        return CLI_DONE;
    cli_say(verb, "'%s' names no losers, nor any that are near it: there is nothing to run again", path);
    return CLI_FAILED;
}

void cli_plan_losers_release(struct cli_plan_losers *losers)
{
    for (size_t i = 0; i < losers->count; i++)
        free((void *)(uintptr_t)losers->wanted[i].label); /* ours; const for those who borrow it */
    free(losers->wanted);
    *losers = (struct cli_plan_losers){0};
}
