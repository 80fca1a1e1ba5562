/* tree_watch.c - messages of the collector, and looks at the command's processes, ever more
 * seldom. */
#include "record/recorder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "footprint/base/proc.h"
#include "footprint/base/process.h"
#include "footprint/base/support.h"
#include "footprint/base/words.h"

#define TELL_NS        UINT64_C(2000000000) /* a command that runs for longer is told of at once */
#define LOOK_FIRST_NS  UINT64_C(1000000)
#define LOOK_LAST_NS   UINT64_C(250000000)
#define TREE_MAX       4096
#define CHILDREN_BYTES (16 * TREE_MAX)
#define SEEN_NS                                                                                              \
    UINT64_C(200000000) /* a round of the collector takes 20 ms at most, and what it writes then */

/* ---- what the collector says ---------------------------------------------------------------- */

static void heed_unrecorded(struct rec_messages *messages, const char *words)
{
    char *plain = res_text_plain(words);
    if (messages->untold.text == NULL)
        messages->untold_since_ns = fp_now_ns();
    messages->unrecorded_count++;
    res_text_printf(&messages->untold, "not recorded: %s\n", plain);
    free(plain);
}

static void heed_line(struct rec_messages *messages, char *line)
{
    char cause[32], since[32];
    unsigned long long after_ns;
    if (strncmp(line, "unrecorded ", 11) == 0)
        heed_unrecorded(messages, line + 11);
    const bool stopped = sscanf(line, "stopped %31s %llu", cause, &after_ns) == 2;
    if (stopped && (strcmp(cause, "duration") == 0 || strcmp(cause, "end") == 0))
        messages->over = true;
    if (strcmp(line, "seen") == 0)
        messages->seen = true;
    if (messages->quiet)
        return;
    messages->told_stop |= stopped;
    if (stopped)
        res_say(messages->verb, "recording stopped after %s, %s; the command runs on unrecorded",
                res_text_duration((double)after_ns, since), conv_stop_behind(cause));
    else if (sscanf(line, "resumed %llu", &after_ns) == 1)
        res_say(messages->verb, "recording goes on after %s; what was called meanwhile is lost and counted",
                res_text_duration((double)after_ns, since));
}

void rec_messages_report(struct rec_messages *messages)
{
    char *rest = messages->untold.text;
    for (char *line; rest != NULL && (line = strsep(&rest, "\n"))[0] != '\0';)
        res_say(messages->verb, "%s", line);
    free(messages->untold.text);
    messages->untold = (struct res_text){0};
}

void rec_messages_take(struct rec_messages *messages)
{
    char bytes[256];
    ssize_t got;
    while (messages->fd >= 0 && ((got = recv(messages->fd, bytes, sizeof bytes, MSG_DONTWAIT)) > 0 ||
                                 (got < 0 && errno == EINTR))) {
        for (ssize_t i = 0; i < got; i++) {
            const bool end = bytes[i] == '\n';
            if (!end && messages->length + 1 < sizeof messages->line)
                messages->line[messages->length++] = bytes[i];
            if (!end)
                continue;
            messages->line[messages->length] = '\0';
            messages->length = 0;
            heed_line(messages, messages->line);
        }
    }
    if (fp_now_ns() - messages->untold_since_ns >= TELL_NS)
        rec_messages_report(messages);
}

void rec_messages_wait_seen(struct rec_messages *messages)
{
    struct pollfd collector = {messages->fd, POLLIN, 0};
    const uint64_t until = fp_now_ns() + SEEN_NS;
    for (uint64_t now = fp_now_ns(); !messages->seen && messages->fd >= 0 && now < until; now = fp_now_ns()) {
        if (poll(&collector, 1, (int)((until - now) / 1000000 + 1)) > 0)
            rec_messages_take(messages);
        if ((collector.revents & (POLLHUP | POLLERR)) != 0)
            break; /* it has ended */
    }
}

