/* cell.c - see cell.h. */
#include "results/measure/plan/cell.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "footprint/base/process.h"
#include "footprint/base/support.h"
#include "footprint/base/trusted.h"
#include "footprint/base/words.h"
#include "footprint/wl/workload.h"
#include "results/measure/base/shell_line.h"
#include "results/measure/machine/disturbances.h"

#define ENDING      ".wl"
#define COPY_BYTES  (UINT32_C(1) << 18)
#define MEMBERS_MAX 4096u

/* ---- the node -------------------------------------------------------------------------------- */

char *res_machine_kind(const struct res_machine *machine)
{
    return res_printf("%s, %.0f cpu%s, %s", machine->cpu != NULL ? machine->cpu : "unknown processor",
                      machine->cpus, machine->cpus > 1 ? "s" : "",
                      machine->architecture != NULL ? machine->architecture : "unknown architecture");
}

static char *plain_or_empty(const char *text)
{
    return text != NULL ? res_text_plain(text) : res_strdup("");
}

static char *plain_or_null(const char *text)
{
    return text != NULL ? res_text_plain(text) : NULL;
}

/* A path stands for a library that no INI file tells of; any other candidate has its name, with its settings if any. */
struct res_plan_candidate res_plan_candidate_of(const struct res_candidate *candidate)
{
    const bool by_path = candidate->origin == NULL && candidate->preload != NULL &&
                         strchr(candidate->preload, '/') != NULL && strchr(candidate->name, '=') == NULL;
    struct res_text environment = {0};
    for (size_t i = 0; i < candidate->variable_count; i++)
        res_shell_variable(&environment, candidate->environment[i].name, candidate->environment[i].value);
    struct res_plan_candidate planned = {
        .name = res_text_plain(candidate->name),
        .word = res_text_plain(by_path ? candidate->preload : candidate->name),
        .library = plain_or_empty(candidate->path),
        .version = plain_or_empty(candidate->version),
        .build = {.id = plain_or_null(candidate->build.id), .digest = plain_or_null(candidate->build.digest)},
        .environment = plain_or_empty(environment.text),
    };
    free(environment.text);
    return planned;
}

char *res_cell_other_machine(const struct res_plan *plan, const struct res_machine *machine)
{
    char *kind = res_machine_kind(machine), *problem = NULL;
    if (strcmp(plan->mallab_version, MALLAB_VERSION) != 0)
        problem = res_printf("this is mallab " MALLAB_VERSION ", the plan is of %s", plan->mallab_version);
    else if (strcmp(plan->machine, RES_PLAN_ANY) != 0 && strcmp(plan->machine, kind) != 0)
        problem = res_printf("this machine is '%s', the plan is for '%s'", kind, plan->machine);
    free(kind);
    return problem;
}

char *res_cell_other_candidate(const struct res_plan_candidate *planned,
                               const struct res_candidate *candidate)
{
    struct res_plan_candidate here = res_plan_candidate_of(candidate);
    const char *library = *here.library != '\0' ? here.library : here.name;
    char *problem = NULL;
    if (!candidate->found)
        problem = res_printf("%s: %s", planned->name,
                             candidate->missing != NULL ? candidate->missing : "it is not here");
    else if (strcmp(here.version, planned->version) != 0)
        problem = res_printf("%s is version '%s' here, '%s' in the plan", planned->name, here.version,
                             planned->version);
    else if (res_builds_differ(&planned->build, &here.build))
        problem = res_build_change(library, here.version, &planned->build, &here.build);
    else if (strcmp(here.environment, planned->environment) != 0)
        problem = res_printf("%s has the settings '%s' here, '%s' in the plan", planned->name,
                             here.environment, planned->environment);
    struct res_plan owner = {.candidates = res_calloc(1, sizeof here), .candidate_count = 1};
    owner.candidates[0] = here;
    res_plan_release(&owner);
    return problem;
}

