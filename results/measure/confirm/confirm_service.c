/* confirm_service.c - one run of a service, from its start to the end of its last process. */
#include "results/measure/confirm/confirming.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "footprint/base/proc.h"
#include "footprint/base/process.h"
#include "results/measure/base/figure_words.h"
#include "results/measure/watch/sampled.h"

#define SHELL         "/bin/sh"
#define STEP_NS       UINT64_C(50000000)    /* between two looks */
#define TREE_MAX      32768u                /* processes of the machine: the highest id by default */
#define END_NS        UINT64_C(10000000000) /* for SIGTERM to do */
#define LIVES_NS      UINT64_C(200000000)   /* a service, at the least */
#define SETTLES_NS    UINT64_C(2000000000)  /* a service that never rests is loaded then */
#define LOAD_TIMES    10u                   /* the first load's time; then it hangs */
#define LOAD_LEAST_NS UINT64_C(60000000000)
#define LOOKS_PART    20u /* of the time under load at most one in so many is spent on looks */

/* One run under way. */
struct run {
    struct res_confirm_service *service;
    char *errors;              /* of the service */
    char *own_errors;          /* of ready, load and stop */
    struct fp_process process; /* what the start is */
    pid_t line;                /* ready, load or stop, while it runs: no part of the tree; 0: none */
    double beside_ns;          /* processor time of ready, load and stop */
    double tree_ns, peak_bytes;
    bool is_loaded; /* the load has ended well */
    const char
        *library; /* of those looked for the first that the process with most memory had loaded; NULL: none */
};

/* ---- the tree -------------------------------------------------------------------------------- */

struct member {
    pid_t pid, parent;
    double used_ns; /* processor time, of children that it waited for too */
    bool waits; /* for an event, or ended and is not waited for yet; it does not run, nor wait for a disk */
};

static size_t list_all(struct member *all)
{
    DIR *directory = opendir("/proc");
    struct fp_proc_stat stat;
    size_t count = 0;
    for (pid_t pid; count < TREE_MAX && (pid = fp_proc_next(directory)) != 0;)
        if (fp_proc_stat(pid, &stat))
            all[count++] = (struct member){pid, (pid_t)stat.parent,
                                           (double)(stat.user_ns + stat.system_ns + stat.children_ns),
                                           stat.state == 'S' || stat.state == 'Z'};
    if (directory != NULL)
        closedir(directory);
    return count;
}

/* Our descendants without the line. Nothing else runs below us. Returns how many, moved to the front. */
static size_t keep_tree(struct member *all, size_t count, pid_t line)
{
    const pid_t us = getpid();
    size_t kept = 0;
    bool grew = true;
    while (grew) {
        grew = false;
        for (size_t i = kept; i < count; i++) {
            bool is_ours = all[i].parent == us && all[i].pid != line;
            for (size_t k = 0; k < kept && !is_ours; k++)
                is_ours = all[i].parent == all[k].pid;
            if (!is_ours)
                continue;
            const struct member moved = all[kept];
            all[kept++] = all[i];
            all[i] = moved;
            grew = true;
        }
    }
    return kept;
}

/* The caller's to free. */
static struct member *tree_of(const struct run *run, size_t *ret_count)
{
    struct member *tree = res_calloc(TREE_MAX, sizeof *tree);
    *ret_count = keep_tree(tree, list_all(tree), run->line);
    return tree;
}

/* Tells whether all of it waits: a service that has started does, for its first request. */
static bool rests(const struct run *run)
{
    size_t count;
    RES_FREED struct member *tree = tree_of(run, &count);
    size_t waiting = 0;
    for (size_t i = 0; i < count; i++)
        waiting += tree[i].waits;
    return waiting == count;
}

/* Reads what the tree has taken so far. libraries: to be looked for, NULL behind; NULL: none are. */
static void read_tree(struct run *run, const char *const *libraries)
{
    size_t count;
    struct fp_proc_status status;
    RES_FREED struct member *tree = tree_of(run, &count);
    uint64_t most_bytes = 0, most_shared = 0;
    double bytes = 0;
    run->tree_ns = 0;
    for (size_t i = 0; i < count; i++) {
        run->tree_ns += tree[i].used_ns;
        if (!fp_proc_status(tree[i].pid, &status))
            continue; /* it has ended */
        const uint64_t shared = status.file + status.shared;
        bytes += status.peak > shared ? (double)(status.peak - shared) : 0;
        most_shared = shared > most_shared ? shared : most_shared;
        if (libraries == NULL || status.peak <= most_bytes)
            continue;
        most_bytes = status.peak;
        run->library = NULL;
        for (const char *const *one = libraries; *one != NULL && run->library == NULL; one++)
            run->library = fp_proc_maps(tree[i].pid, *one, NULL) != 0 ? *one : NULL;
    }
    run->peak_bytes = fmax(run->peak_bytes, bytes + (double)most_shared);
}