/* The collector has ended, and the command has not. */
static void tell_death(struct rec_messages *messages, int status)
{
    char how[FP_STATUS_WORDS];
    rec_messages_take(messages); /* its last words */
    messages->over = true;
    if (messages->quiet || status == 0)
        return; /* it has finished in good order, and said why */
    res_say(messages->verb,
            "the collector ended early (%s): recording has stopped; the command runs on unrecorded",
            fp_status_words(status, how));
}

/* ---- one process ---------------------------------------------------------------------------- */

bool rec_watch_maps_file(pid_t pid, const char *path)
{
    char nameless[PATH_MAX + 8];
    snprintf(nameless, sizeof nameless, "/memfd:%s", basename(path)); /* that of another user */
    return fp_proc_maps(pid, path, nameless) > 0;
}

uint64_t rec_start_ticks(pid_t pid)
{
    struct fp_proc_stat stat;
    return fp_proc_stat(pid, &stat) && !stat.ended ? stat.start_ticks : 0;
}

/* Tells whether the environment that it was started with preloads the recorder. True when that cannot be told: of a process
 * that is loading or ending neither environment nor command line can be read. */
static bool was_preloaded(pid_t pid)
{
    char path[64], command[2], *entry = NULL;
    size_t room = 0;
    /* In this order: both appear at one time, late in an exec. */
    const bool has_command = fp_proc_read(pid, "cmdline", command, sizeof command) && command[0] != '\0';
    snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
    FILE *environment = fopen(path, "re");
    bool found = environment == NULL, empty = true;
    for (; !found && getdelim(&entry, &room, '\0', environment) > 0; empty = false)
        found = strncmp(entry, "LD_PRELOAD=", 11) == 0 && strstr(entry, "libmallab.so") != NULL;
    free(entry);
    if (environment != NULL)
        fclose(environment);
    return found || (empty && !has_command);
}

static bool is_ours(const char *name)
{
    return strcmp(name, "mallab") == 0 || strcmp(name, "mallab-collect") == 0 ||
           strncmp(name, "mallab-replay-", 14) == 0;
}

/* The name of its executable, by /proc/PID/exe: that works whatever its root is, and when the file is gone.
 * Returns false for a process that cannot be looked at, is one of ours, or is a thread of the kernel. */
static bool find_name(pid_t pid, struct rec_look *ret)
{
    char path[64], target[PATH_MAX];
    snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
    const ssize_t length = readlink(path, target, sizeof target - 1);
    if (length <= 0)
        return false;
    target[length] = '\0';
    char *deleted = strstr(target, " (deleted)");
    if (deleted != NULL)
        *deleted = '\0';
    (void)fp_text_plain(basename(target), ret->name, sizeof ret->name);
    return !is_ours(ret->name);
}

/* words: room for a reason that is made up here. ret_sure: whether a second look would tell the same. */
static const char *find_obstacle(pid_t pid, bool *ret_sure, char *words, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    const char *obstacle = fd >= 0 ? rec_target_obstacle(fd, ret_sure) : NULL;
    if (fd >= 0)
        close(fd);
    if (obstacle != NULL)
        return obstacle;
    *ret_sure = !was_preloaded(pid);
    if (!*ret_sure)
        return "could not reach the recording: it runs as another user, in another root directory, or under "
               "a limit of its address space";
    char *sanitized = rec_target_sanitizer(path);
    if (sanitized == NULL)
        return "was started with an environment without LD_PRELOAD: put 'mallab record' behind what clears "
               "it";
    snprintf(words, size, "%s", sanitized);
    free(sanitized);
    return words;
}

/* ---- what was seen ----------------------------------------------------------------------------- */

/* Tells it as a process of the tree would itself (collect/tell.c). Where the queue is full it is told at the
 * next look; where nobody listens it is not told any more. */
static void tell_collector(const struct rec_look *seen, const char *segment)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char note[1024]; /* the words are ours, and shorter */
    const int length = snprintf(note, sizeof note, "%s%c%s%c%d%s", seen->name, '\0', seen->obstacle, '\0',
                                (int)seen->pid, seen->guessed ? "?" : "");
    const int name = snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "%s", basename(segment));
    const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return;
    (void)!sendto(fd, note, (size_t)length, MSG_NOSIGNAL, (const struct sockaddr *)&address,
                  (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)name));
    close(fd);
}

