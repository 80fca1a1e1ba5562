/* fleet_files.c - see fleet.h. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "footprint/base/words.h"
#include "results/measure/figures/figures.h"
#include "results/measure/fleet/fleet.h"

#define THREADS_MOST      8u
#define EXPECT_BYTES_MOST (1u << 24)

/* ---- who is expected -------------------------------------------------------------------------- */

struct expected {
    char *label;
    double share; /* NAN: not given */
    bool seen;
};

struct expectation {
    struct expected *items; /* by label */
    size_t count;
};

static int by_label(const void *left, const void *right)
{
    return strcmp(((const struct expected *)left)->label, ((const struct expected *)right)->label);
}

/* One of them, a line without its end: a label, and perhaps a share. */
static void add_expected(struct expectation *expectation, const char *words, size_t length)
{
    char *line = res_strndup(words, length), *place = NULL, *end = NULL;
    const char *label = strtok_r(line, " \t\r", &place), *share = strtok_r(NULL, " \t\r", &place);
    if (label != NULL) {
        const double number = share != NULL ? strtod(share, &end) : NAN;
        const bool is_share = share != NULL && *end == '\0' && number >= 0 && isfinite(number);
        if ((expectation->count & (expectation->count - 1)) == 0) /* full at powers of two */
            expectation->items = res_realloc(expectation->items, 2 * expectation->count + 1,
                                             sizeof *expectation->items);
        expectation->items[expectation->count++] = (struct expected){res_text_plain(label),
                                                                     is_share ? number : NAN, false};
    }
    free(line);
}

/* A regular file, without waiting for anybody. Returns its descriptor; -1: ret_problem says why. */
static int open_file(const char *path, char **ret_problem)
{
    struct stat facts;
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode))
        return fd;
    *ret_problem = res_strdup(fd < 0 ? strerror(errno) : "is no regular file");
    if (fd >= 0)
        (void)close(fd); /* only looked at */
    return -1;
}

/* The list's file, or the list itself. */
static char *expected_text(const char *asked, char **ret_problem)
{
    const int fd = open_file(asked, ret_problem);
    if (fd < 0 && access(asked, F_OK) != 0 && strchr(asked, '/') == NULL) {
        free(*ret_problem);
        *ret_problem = NULL;
        return res_strdup(asked);
    }
    FILE *file = fd >= 0 ? fdopen(fd, "r") : NULL;
    char *text = file != NULL ? res_calloc(EXPECT_BYTES_MOST + 2, 1) : NULL;
    if (file != NULL && fread(text, 1, EXPECT_BYTES_MOST + 1, file) > EXPECT_BYTES_MOST)
        *ret_problem = res_strdup("it is larger than 16 MiB");
    if (file != NULL)
        fclose(file);
    if (*ret_problem == NULL)
        return text;
    char *problem = res_printf("who is expected, '%s', cannot be read: %s", asked, *ret_problem);
    free(*ret_problem);
    free(text);
    *ret_problem = problem;
    return NULL;
}

/* A host that is named twice is expected once. */
static void drop_doubled(struct expectation *expectation)
{
    size_t kept = 0;
    for (size_t i = 0; i < expectation->count; i++) {
        if (kept > 0 && strcmp(expectation->items[kept - 1].label, expectation->items[i].label) == 0)
            free(expectation->items[i].label);
        else
            expectation->items[kept++] = expectation->items[i];
    }
    expectation->count = kept;
}

static bool read_expected(const char *asked, struct expectation *ret_expectation, char **ret_problem)
{
    RES_FREED char *text = asked != NULL ? expected_text(asked, ret_problem) : NULL;
    if (text == NULL)
        return asked == NULL;
    for (const char *at = text; *at != '\0';) {
        const size_t length = strcspn(at, ",\n");
        add_expected(ret_expectation, at, length);
        at += length + (at[length] != '\0');
    }
    if (ret_expectation->count > 0)
        qsort(ret_expectation->items, ret_expectation->count, sizeof *ret_expectation->items, by_label);
    drop_doubled(ret_expectation);
    return true;
}

static struct expected *find_expected(const struct expectation *expectation, const char *label)
{
    const struct expected wanted = {.label = (char *)(uintptr_t)label};
    return label != NULL && expectation->count > 0
               ? bsearch(&wanted, expectation->items, expectation->count, sizeof wanted, by_label)
               : NULL;
}