/* Returns one that we may not signal, as it runs under another user's id, where none takes it; else 0. */
static pid_t signal_tree(const struct run *run, int number)
{
    size_t count;
    RES_FREED struct member *tree = tree_of(run, &count);
    pid_t refused = 0;
    bool taken = false;
    for (size_t i = 0; i < count; i++) {
        if (kill(tree[i].pid, number) == 0)
            taken = true;
        else if (errno == EPERM) /* else it has ended */
            refused = tree[i].pid;
    }
    return taken ? 0 : refused;
}

/* ---- commands beside it ---------------------------------------------------------------------- */

/* A line for the shell. environment: taken over; NULL: our own. Returns whether it runs. */
static bool start_line(const char *line, char **environment, const char *errors, struct fp_process_plan plan,
                       struct fp_process *ret_process, char **ret_reason)
{
    char shell[] = "sh", option[] = "-c", *copy = res_strdup(line);
    char *arguments[] = {shell, option, copy, NULL};
    const struct res_command command = {
        .path = SHELL,
        .arguments = arguments,
        .environment = environment != NULL ? environment : environ,
        .errors = errors,
    };
    const bool runs = res_command_start(&command, plan, ret_process, ret_reason) == 0;
    res_strings_free(environment);
    free(copy);
    return runs;
}

/* While the load runs: workers that serve it may be gone when it ends. */
static void watch(struct run *run, struct fp_process *load, const struct fp_process_bounds *bounds)
{
    uint64_t pause_ns = STEP_NS;
    while (!fp_process_ends_within(load, pause_ns) && !*bounds->stop &&
           (bounds->deadline_ns == 0 || fp_now_ns() < bounds->deadline_ns)) {
        const uint64_t begin_ns = fp_now_ns();
        read_tree(run, NULL);
        pause_ns = LOOKS_PART * (fp_now_ns() - begin_ns);
        pause_ns = pause_ns > STEP_NS ? pause_ns : STEP_NS;
    }
}

/* A line without the candidate. Returns how it ended. */
static enum res_real_state run_line(struct run *run, const char *line, uint64_t deadline_ns, int *ret_code,
                                    char **ret_reason)
{
    const struct fp_process_bounds bounds = {.deadline_ns = deadline_ns, .stop = run->service->stopped};
    struct fp_process process;
    enum res_real_state state = RES_REAL_FAILED;
    const uint64_t begin_ns = fp_now_ns();
    if (start_line(line, res_run_environment(NULL), run->own_errors, (struct fp_process_plan){0}, &process,
                   ret_reason)) {
        run->line = process.pid;
        if (line == run->service->load)
            watch(run, &process, &bounds);
        const enum fp_process_end end = fp_process_wait(&process, &bounds);
        run->line = 0;
        fp_process_release(&process);
        run->beside_ns += res_used_ns(&process.usage);
        *ret_code = fp_status_code(process.status);
        state = end == FP_PROCESS_STOPPED ? RES_REAL_STOPPED
                : end == FP_PROCESS_LATE  ? RES_REAL_FAILED
                                          : RES_REAL_OK;
        if (end == FP_PROCESS_LATE)
            *ret_reason = res_printf("'%s' did not end within %s (--timeout)", line,
                                     RES_DURATION((double)(fp_now_ns() - begin_ns)));
    }
    return state;
}

uint64_t res_confirm_load_patience_ns(const struct res_confirm_service *service)
{
    const uint64_t like_ns = LOAD_TIMES * service->loaded_ns;
    return service->timeout_ns != 0  ? service->timeout_ns
           : service->loaded_ns == 0 ? RES_CONFIRM_LOAD_NS
           : like_ns > LOAD_LEAST_NS ? like_ns
                                     : LOAD_LEAST_NS;
}

static enum res_real_state run_load(struct run *run, int *ret_code, char **ret_reason)
{
    struct res_confirm_service *service = run->service;
    const uint64_t begin_ns = fp_now_ns();
    const enum res_real_state state = run_line(
        run, service->load, begin_ns + res_confirm_load_patience_ns(service), ret_code, ret_reason);
    if (state == RES_REAL_OK && *ret_code == 0 && service->loaded_ns == 0)
        service->loaded_ns = fp_now_ns() - begin_ns;
    return state;
}

/* "'redis-cli ping' ended with exit code 1: Could not connect" */
static char *line_ended(const struct run *run, const char *line, int code)
{
    RES_FREED char *end = res_command_end_words(code), *words = res_command_last_words(run->own_errors);
    return res_printf("'%s' ended %s: %s", line, end, words);
}