void rec_watch_tell(pid_t pid, const char *path, const char *why, const char *segment)
{
    struct rec_look seen = {.pid = pid, .obstacle = why};
    (void)fp_text_plain(basename(path), seen.name, sizeof seen.name);
    tell_collector(&seen, segment);
}

/* Tells whether the process is still the program that was seen. */
static bool is_still(const struct rec_look *seen)
{
    struct rec_look now = {.pid = seen->pid};
    return rec_start_ticks(seen->pid) == seen->start_ticks && find_name(seen->pid, &now) &&
           strcmp(now.name, seen->name) == 0;
}

/* Tells whether the process is recorded, also by a recording within this one, whose segment lies where ours does. */
static bool is_recorded(pid_t pid, const char *segment)
{
    char any[PATH_MAX];
    snprintf(any, sizeof any, "%.*smallab-", (int)(basename(segment) - segment), segment);
    return rec_watch_maps_file(pid, any);
}

static void doubt(struct rec_watch *watch, const struct rec_look *seen)
{
    for (size_t i = 0; i < watch->doubtful_count; i++)
        if (watch->doubtful[i].pid == seen->pid && watch->doubtful[i].start_ticks == seen->start_ticks &&
            strcmp(watch->doubtful[i].name, seen->name) == 0)
            return;
    if (watch->doubtful_count < REC_WATCH_MAX) /* else at another look, or never */
        watch->doubtful[watch->doubtful_count++] = *seen;
}

/* One that is being loaded looks like one that cannot be recorded, however long that takes. So it is told when it is gone, or
 * nobody looks any more; the collector knows whether it came meanwhile. */
static void settle_doubts(struct rec_watch *watch, const char *segment, bool last)
{
    size_t kept = 0;
    for (size_t i = 0; i < watch->doubtful_count; i++) {
        const struct rec_look *seen = &watch->doubtful[i];
        const bool lives = is_still(seen), recorded = lives && is_recorded(seen->pid, segment);
        if (!recorded && (!lives || last))
            tell_collector(seen, segment);
        else if (!recorded)
            watch->doubtful[kept++] = *seen;
    }
    watch->doubtful_count = kept;
}

static void look_at(struct rec_watch *watch, pid_t pid, const char *segment)
{
    struct rec_look seen = {.pid = pid, .start_ticks = rec_start_ticks(pid)};
    bool sure = false;
    char words[256]; /* `seen` points into it */
    if (seen.start_ticks == 0 || !find_name(pid, &seen) || is_recorded(pid, segment))
        return;
    seen.obstacle = find_obstacle(pid, &sure, words, sizeof words);
    seen.guessed = !sure;
    /* If it ended or became another program while we looked, we have seen parts of two. */
    if (!is_still(&seen) || is_recorded(pid, segment))
        return;
    if (sure)
        tell_collector(&seen, segment);
    else
        doubt(watch, &seen);
}

/* The processes of a look, and of the one before: whoever was in the tree once stays in it, also as a daemon whose
 * parent has ended. */
struct tree {
    pid_t pids[TREE_MAX];
    uint64_t start_ticks[TREE_MAX];
    size_t count;
};

static void add_children(struct tree *tree, pid_t parent)
{
    static char children[CHILDREN_BYTES];
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", (int)parent);
    DIR *tasks = opendir(path);
    for (pid_t task; (task = fp_proc_next(tasks)) != 0;) {
        snprintf(path, sizeof path, "task/%d/children", (int)task);
        (void)fp_proc_read(parent, path, children, sizeof children); /* else it has none */
        char *at = children, *behind;
        for (long child; tree->count < TREE_MAX && (child = strtol(at, &behind, 10)) > 0; at = behind)
            tree->pids[tree->count++] = (pid_t)child;
    }
    if (tasks != NULL)
        closedir(tasks);
}

