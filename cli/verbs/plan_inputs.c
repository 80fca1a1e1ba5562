/* plan_inputs.c - see plan_inputs.h. */
#include "cli/verbs/plan_inputs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/interrupt.h"
#include "cli/base/say.h"
#include "cli/options/packs.h"
#include "cli/verbs/group_workload.h"
#include "convert/convert.h"
#include "convert/import/formats.h"
#include "convert/open/input.h"
#include "convert/pack/pack_open.h"
#include "footprint/base/label.h"
#include "footprint/base/support.h"
#include "results/measure/plan/cell.h"

#define DEPTH_MAX      2u                     /* DIR/LABEL/GROUP */
#define NAME_LABEL_MAX (FP_LABEL_BYTES - 16u) /* of one that may get a digest behind it */

/* How an input is reached. */
struct way {
    const char *label;  /* said by the user; NULL: not */
    const char *parent; /* DIR/LABEL's name; NULL: it lies in none */
    unsigned depth;     /* of directories that were entered */
};

/* ---- labels ---------------------------------------------------------------------------------- */

/* A base name without its ending, what no label has (footprint/base/label.h) being replaced. The caller's to free. */
static char *label_of_name(const char *path)
{
    char *name = res_strdup(path);
    for (size_t length = strlen(name); length > 1 && name[length - 1] == '/'; length--)
        name[length - 1] = '\0';
    const char *slash = strrchr(name, '/');
    char *label = res_printf("%.*s", (int)NAME_LABEL_MAX, slash != NULL ? slash + 1 : name);
    char *ending = strrchr(label, '.');
    free(name);
    if (ending != NULL && ending > label && (strcmp(ending, ".wl") == 0 || strcmp(ending, ".fp") == 0))
        *ending = '\0';
    for (char *at = label; *at != '\0'; at++)
        if (!fp_label_is_valid((char[]){'x', *at, '\0'}))
            *at = '-';
    if (!fp_label_is_valid(label)) { /* its begin */
        char *longer = res_printf("x%s", label);
        free(label);
        label = longer;
    }
    return label;
}

/* "LABEL=PATH" where no file has that name. The caller's to free; NULL: there is none. ret_path: behind it. */
static char *label_said(const char *word, const char **ret_path)
{
    const char *equals = strchr(word, '=');
    struct stat facts;
    *ret_path = word;
    if (equals == NULL || equals == word || memchr(word, '/', (size_t)(equals - word)) != NULL ||
        lstat(word, &facts) == 0)
        return NULL;
    *ret_path = equals + 1;
    return res_strndup(word, (size_t)(equals - word));
}

/* Several files of one base name get their digest behind it; what is the same twice is refused. */
static int settle_labels(struct cli_plan_inputs *inputs)
{
    bool *doubled = res_calloc(inputs->count + 1, sizeof *doubled);
    for (size_t i = 0; i < inputs->count; i++)
        for (size_t k = 0; k < inputs->count && inputs->by_name[i] && !doubled[i]; k++)
            doubled[i] = k != i && strcmp(inputs->items[i].label, inputs->items[k].label) == 0 &&
                         inputs->items[i].facts.file_digest != inputs->items[k].facts.file_digest;
    for (size_t i = 0; i < inputs->count; i++) {
        struct res_plan_item *item = &inputs->items[i];
        if (!doubled[i])
            continue;
        char *longer = res_printf("%s-%08" PRIx64, item->label, item->facts.file_digest >> 32);
        free(item->label);
        item->label = longer;
    }
    free(doubled);
    for (size_t i = 0; i < inputs->count; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(inputs->items[i].label, inputs->items[k].label) == 0 &&
                inputs->items[i].facts.file_digest == inputs->items[k].facts.file_digest) {
                cli_say(inputs->verb,
                        "'%s' is there twice with the same workload (%016" PRIx64
                        "), and would count twice: leave one out, or say whose it is with LABEL=PATH",
                        inputs->items[i].label, inputs->items[i].facts.file_digest);
                return CLI_FAILED;
            }
    return CLI_DONE;
}

/* ---- one workload ---------------------------------------------------------------------------- */

static uint64_t bytes_of(const struct cli_prepared *prepared)
{
    struct stat facts;
    uint64_t bytes = 0;
    for (size_t i = 0; i < prepared->member_count; i++)
        if (stat(prepared->members[i].path, &facts) == 0)
            bytes += (uint64_t)facts.st_size;
    if (prepared->member_count == 0 && stat(prepared->path, &facts) == 0)
        bytes = (uint64_t)facts.st_size;
    return bytes;
}