/* ---- from start to load ---------------------------------------------------------------------- */

/* Tells whether the start has failed; ret_reason is set then. One that ends well may have left a service behind. */
static bool has_ended(struct run *run, char **ret_reason)
{
    size_t left;
    if (!fp_process_ends_within(&run->process, 0))
        return false;
    free(tree_of(run, &left)); /* only how many there are is asked */
    const int code = fp_status_code(run->process.status);
    if (code == 0 && left > 0)
        return false;
    RES_FREED char *end = res_command_end_words(code), *words = res_command_last_words(run->errors);
    *ret_reason = res_printf("the service ended %s before %s%s%s", end,
                             !run->is_loaded ? "it was ready"
                             : code == 0     ? "its load did, which --stop is for"
                                             : "its load did",
                             res_command_adds(code, words) ? ": " : "",
                             res_command_adds(code, words) ? words : "");
    return true;
}

/* Tells the same once the load has ended. A load that asks nothing of the service may end before a start that fails has had time to. */
static bool has_ended_soon(struct run *run, uint64_t begin_ns, char **ret_reason)
{
    const uint64_t lived_ns = fp_now_ns() - begin_ns;
    run->is_loaded = true;
    (void)fp_process_ends_within(&run->process, lived_ns < LIVES_NS ? LIVES_NS - lived_ns : 0);
    return has_ended(run, ret_reason);
}

/* Try a line until it succeeds. */
static enum res_real_state await(struct run *run, const char *line, char **ret_reason)
{
    const struct res_confirm_service *service = run->service;
    const uint64_t patience_ns = service->timeout_ns != 0 ? service->timeout_ns : RES_CONFIRM_PATIENCE_NS;
    const uint64_t deadline_ns = fp_now_ns() + patience_ns;
    const bool is_load = line == service->load;
    int code = 0;
    for (;;) {
        const enum res_real_state state = is_load ? run_load(run, &code, ret_reason)
                                                  : run_line(run, line, deadline_ns, &code, ret_reason);
        if (state != RES_REAL_OK || code == 0)
            return state;
        if (has_ended(run, ret_reason))
            return RES_REAL_FAILED;
        if (fp_now_ns() >= deadline_ns) {
            char room[32], *end = line_ended(run, line, code);
            *ret_reason = res_printf("it was not ready within %s: %s",
                                     res_text_duration((double)patience_ns, room), end);
            free(end);
            return RES_REAL_FAILED;
        }
        (void)fp_process_ends_within(&run->process, STEP_NS); /* where it has ended, the next look says so */
        if (run->process.ended)
            usleep((useconds_t)(STEP_NS / 1000));
    }
}

/* Loads need not fail where nothing listens yet: redis-benchmark asks for ever. */
static void settle(const struct run *run)
{
    const uint64_t deadline_ns = fp_now_ns() + SETTLES_NS;
    for (unsigned looks = 0; looks < 2 && fp_now_ns() < deadline_ns && !*run->service->stopped;) {
        looks = rests(run) ? looks + 1 : 0;
        usleep((useconds_t)(STEP_NS / 1000 / 5));
    }
}

static enum res_real_state load(struct run *run, char **ret_reason)
{
    const struct res_confirm_service *service = run->service;
    int code = 0;
    if (service->ready == NULL) {
        settle(run);
        return await(run, service->load, ret_reason);
    }
    enum res_real_state state = await(run, service->ready, ret_reason);
    if (state == RES_REAL_OK)
        state = run_load(run, &code, ret_reason);
    if (state == RES_REAL_OK && code != 0) {
        *ret_reason = line_ended(run, service->load, code);
        state = RES_REAL_FAILED;
    }
    return state;
}

/* ---- its end --------------------------------------------------------------------------------- */

/* Reap what has ended. Returns whether something is left of the tree. */
static bool is_left(struct run *run)
{
    int status;
    size_t left;
    (void)fp_process_ends_within(&run->process, 0);
    /* We wait for a process that its parent has left, but never the start before it was waited for as itself. */
    while (run->process.ended && waitpid(-1, &status, WNOHANG) > 0)
        continue;
    free(tree_of(run, &left)); /* only how many there are is asked */
    return left > 0;
}

static bool ends_within(struct run *run, uint64_t within_ns)
{
    const uint64_t deadline_ns = fp_now_ns() + within_ns;
    while (is_left(run)) {
        if (fp_now_ns() >= deadline_ns)
            return false;
        usleep((useconds_t)(STEP_NS / 1000 / 5));
    }
    return true;
}