char *res_cell_disturbed(uint64_t percent, const volatile sig_atomic_t *stop)
{
    static const char *const KINDS[] = {"others", "steal", "memory"};
    const struct timespec moment = {.tv_sec = RES_CELL_LOOK_MS / 1000,
                                    .tv_nsec = RES_CELL_LOOK_MS % 1000 * 1000000};
    struct res_disturbances seen;
    char *problem = NULL;
    if (percent >= 100)
        return NULL;
    res_disturbances_begin(&seen, "");
    (void)nanosleep(&moment, NULL); /* a signal ends it, and is looked at */
    res_disturbances_end(&seen);
    for (size_t i = 0; i < seen.count && problem == NULL && *stop == 0; i++) {
        const struct res_disturbance *one = &seen.list[i];
        for (size_t k = 0; k < sizeof KINDS / sizeof KINDS[0]; k++)
            if (strcmp(one->kind, KINDS[k]) == 0 && strcmp(one->when, "before") != 0 &&
                (k == 2 || one->value > (double)percent))
                problem = res_strdup(one->text);
    }
    res_disturbances_release(&seen);
    return problem;
}

/* ---- the workload ---------------------------------------------------------------------------- */

static enum res_cell_near bad_copy(const char *name, const char *what, int error, char **ret_problem)
{
    *ret_problem = res_printf("cannot %s '%s': %s", what, name, strerror(error));
    return RES_CELL_NEAR_FAILED;
}

static enum res_cell_near copy_bytes(int from, int to, const char *name, char **ret_problem)
{
    char *buffer = res_calloc(COPY_BYTES, 1);
    enum res_cell_near near = RES_CELL_NEAR_OK;
    for (ssize_t count = 1; count != 0 && near == RES_CELL_NEAR_OK;) {
        count = read(from, buffer, COPY_BYTES);
        if (count < 0 && errno != EINTR)
            near = bad_copy(name, "read", errno, ret_problem);
        else if (count > 0 && !fp_write_all(to, buffer, (size_t)count))
            near = bad_copy(name, "copy", errno, ret_problem);
    }
    free(buffer);
    return near;
}