/* To its name in the plan, unless the same workload is there. Returns CLI_DONE with the prepared one at its place. */
static int move_in(struct cli_plan_inputs *inputs, struct cli_prepared *prepared, char **ret_workload)
{
    struct res_workload facts;
    struct stat there;
    int code = cli_prepared_facts(inputs->verb, prepared, prepared->path, &facts);
    if (code != CLI_DONE)
        return code;
    const bool is_group = prepared->member_count > 0;
    char *workload = res_printf(RES_PLAN_WORKLOADS "/%016" PRIx64 "%s", facts.file_digest,
                                is_group ? "" : ".wl");
    char *place = res_path_join(inputs->directory, workload);
    if (lstat(place, &there) == 0) {
        cli_tree_remove(prepared->path);
    } else if (rename(prepared->path, place) != 0) {
        cli_say(inputs->verb, "cannot make '%s': %s", place, strerror(errno));
        code = CLI_FAILED;
    }
    cli_prepared_release(prepared);
    if (code == CLI_DONE && is_group && !cli_group_read(place, prepared))
        code = CLI_FAILED;
    else if (code == CLI_DONE && !is_group)
        prepared->path = res_strdup(place);
    free(place);
    if (code == CLI_DONE)
        *ret_workload = workload;
    else
        free(workload);
    return code;
}

static int add_item(struct cli_plan_inputs *inputs, const char *path, const struct way *way,
                    struct cli_prepared *prepared)
{
    const size_t number = inputs->count;
    struct res_plan_item item = {0};
    int code = move_in(inputs, prepared, &item.workload);
    if (code != CLI_DONE)
        return code;
    inputs->prepared = res_realloc(inputs->prepared, number + 1, sizeof *inputs->prepared);
    inputs->items = res_realloc(inputs->items, number + 1, sizeof *inputs->items);
    inputs->by_name = res_realloc(inputs->by_name, number + 1, sizeof *inputs->by_name);
    code = cli_prepared_facts(inputs->verb, prepared, path, &item.facts);
    if (code != CLI_DONE) {
        free(item.workload);
        return code;
    }
    item.bytes = bytes_of(prepared);
    inputs->prepared[number] =
        *prepared; /* the facts borrow from its members' and path's memory, which stays */
    *prepared = (struct cli_prepared){0};
    const char *said = way->label != NULL ? way->label
                                          : item.facts.label; /* the recording's own, by `record --label` */
    inputs->by_name[number] = *said == '\0' && way->parent == NULL;
    item.label = *said != '\0'         ? res_strdup(said)
                 : way->parent != NULL ? label_of_name(way->parent)
                                       : label_of_name(path);
    inputs->items[inputs->count++] = item;
    return CLI_DONE;
}

/* ---- bringing it in --------------------------------------------------------------------------- */

static int copy_in(struct cli_plan_inputs *inputs, const char *path, const char *to)
{
    char *problem = NULL;
    const int from = open(path, O_RDONLY | O_CLOEXEC);
    if (from < 0) {
        cli_say(inputs->verb, "cannot read '%s': %s", path, strerror(errno));
        return CLI_UNREADABLE;
    }
    const bool copied = res_cell_copy(from, path, to, &problem) == RES_CELL_NEAR_OK;
    (void)close(from); /* only read from */
    return copied ? CLI_DONE : cli_say_problem(inputs->verb, problem);
}

static int copy_workload(struct cli_plan_inputs *inputs, const char *path, struct cli_prepared *ret_prepared)
{
    ret_prepared->path = res_path_join(inputs->incoming, "one.wl");
    return copy_in(inputs, path, ret_prepared->path);
}

/* A directory of members. Returns CLI_DONE also where there are none: ret_prepared is empty then. */
static int copy_group(struct cli_plan_inputs *inputs, const char *path, struct cli_prepared *ret_prepared)
{
    struct cli_prepared group = {0};
    int code = CLI_DONE;
    if (!cli_group_read(path, &group))
        return CLI_DONE;
    char *place = res_path_join(inputs->incoming, "group");
    if (group.member_count == 0) {
        code = copy_workload(inputs, group.path, ret_prepared);
    } else if (mkdir(place, 0755) != 0) {
        cli_say(inputs->verb, "cannot make '%s': %s", place, strerror(errno));
        code = CLI_FAILED;
    }
    for (size_t i = 0; i < group.member_count && code == CLI_DONE; i++) {
        char *to = res_path_join(place, group.members[i].name);
        code = copy_in(inputs, group.members[i].path, to);
        free(to);
    }
    if (code == CLI_DONE && group.member_count > 0 && !cli_group_read(place, ret_prepared))
        code = CLI_FAILED;
    cli_prepared_release(&group);
    free(place);
    return code;
}