/* Finds a workload among those expected: by its host's label, its name, or that without its ending. */
static struct expected *expected_of(const struct expectation *expectation,
                                    const struct res_result_workload *workload)
{
    struct expected *found = find_expected(expectation, workload->label);
    if (found == NULL)
        found = find_expected(expectation, workload->name);
    if (found == NULL && fp_has_ending(workload->name, ".wl")) {
        RES_FREED char *bare = res_strndup(workload->name, strlen(workload->name) - strlen(".wl"));
        found = find_expected(expectation, bare);
    }
    return found;
}

static void expectation_release(struct expectation *expectation)
{
    for (size_t i = 0; i < expectation->count; i++)
        free(expectation->items[i].label);
    free(expectation->items);
}

/* ---- what is mixed ---------------------------------------------------------------------------- */

struct res_fleet_seen {
    struct res_fleet_mixed *items; /* of what has one kind, too */
    size_t count;
};

static struct res_fleet_mixed *seen_of(struct res_fleet_seen *seen, const char *what)
{
    for (size_t i = 0; i < seen->count; i++)
        if (strcmp(seen->items[i].what, what) == 0)
            return &seen->items[i];
    seen->items = res_realloc(seen->items, seen->count + 1, sizeof *seen->items);
    seen->items[seen->count] = (struct res_fleet_mixed){
        .what = res_strdup(what), .kinds = res_calloc(RES_FLEET_KINDS_MOST, sizeof(struct res_fleet_kind))};
    return &seen->items[seen->count++];
}

/* Takes over the value. */
static void see(struct res_fleet_seen *seen, const char *what, const char *file, char *value)
{
    struct res_fleet_mixed *mixed = seen_of(seen, what);
    size_t at = 0;
    while (at < mixed->kind_count && strcmp(mixed->kinds[at].value, value) != 0)
        at++;
    if (at == RES_FLEET_KINDS_MOST)
        at--; /* with the last one: there is no end of them */
    if (at == mixed->kind_count)
        mixed->kinds[mixed->kind_count++] = (struct res_fleet_kind){res_strdup(value), 0,
                                                                    res_text_plain(file)};
    mixed->kinds[at].results++;
    free(value);
}

static char *candidate_kind(const struct res_result_entry *entry)
{
    struct res_text text = {0};
    res_text_printf(&text, "%s", entry->version != NULL ? entry->version : "version not known");
    if (entry->build.digest != NULL)
        res_text_printf(&text, ", build %.12s", entry->build.digest);
    for (size_t i = 0; i < entry->environment.count; i++)
        res_text_printf(&text, " %s=%s", entry->environment.items[i].name,
                        entry->environment.items[i].value != NULL ? entry->environment.items[i].value : "");
    return text.text;
}

static void see_result(struct res_fleet_seen *seen, const char *file, const struct res_result *result)
{
    const struct res_result_workload *first = &result->workloads[0];
    struct res_text names = {0};
    see(seen, "mallab", file,
        res_strdup(result->mallab_version != NULL ? result->mallab_version : "not known"));
    see(seen, "machine", file, res_machine_kind(&result->machine));
    see(seen, "limit", file,
        result->limit_bytes > 0 ? res_printf("%.0f bytes", (double)result->limit_bytes) : res_strdup("none"));
    see(seen, "rounds", file, res_strdup(result->stopped ? "stopped before all were made" : "as asked for"));
    see(seen, "threads", file, res_strdup(result->one_thread ? "one" : "as recorded"));
    for (size_t i = 0; i < first->candidate_count; i++) {
        res_text_printf(&names, "%s%s", i > 0 ? ", " : "", first->candidates[i].name);
        see(seen, first->candidates[i].name, file, candidate_kind(&first->candidates[i]));
    }
    see(seen, "candidates", file, names.text);
}

static int by_frequency(const void *left, const void *right)
{
    const struct res_fleet_kind *one = left, *other = right;
    return one->results != other->results ? (one->results < other->results ? 1 : -1)
                                          : strcmp(one->value, other->value);
}