static bool is_in(const struct tree *tree, pid_t pid)
{
    for (size_t i = 0; i < tree->count; i++)
        if (tree->pids[i] == pid)
            return true;
    return false;
}

static void look_at_tree(struct rec_watch *watch, pid_t command, const char *segment)
{
    static struct tree trees[2];
    static int now;
    struct tree *tree = &trees[now], *before = &trees[!now];
    size_t adopted = 0;
    now = !now;
    tree->count = 1;
    tree->pids[0] = command;
    for (size_t i = 0; i < tree->count; i++) {
        const pid_t pid = tree->pids[i];
        tree->start_ticks[i] = rec_start_ticks(pid);
        look_at(watch, pid, segment);
        if (watch->alone)
            return;
        add_children(tree, pid);
        /* All descendants are looked at. Now a process whose parent ended since the last look, and its descendants. */
        while (i + 1 == tree->count && tree->count < TREE_MAX && adopted < before->count) {
            const pid_t left = before->pids[adopted];
            const uint64_t start = before->start_ticks[adopted++];
            if (start != 0 && !is_in(tree, left) && rec_start_ticks(left) == start)
                tree->pids[tree->count++] = left;
        }
    }
}

/* ---- the wait --------------------------------------------------------------------------------------- */

/* Wait until a child or the time ends; take messages as they come. */
static void pause_between(struct rec_watch *watch, const sigset_t *ends, uint64_t pause_ns)
{
    const uint64_t until = fp_now_ns() + pause_ns;
    const int children = signalfd(-1, ends, SFD_CLOEXEC | SFD_NONBLOCK);
    struct pollfd either[] = {{children, POLLIN, 0}, {watch->messages.fd, POLLIN, 0}}; /* if negative, not */
    struct signalfd_siginfo end;
    for (uint64_t now = fp_now_ns(); now < until; now = fp_now_ns()) {
        const int ready = poll(either, 2, (int)((until - now + 999999) / 1000000));
        rec_messages_take(&watch->messages);
        if ((either[1].revents & (POLLHUP | POLLERR)) != 0) /* it has ended, as we hear in another way too */
            either[1].fd = -1;
        if (ready <= 0 || either[0].revents != 0 || either[1].revents == 0)
            break;
    }
    if (children >= 0) {
        (void)!read(children, &end, sizeof end); /* another child's end brings only one more look */
        close(children);
    }
}

/* The first process of a container is given every orphan, and nobody else waits for them. */
static void reap_adopted(pid_t command, pid_t collector)
{
    siginfo_t info = {0};
    while (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0 &&
           info.si_pid != command && info.si_pid != collector) {
        (void)waitpid(info.si_pid, NULL, WNOHANG); /* dead, as we were told */
        info.si_pid = 0;
    }
}

void rec_watch_until_end(struct rec_watch *watch, pid_t command, const char *segment,
                         struct fp_process *collector)
{
    uint64_t pause_ns = LOOK_FIRST_NS;
    sigset_t ends, before;
    sigemptyset(&ends);
    sigaddset(&ends, SIGCHLD);
    sigprocmask(SIG_BLOCK, &ends, &before); /* one between the question and the pause cuts the pause short */
    for (;; pause_ns *= pause_ns < LOOK_LAST_NS ? 2 : 1) {
        siginfo_t info = {0};
        if (waitid(P_PID, (id_t)command, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid != 0)
            break;
        if (!collector->ended && fp_process_ends_within(collector, 0))
            tell_death(&watch->messages, collector->status);
        reap_adopted(command, collector->pid);
        if (!watch->messages.over) {
            look_at_tree(watch, command, segment);
            settle_doubts(watch, segment, false);
        }
        if (watch->printed_to > 0 && lseek(watch->printed_to, 0, SEEK_END) > REC_PRINTED_MOST)
            (void)!ftruncate(watch->printed_to, REC_PRINTED_MOST); /* cli_printed_end tells it */
        pause_between(watch, &ends, pause_ns);
    }
    if (!watch->messages.over)
        settle_doubts(watch, segment, true);
    sigprocmask(SIG_SETMASK, &before, NULL);
}