/* Whatever is no workload yet: a recording, a footprint, a trace. */
static int convert_in(struct cli_plan_inputs *inputs, const char *path, struct cli_prepared *ret_prepared)
{
    static const struct conv_options CONVERT;
    const struct cli_prepare prepare = {
        .directory = inputs->incoming, .convert = &CONVERT, .quiet = true, .progress = CLI_PROGRESS_NEVER};
    return cli_workload_prepare(inputs->verb, &prepare, path, 0, ret_prepared);
}

static int bring_in(struct cli_plan_inputs *inputs, const char *path, const struct way *way, bool is_group)
{
    struct cli_prepared prepared = {0};
    char *words = res_printf("%zu workloads; %s", inputs->count, path);
    cli_progress_show(&inputs->progress, words, NULL, 0, 0, 0);
    free(words);
    int code = is_group                                  ? copy_group(inputs, path, &prepared)
               : conv_detect(path) == CONV_KIND_WORKLOAD ? copy_workload(inputs, path, &prepared)
                                                         : convert_in(inputs, path, &prepared);
    if (code == CLI_DONE && prepared.path != NULL)
        code = add_item(inputs, path, way, &prepared);
    cli_prepared_release(&prepared);
    cli_tree_remove(inputs->incoming); /* of what failed, or of a conversion beside the workload */
    if (mkdir(inputs->incoming, 0755) != 0 && code == CLI_DONE) {
        cli_say(inputs->verb, "cannot make '%s': %s", inputs->incoming, strerror(errno));
        code = CLI_FAILED;
    }
    return cli_stopped_by != 0 ? CLI_FAILED : code;
}

/* ---- packs ------------------------------------------------------------------------------------ */

/* One at a time, and gone when its workloads are in the plan: packs of a fleet may be more than a disk holds unpacked. */
static int take_pack(struct cli_plan_inputs *inputs, const char *path, const struct way *way)
{
    char *directory = res_printf("%s/" RES_PLAN_WORKLOADS "/.pack", inputs->directory);
    struct conv_pack pack = {0};
    int code = cli_pack_open(inputs->verb, path, directory, &inputs->progress, &pack);
    for (size_t i = 0; i < pack.count && code == CLI_DONE; i++) {
        char *label = res_strdup(pack.items[i] + strlen(directory) + 1);
        struct stat facts;
        label[strcspn(label, "/")] = '\0';
        const struct way inner = {.label = way->label,
                                  .parent = strcmp(label, CONV_PACK_NO_LABEL) != 0 ? label : way->parent};
        const bool is_group = stat(pack.items[i], &facts) == 0 && S_ISDIR(facts.st_mode) &&
                              conv_detect(pack.items[i]) != CONV_KIND_RECORDING;
        code = bring_in(inputs, pack.items[i], &inner, is_group);
        free(label);
    }
    conv_pack_release(&pack);
    cli_tree_remove(directory);
    free(directory);
    return code;
}

/* ---- directories ----------------------------------------------------------------------------- */

static int is_entry(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name); /* the same in every locale */
}

static bool is_the_plan(const struct cli_plan_inputs *inputs, const struct stat *facts)
{
    struct stat plan;
    return stat(inputs->directory, &plan) == 0 && plan.st_dev == facts->st_dev &&
           plan.st_ino == facts->st_ino;
}

static int take_directory(struct cli_plan_inputs *inputs, const char *path, const struct way *way);