/* Kinds of more than one value become the fleet's. */
static void give_mixed(struct res_fleet_seen *seen, struct res_fleet *fleet)
{
    fleet->mixed = seen->items;
    for (size_t i = 0; i < seen->count; i++) {
        struct res_fleet_mixed *mixed = &seen->items[i];
        if (mixed->kind_count > 1) {
            qsort(mixed->kinds, mixed->kind_count, sizeof *mixed->kinds, by_frequency);
            fleet->mixed[fleet->mixed_count++] = *mixed;
            continue;
        }
        free(mixed->kinds[0].value);
        free(mixed->kinds[0].file);
        free(mixed->kinds);
        free(mixed->what);
    }
}

/* ---- files ----------------------------------------------------------------------------------- */

static int is_result(const struct dirent *entry)
{
    const char *name = entry->d_name;
    return *name != '.' && (fp_has_ending(name, ".json") || fp_has_ending(name, ".json.zst"));
}

bool res_result_files(const char *path, struct res_texts *files, char **ret_problem)
{
    struct stat facts;
    struct dirent **names = NULL;
    if (stat(path, &facts) != 0 || !S_ISDIR(facts.st_mode)) {
        res_texts_add(files, path);
        return true;
    }
    const int count = scandir(path, &names, is_result, alphasort);
    if (count < 0)
        *ret_problem = res_printf("cannot read '%s': %s", path, strerror(errno));
    for (int i = 0; i < count; i++) {
        res_texts_take(files, res_path_join(path, names[i]->d_name));
        free(names[i]);
    }
    free(names);
    return count >= 0;
}

/* ---- one after another ------------------------------------------------------------------------ */

struct collecting {
    struct res_texts files;
    struct expectation expectation;
    struct res_fleet_input *input; /* NULL: no result has come yet */
    struct res_fleet_seen seen;
    struct res_fleet *fleet; /* what was left out */
    bool any;                /* is in the fleet */
    pthread_mutex_t lock;
    pthread_cond_t turned;
    size_t next, turn; /* to be read, to be taken */
};

/* Takes over why. */
static void leave_out(struct collecting *collecting, const char *file, char *why)
{
    struct res_fleet *fleet = collecting->fleet;
    if ((fleet->left_out_count & (fleet->left_out_count - 1)) == 0)
        fleet->left_out = res_realloc(fleet->left_out, 2 * fleet->left_out_count + 1,
                                      sizeof *fleet->left_out);
    fleet->left_out[fleet->left_out_count++] = (struct res_fleet_left){res_text_plain(file),
                                                                       res_text_plain(why)};
    free(why);
}

/* Returns whether it is in the fleet now. */
static bool take_workload(struct collecting *collecting, const char *file, const struct res_result *result,
                          const struct res_result_workload *workload)
{
    char *problem = NULL;
    struct expected *expected = expected_of(&collecting->expectation, workload);
    const enum res_fleet_taken taken = res_fleet_take(collecting->input, result, workload,
                                                      expected != NULL ? expected->share : NAN,
                                                      result->created_unix_ns, &problem);
    if (taken != RES_FLEET_TAKEN)
        leave_out(collecting, file,
                  taken == RES_FLEET_DOUBLED ? res_strdup("the same result is there already") : problem);
    else if (expected != NULL)
        expected->seen = true;
    return taken == RES_FLEET_TAKEN;
}

static void take(struct collecting *collecting, const char *file, const struct res_result *result)
{
    size_t taken = 0;
    if (collecting->input == NULL)
        collecting->input = res_fleet_begin(&result->workloads[0]);
    for (size_t i = 0; i < result->workload_count; i++)
        taken += take_workload(collecting, file, result, &result->workloads[i]);
    if (taken > 0)
        see_result(&collecting->seen, file, result);
    collecting->any |= taken > 0;
}

bool res_result_load_file(const char *path, struct res_result *ret_result, bool *ret_is_other,
                          char **ret_problem)
{
    const int fd = open_file(path, ret_problem);
    const bool is_read = fd >= 0 && res_result_load_fd(fd, path, true, ret_result, ret_is_other, ret_problem);
    if (fd >= 0)
        (void)close(fd); /* only read from */
    if (is_read)
        res_result_judge(ret_result);
    return is_read;
}