/* Ends with nothing of the tree left, whatever the signals; or with what we may not signal. Returns one of that, or 0. */
static pid_t end(struct run *run, bool by_command)
{
    const struct res_confirm_service *service = run->service;
    int code = 0;
    pid_t left;
    RES_FREED char *reason = NULL;
    const bool told = by_command && service->stop != NULL &&
                      run_line(run, service->stop, fp_now_ns() + END_NS, &code, &reason) == RES_REAL_OK &&
                      code == 0;
    if (told && ends_within(run, END_NS))
        return 0;
    fp_process_kill(&run->process, SIGTERM);
    left = signal_tree(run,
                       run->process.ended ? SIGTERM : 0); /* where it has ended: what it has left behind */
    if (left == 0 && ends_within(run, END_NS))
        return 0;
    do
        left = signal_tree(run, SIGKILL);
    while (!ends_within(run, STEP_NS) && left == 0);
    return is_left(run) ? left : 0;
}

/* ---- a run ----------------------------------------------------------------------------------- */

/* candidate: NULL: as it is. libraries: to be looked for when the load has ended. */
static enum res_real_state run_served(struct run *run, const struct res_candidate *candidate,
                                      const char *const *libraries, struct res_confirm_run *ret,
                                      char **ret_reason)
{
    struct rusage before, after;
    if (run->service->left != NULL) {
        *ret_reason = res_strdup(run->service->left);
        return RES_REAL_FAILED;
    }
    (void)getrusage(RUSAGE_CHILDREN, &before);
    const uint64_t begin_ns = fp_now_ns();
    if (!start_line(run->service->start, candidate != NULL ? res_command_environment(candidate) : NULL,
                    run->errors, (struct fp_process_plan){.dies_with_us = true}, &run->process, ret_reason))
        return RES_REAL_FAILED;
    enum res_real_state state = load(run, ret_reason);
    const double wall_ns = (double)(fp_now_ns() - begin_ns);
    if (state == RES_REAL_OK && has_ended_soon(run, begin_ns, ret_reason))
        state = RES_REAL_FAILED;
    if (state == RES_REAL_OK)
        read_tree(run, libraries);
    const pid_t left = end(run, state == RES_REAL_OK);
    (void)getrusage(RUSAGE_CHILDREN, &after);
    fp_process_release(&run->process);
    if (left != 0) {
        run->service->left = res_printf("process %d of the service runs as another user, and still does: "
                                        "--stop has to end it",
                                        (int)left);
        free(*ret_reason);
        *ret_reason = res_strdup(run->service->left);
        state = state == RES_REAL_OK ? RES_REAL_FAILED : state;
    }
    if (state != RES_REAL_OK)
        return state;
    if (candidate != NULL && run->library == NULL) {
        *ret_reason = res_printf("the service's largest process has not loaded '%s'", candidate->path);
        return RES_REAL_FAILED;
    }
    ret->time_ns = fmax(run->tree_ns, res_used_ns(&after) - res_used_ns(&before) - run->beside_ns);
    ret->wall_ns = wall_ns;
    ret->peak_bytes = run->peak_bytes > 0 ? run->peak_bytes : NAN;
    return state;
}

/* A whole run. ret_library: which of the libraries was found. The others are run_served's. */
static enum res_real_state run_whole(struct res_confirm_service *service,
                                     const struct res_candidate *candidate, const char *const *libraries,
                                     struct res_confirm_run *ret, const char **ret_library, char **ret_reason)
{
    struct run run = {
        .service = service,
        .errors = res_path_join(service->directory, "service.stderr"),
        .own_errors = res_path_join(service->directory, "stderr"),
        .process = FP_PROCESS_NONE,
    };
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    const enum res_real_state state = run_served(&run, candidate, libraries, ret, ret_reason);
    (void)prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
    free(run.errors);
    free(run.own_errors);
    *ret_library = run.library;
    return state;
}

static enum res_real_state run_once(void *context, const struct res_candidate *candidate,
                                    enum res_confirm_what what, struct res_confirm_run *ret,
                                    char **ret_reason)
{
    const char *const libraries[] = {candidate->path, NULL};
    const char *library;
    (void)what; /* each run tells both */
    return run_whole(context, candidate, libraries, ret, &library, ret_reason);
}

enum res_real_state res_confirm_service_as_it_is(struct res_confirm_service *service,
                                                 const char *const *libraries, const char **ret_library,
                                                 char **ret_reason)
{
    struct res_confirm_run figures;
    return run_whole(service, NULL, libraries, &figures, ret_library, ret_reason);
}

struct res_confirm_runner res_confirm_service_runner(struct res_confirm_service *service)
{
    return (struct res_confirm_runner){.run = run_once, .context = service, .tells_both = true};
}