/* Something in a directory: what is of no use there is told, and the others stand. */
static int take_entry(struct cli_plan_inputs *inputs, const char *path, const struct way *way)
{
    struct stat facts;
    const enum conv_kind kind = conv_detect(path);
    if (stat(path, &facts) != 0 || is_the_plan(inputs, &facts))
        return CLI_DONE;
    if (kind == CONV_KIND_UNKNOWN && S_ISDIR(facts.st_mode)) {
        const bool is_group = way->depth == DEPTH_MAX;
        return is_group ? bring_in(inputs, path, way, true) : take_directory(inputs, path, way);
    }
    int code = CLI_UNREADABLE;
    if (S_ISREG(facts.st_mode) && conv_pack_detect(path))
        code = take_pack(inputs, path, way);
    else if (kind == CONV_KIND_WORKLOAD || kind == CONV_KIND_RECORDING || kind == CONV_KIND_FOOTPRINT)
        code = bring_in(inputs, path, way, false);
    else
        cli_say(inputs->verb, "'%s' is no workload, recording, pack or footprint", path);
    if (code == CLI_DONE || cli_stopped_by != 0)
        return code;
    cli_say(inputs->verb, "'%s' is left out", path);
    inputs->left_out++;
    return CLI_DONE;
}

static int take_directory(struct cli_plan_inputs *inputs, const char *path, const struct way *way)
{
    struct dirent **entries = NULL;
    const int count = scandir(path, &entries, is_entry, by_bytes);
    const char *slash = strrchr(path, '/');
    const struct way inner = {.label = way->label,
                              .parent = way->depth > 0 && slash != NULL ? slash + 1 : way->parent,
                              .depth = way->depth + 1};
    int code = CLI_DONE;
    if (count < 0) {
        cli_say(inputs->verb, "cannot read '%s': %s", path, strerror(errno));
        code = CLI_UNREADABLE;
    }
    for (int i = 0; i < count; i++) {
        char *entry = res_path_join(path, entries[i]->d_name);
        if (code == CLI_DONE)
            code = take_entry(inputs, entry, &inner);
        free(entry);
        free(entries[i]);
    }
    free(entries);
    return code;
}

static int take_word(struct cli_plan_inputs *inputs, const char *word)
{
    const char *path;
    char *label = label_said(word, &path);
    const struct way way = {.label = label};
    struct stat facts;
    const bool is_there = stat(path, &facts) == 0;
    int code = CLI_DONE;
    if (label != NULL && !fp_label_is_valid(label))
        code = cli_misuse(inputs->verb, "a label takes " FP_LABEL_TAKES ", not '%s'", label);
    else if (is_there && S_ISREG(facts.st_mode) && conv_pack_detect(path))
        code = take_pack(inputs, path, &way);
    else if (is_there && S_ISDIR(facts.st_mode) && conv_detect(path) == CONV_KIND_UNKNOWN)
        code = take_directory(inputs, path, &way);
    else
        code = bring_in(inputs, path, &way, false);
    free(label);
    return code;
}

/* ---- all of them ------------------------------------------------------------------------------ */

int cli_plan_inputs_take(struct cli_plan_inputs *inputs, char *const *words, size_t count)
{
    int code = CLI_DONE;
    inputs->incoming = res_printf("%s/" RES_PLAN_WORKLOADS "/.new", inputs->directory);
    if (mkdir(inputs->incoming, 0755) != 0) {
        cli_say(inputs->verb, "cannot make '%s': %s", inputs->incoming, strerror(errno));
        return CLI_FAILED;
    }
    cli_progress_begin(&inputs->progress, inputs->when);
    for (size_t i = 0; i < count && code == CLI_DONE; i++)
        code = take_word(inputs, words[i]);
    cli_progress_end(&inputs->progress);
    (void)rmdir(inputs->incoming); /* hidden, if it stays */
    if (code == CLI_DONE && inputs->count == 0) {
        cli_say(inputs->verb, "nothing to replay is there");
        code = CLI_UNREADABLE;
    }
    return code == CLI_DONE ? settle_labels(inputs) : code;
}

void cli_plan_inputs_drop(struct cli_plan_inputs *inputs)
{
    for (size_t i = 0; i < inputs->count; i++) {
        bool wanted = inputs->items[i].share > 0;
        for (size_t k = 0; k < inputs->count && !wanted; k++)
            wanted = inputs->items[k].share > 0 &&
                     strcmp(inputs->items[i].workload, inputs->items[k].workload) == 0;
        if (!wanted)
            cli_tree_remove(inputs->items[i].facts.path);
    }
}

void cli_plan_inputs_release(struct cli_plan_inputs *inputs)
{
    for (size_t i = 0; i < inputs->count; i++) {
        free(inputs->items[i].label);
        free(inputs->items[i].workload);
        cli_prepared_release(&inputs->prepared[i]);
    }
    free(inputs->items);
    free(inputs->prepared);
    free(inputs->by_name);
    free(inputs->incoming);
}