/* NULL: it is a result, with its figures. */
static char *load(const char *file, struct res_result *ret_result)
{
    char *problem = NULL;
    bool is_other;
    if (res_result_load_file(file, ret_result, &is_other, &problem) && ret_result->workload_count == 0) {
        problem = res_strdup("it has no workload");
        res_result_release(ret_result);
    }
    return problem;
}

static void *work(void *data)
{
    struct collecting *collecting = data;
    struct res_result result;
    (void)pthread_mutex_lock(&collecting->lock); /* it is no other thread's that could be ours */
    while (collecting->next < collecting->files.count) {
        const size_t own = collecting->next++;
        const char *file = collecting->files.items[own];
        (void)pthread_mutex_unlock(&collecting->lock);
        char *problem = load(file, &result);
        (void)pthread_mutex_lock(&collecting->lock);
        while (collecting->turn != own)
            (void)pthread_cond_wait(&collecting->turned, &collecting->lock);
        if (problem != NULL)
            leave_out(collecting, file, problem);
        else
            take(collecting, file, &result);
        collecting->turn++;
        (void)pthread_cond_broadcast(&collecting->turned);
        (void)pthread_mutex_unlock(&collecting->lock);
        if (problem == NULL)
            res_result_release(&result);
        (void)pthread_mutex_lock(&collecting->lock);
    }
    (void)pthread_mutex_unlock(&collecting->lock);
    return NULL;
}

/* This thread works, too: so it is done where no other can be had. */
static void work_all(struct collecting *collecting)
{
    pthread_t threads[THREADS_MOST];
    const long here = sysconf(_SC_NPROCESSORS_ONLN);
    size_t most = here > 1 ? 2 * (size_t)here - 1 : 0, count = 0;
    if (most > THREADS_MOST)
        most = THREADS_MOST;
    while (count < most && count + 1 < collecting->files.count &&
           pthread_create(&threads[count], NULL, work, collecting) == 0)
        count++;
    (void)work(collecting); /* it returns nothing */
    for (size_t i = 0; i < count; i++)
        (void)pthread_join(threads[i], NULL); /* it is there, and no other joins it */
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void add_missing(const struct expectation *expectation, struct res_fleet *fleet)
{
    fleet->missing = res_calloc(expectation->count + 1, sizeof *fleet->missing);
    for (size_t i = 0; i < expectation->count; i++)
        if (!expectation->items[i].seen)
            fleet->missing[fleet->missing_count++].label = res_strdup(expectation->items[i].label);
}

static void finish(struct collecting *collecting, struct res_fleet *ret_fleet)
{
    const struct res_fleet left = *collecting->fleet;
    res_fleet_finish(collecting->input, ret_fleet);
    ret_fleet->schema = res_strdup(RES_FLEET_SCHEMA);
    ret_fleet->mallab_version = res_strdup(MALLAB_VERSION);
    ret_fleet->left_out = left.left_out;
    ret_fleet->left_out_count = left.left_out_count;
    add_missing(&collecting->expectation, ret_fleet);
    give_mixed(&collecting->seen, ret_fleet);
}

bool res_fleet_collect(char *const *paths, size_t count, const struct res_fleet_request *request,
                       struct res_fleet *ret_fleet, char **ret_problem)
{
    struct res_fleet left = {0};
    struct collecting collecting = {
        .fleet = &left, .lock = PTHREAD_MUTEX_INITIALIZER, .turned = PTHREAD_COND_INITIALIZER};
    bool done = read_expected(request->expect, &collecting.expectation, ret_problem);
    for (size_t i = 0; i < count && done; i++)
        done = res_result_files(paths[i], &collecting.files, ret_problem);
    if (done)
        work_all(&collecting);
    if (done && (!collecting.any)) {
        *ret_problem = left.left_out_count > 0
                           ? res_printf("no result in '%s'; '%s' is left out: %s", paths[0],
                                        left.left_out[0].file, left.left_out[0].why)
                           : res_printf("no result in '%s': 'mallab ab -o %s/ ...' keeps them there",
                                        paths[0], paths[0]);
        done = false;
    }
    if (done)
        finish(&collecting, ret_fleet);
    else
        res_fleet_release(&left);
    res_fleet_input_free(collecting.input);
    expectation_release(&collecting.expectation);
    res_texts_release(&collecting.files);
    return done;
}