enum res_cell_near res_cell_copy(int from, const char *name, const char *to, char **ret_problem)
{
    const int fd = open(to, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    enum res_cell_near state = fd < 0 ? bad_copy(to, "make", errno, ret_problem)
                                      : copy_bytes(from, fd, name, ret_problem);
    if (fd >= 0 && close(fd) != 0 && state == RES_CELL_NEAR_OK)
        state = bad_copy(to, "copy", errno, ret_problem);
    return state;
}

/* A file that is what it says: all its windows are read, which checks them. */
static enum res_cell_near verify(const char *path, const char *name, char **ret_problem)
{
    struct fp_error error;
    struct wl_reader *reader = NULL;
    struct wl_window window;
    char words[4096 + 512];
    enum fp_status status = wl_reader_open(path, &error, &reader);
    if (status == FP_OK) {
        while ((status = wl_reader_next(reader, &window)) == FP_OK)
            ;
        if (status != FP_END)
            error = *wl_reader_error(reader);
        wl_reader_close(reader);
    }
    if (status == FP_END)
        return RES_CELL_NEAR_OK;
    *ret_problem = res_strdup(fp_error_text(&error, name, words, sizeof words));
    return status == FP_ERR_MEMORY || status == FP_ERR_READ || status == FP_ERR_OPEN ? RES_CELL_NEAR_FAILED
                                                                                     : RES_CELL_NEAR_BAD;
}

static enum res_cell_near copy_file(int directory, const char *name, const char *near, char **ret_problem)
{
    struct fp_error error;
    char words[4096 + 512];
    const int from = fp_trusted_open(directory, name, S_IFREG, FP_TRUSTED_READ, &error);
    if (from < 0) {
        *ret_problem = res_strdup(fp_error_text(&error, name, words, sizeof words));
        return error.sys_errno != 0 && error.sys_errno != ENOENT ? RES_CELL_NEAR_FAILED : RES_CELL_NEAR_BAD;
    }
    char *path = res_path_join(near, name);
    enum res_cell_near state = res_cell_copy(from, name, path, ret_problem);
    (void)close(from); /* only read from */
    if (state == RES_CELL_NEAR_OK)
        state = verify(path, name, ret_problem);
    free(path);
    return state;
}

/* The members of a group. */
static enum res_cell_near copy_group(int directory, const char *near, char **ret_problem)
{
    const int fd = fcntl(directory, F_DUPFD_CLOEXEC, 3);
    DIR *list = fd >= 0 ? fdopendir(fd) : NULL;
    const struct dirent *entry;
    enum res_cell_near state = RES_CELL_NEAR_OK;
    size_t count = 0;
    if (list == NULL) {
        state = bad_copy(RES_PLAN_WORKLOADS, "read", errno, ret_problem);
        if (fd >= 0)
            (void)close(fd); /* of no use */
        return state;
    }
    while (state == RES_CELL_NEAR_OK && (entry = readdir(list)) != NULL) {
        if (entry->d_name[0] == '.' || !fp_has_ending(entry->d_name, ENDING))
            continue;
        if (++count > MEMBERS_MAX) {
            *ret_problem = res_strdup("the group has too many members");
            state = RES_CELL_NEAR_BAD;
        } else {
            state = copy_file(directory, entry->d_name, near, ret_problem);
        }
    }
    (void)closedir(list); /* only read from */
    if (state == RES_CELL_NEAR_OK && count == 0) {
        *ret_problem = res_strdup("the group has no members");
        state = RES_CELL_NEAR_BAD;
    }
    return state;
}

/* The directory that the last part of a path lies in; -1 with ret_problem. ret_name: that part. */
static int open_parent(int plan, const char *path, const char **ret_name, char **ret_problem)
{
    struct fp_error error;
    char words[4096 + 512];
    int directory = fcntl(plan, F_DUPFD_CLOEXEC, 3);
    for (const char *slash; directory >= 0 && (slash = strchr(path, '/')) != NULL; path = slash + 1) {
        char *part = res_strndup(path, (size_t)(slash - path));
        const int next = fp_trusted_open(directory, part, S_IFDIR, FP_TRUSTED_READ, &error);
        if (next < 0)
            *ret_problem = res_strdup(fp_error_text(&error, part, words, sizeof words));
        free(part);
        (void)close(directory); /* a directory */
        directory = next;
    }
    if (directory < 0 && *ret_problem == NULL)
        *ret_problem = res_strdup(strerror(errno));
    *ret_name = path;
    return directory;
}

enum res_cell_near res_cell_fetch(int plan, const struct res_plan_row *row, const char *near, char **ret_path,
                                  char **ret_problem)
{
    const char *name;
    struct stat facts;
    *ret_problem = NULL;
    const int parent = open_parent(plan, row->workload, &name, ret_problem);
    if (parent < 0)
        return RES_CELL_NEAR_BAD;
    enum res_cell_near state;
    char *path = NULL;
    if (fstatat(parent, name, &facts, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(facts.st_mode)) {
        const char *inner;
        char *below = res_printf("%s/", name);
        const int group = open_parent(parent, below, &inner, ret_problem);
        free(below);
        state = group < 0 ? RES_CELL_NEAR_BAD : copy_group(group, near, ret_problem);
        if (group >= 0)
            (void)close(group); /* a directory */
        path = res_strdup(near);
    } else {
        state = copy_file(parent, name, near, ret_problem);
        path = res_path_join(near, name);
    }
    (void)close(parent); /* a directory */
    if (state == RES_CELL_NEAR_OK)
        *ret_path = path;
    else
        free(path);
    return state;
}

/* ---- the result ------------------------------------------------------------------------------ */

static char *entry_problem(const struct res_result_entry *entry, const char *name, uint64_t rounds)
{
    if (entry->failed != NULL)
        return res_printf("%s failed: %s", name, entry->failed);
    return entry->run_count != rounds
               ? res_printf("%s has %zu rounds of %" PRIu64, name, entry->run_count, rounds)
               : NULL;
}

char *res_cell_incomplete(const struct res_result *result, const struct res_plan_row *row)
{
    const struct res_result_workload *workload = result->workload_count == 1 ? result->workloads : NULL;
    char *problem = NULL;
    if (workload == NULL || workload->candidate_count == 0)
        return res_strdup("there is no result of the workload");
    if (result->stopped || workload->rounds != row->rounds)
        return res_printf("%" PRIu64 " rounds of %" PRIu64 " were made", workload->rounds, row->rounds);
    problem = entry_problem(&workload->candidates[0], "the baseline", row->rounds);
    if (problem == NULL)
        problem = entry_problem(&workload->control, "the control", row->rounds);
    if (problem == NULL && workload->floor == NULL)
        problem = res_strdup("there was no floor (the replay without an allocator)");
    if (problem == NULL)
        problem = entry_problem(workload->floor, "the floor", row->rounds);
    for (size_t i = 1; i < workload->candidate_count && problem == NULL; i++)
        if (workload->candidates[i].failed == NULL)
            problem = entry_problem(&workload->candidates[i], workload->candidates[i].name, row->rounds);
    return problem;
}
