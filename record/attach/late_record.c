/* late_record.c - the steps of attaching to a program, and of letting go of it.
 *
 * Laws of this file: late_record.h has them. */
#include "record/attach/late_record.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/membarrier.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "footprint/base/proc.h"
#include "footprint/base/process.h"
#include "footprint/base/support.h"
#include "footprint/base/trusted.h"
#include "record/attach/late_process.h"
#include "record/recorder.h"
#include "shim/shared/late_report.h"
#include "shim/shared/segment.h"

char *late_default_directory(pid_t pid)
{
    char name[LATE_NAME_BYTES];
    late_process_name(pid, name);
    return res_printf("mallab-%s.%d", name, (int)pid);
}

#if defined(__x86_64__)

#define DONE_MOST_NS  UINT64_C(10000000000) /* for a call that a thread has begun */
#define LEAVE_MOST_NS UINT64_C(30000000000) /* for a safe place at the end */
#define BEGIN_MOST_NS                                                                                        \
    UINT64_C(30000000000) /* beyond that time: to look at it, and for two calls to be done */
#define FIND_MOST_NS    UINT64_C(2000000000)
#define FORGET_MOST_NS  UINT64_C(20000000000)
#define BARRIER_REST_NS UINT64_C(1000000)
#define COLLECTOR_NS    UINT64_C(120000000000) /* to drain a full segment to a slow disk */
#define CHILDREN_NS     UINT64_C(2000000000)   /* for children to end that ended with their parent */
#define GLANCE_NS       100000
#define WATCH_MS        50
#define CHILDREN_LOOKS  8u

struct late {
    struct late_process process;
    struct late_told *told;
    uint64_t within_ns, ticket;
    char library[PATH_MAX];
};

/* ---- what the library tells ---------------------------------------------------------------------- */

/* Returns false where it is not loaded, or is none of ours. Texts have an end. */
static bool read_report(const struct late *late, struct late_report *ret)
{
    const struct late_module *module = late_module_of_kind(&late->process, LATE_RECORDER);
    const uint64_t address = module != NULL ? late_symbol(&late->process, module, LATE_REPORT_NAME) : 0;
    if (address == 0 || !late_process_read(&late->process, address, ret, sizeof *ret) ||
        ret->magic != LATE_MAGIC)
        return false;
    ret->segment[sizeof ret->segment - 1] = ret->reason[sizeof ret->reason - 1] = '\0';
    ret->left_in[sizeof ret->left_in - 1] = '\0';
    return true;
}

struct wait {
    struct late *late;
    uint64_t ticket;
};

static bool is_done(void *data)
{
    const struct wait *wait = data;
    struct late_report report;
    return read_report(wait->late, &report) && report.done == wait->ticket;
}

static void note_cost(struct late *late, uint64_t ns)
{
    if (ns > late->told->longest_stop_ns)
        late->told->longest_stop_ns = ns;
}

/* The address of one of the library's functions; 0: it was not found. A list of mappings that was read while they changed may
 * lack the library: then it is read again. */
static uint64_t function_of(struct late *late, const char *name)
{
    const uint64_t begin = fp_now_ns();
    for (;;) {
        const struct late_module *module = late_module_of_kind(&late->process, LATE_RECORDER);
        const uint64_t function = module != NULL ? late_symbol(&late->process, module, name) : 0;
        if (function != 0 || late_process_ended(&late->process) || fp_now_ns() - begin > FIND_MOST_NS)
            return function;
        late_rest(10 * GLANCE_NS);
        (void)late_process_refresh(&late->process); /* else it is tried again */
    }
}

/* One of the library's functions called to its end. Returns false with ret_problem set. */
static bool make_call(struct late *late, const char *name, const char *text, uint64_t within_ns,
                      char **ret_problem)
{
    struct late_cost cost;
    const struct late_call call = {
        .function = function_of(late, name), .text = text, .number = ++late->ticket};
    struct wait wait = {late, call.number};
    if (call.function == 0) {
        *ret_problem = res_printf("'%s' in process %d is not of this mallab", late->library,
                                  (int)late->process.pid);
        return false;
    }
    if (!late_call_safely(&late->process, &call, within_ns, &cost, ret_problem))
        return false;
    const uint64_t begin = fp_now_ns();
    while (!is_done(&wait) && !late_process_ended(&late->process) && fp_now_ns() - begin < DONE_MOST_NS)
        late_rest(GLANCE_NS);
    note_cost(late, cost.stopped_ns + (fp_now_ns() - begin));
    if (is_done(&wait))
        return true;
    *ret_problem = res_printf("a call in process %d has not come to its end", (int)late->process.pid);
    return false;
}

/* ---- attach ---------------------------------------------------------------------------------------- */

static bool is_loaded(struct late *late)
{
    struct late_report report;
    return late_process_refresh(&late->process) && read_report(late, &report);
}

/* Reads the file so that no thread stands still for a disk. */
static void read_through(const char *path)
{
    char bytes[1 << 16];
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && read(fd, bytes, sizeof bytes) > 0)
        ;
    if (fd >= 0)
        close(fd);
}

static bool load(struct late *late, char **ret_problem)
{
    struct late_cost cost;
    read_through(late->library);
    const struct late_module *libc = late_module_of_kind(&late->process, LATE_LIBC);
    const struct late_call call = {.function = late_symbol(&late->process, libc, "dlopen"),
                                   .text = late->library,
                                   .number = RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE};
    if (strlen(late->library) >= LATE_TEXT_MOST) {
        *ret_problem = res_printf("the path of '%s' is too long", late->library);
        return false;
    }
    if (!late_call_safely(&late->process, &call, late->within_ns, &cost, ret_problem))
        return false;
    const uint64_t begin = fp_now_ns();
    while (!is_loaded(late) && !late_process_ended(&late->process) && fp_now_ns() - begin < DONE_MOST_NS)
        late_rest(10 * GLANCE_NS);
    note_cost(late, cost.stopped_ns + (fp_now_ns() - begin));
    if (is_loaded(late))
        return true;
    const int pid = (int)late->process.pid;
    *ret_problem = res_printf(
        "the loader of process %d has not taken '%s': it may not be able to read it, or sees another root "
        "directory, as in a container: put mallab into that, and as root 'nsenter -at %d mallab record "
        "--pid N', where N is the last number of NSpid in /proc/%d/status",
        pid, late->library, pid, pid);
    return false;
}

/* Tells whether a collector's starter was killed: then another process is its parent, and it ends its recording. */
static bool is_orphan(int segment)
{
    uint32_t collector = 0;
    const off_t at = offsetof(struct seg_header, fixed) + offsetof(struct seg_fixed, collector_pid);
    struct fp_proc_stat stat;
    char name[LATE_NAME_BYTES] = "";
    if (pread(segment, &collector, sizeof collector, at) == (ssize_t)sizeof collector &&
        fp_proc_stat((pid_t)collector, &stat))
        late_process_name((pid_t)stat.parent, name);
    return strncmp(name, "mallab", 6) != 0;
}

/* Tells whether a collector of ours gave the name, holds the shared memory, and goes on. One that ends meanwhile is waited for. */
static bool is_collected(const struct late *late, const char *segment)
{
    const uint64_t begin = fp_now_ns();
    const int fd = fp_segment_name_is_ours(basename(segment))
                       ? fp_trusted_open(AT_FDCWD, segment, S_IFREG, FP_TRUSTED_OWN, NULL)
                       : -1;
    bool held;
    while ((held = fd >= 0 && fp_segment_is_held(fd)) && is_orphan(fd) &&
           fp_now_ns() - begin < late->within_ns)
        late_rest(10 * GLANCE_NS);
    if (fd >= 0)
        close(fd);
    return held;
}

/* Tells whether the library has not let go yet: by us, or by another one who tidies up meanwhile, and may begin anew. */
static bool is_leaving(const struct late *late)
{
    struct late_report report;
    return read_report(late, &report) && (report.state == LATE_LEAVING || report.state == LATE_BUSY);
}

/* Threads of the program may be in the library yet; when none is, it lets go of the shared memory. */
static bool forget(struct late *late, char **ret_problem)
{
    const uint64_t until_ns = fp_now_ns() + FORGET_MOST_NS;
    bool called = true;
    while (called && is_leaving(late) && fp_now_ns() < until_ns) {
        called = make_call(late, LATE_FORGET_NAME, "", FORGET_MOST_NS, ret_problem);
        if (called && is_leaving(late)) {
            (void)syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0,
                          0); /* of all processes; else the rest is enough */
            late_rest(BARRIER_REST_NS);
        }
    }
    if (called && is_leaving(late))
        *ret_problem = res_printf("threads of process %d stayed within the recorder", (int)late->process.pid);
    if (is_leaving(late))
        return false;
    free(*ret_problem);
    *ret_problem = NULL;
    return true;
}

/* Undoes what an attach before ours has left. */
static bool make_idle(struct late *late, char **ret_problem)
{
    struct late_report report;
    const uint64_t begin = fp_now_ns();
    while (read_report(late, &report) && report.state == LATE_BUSY && fp_now_ns() - begin < late->within_ns)
        late_rest(10 * GLANCE_NS);
    if (!read_report(late, &report) || report.state == LATE_BUSY) {
        *ret_problem = res_printf("process %d is being attached to by another mallab",
                                  (int)late->process.pid);
        return false;
    }
    if (report.state == LATE_ON && is_collected(late, report.segment)) {
        *ret_problem = res_printf(
            "process %d is being recorded by another 'mallab record --pid': end that with 'mallab record "
            "--control DIR --end'",
            (int)late->process.pid);
        return false;
    }
    if (report.state == LATE_ON && !make_call(late, LATE_END_NAME, "", late->within_ns, ret_problem))
        return false;
    return report.state == LATE_IDLE || forget(late, ret_problem);
}

/* Counts the words of some memory that hold one of the functions that slots were turned from. */
static uint64_t words_in(const struct late *late, const uint64_t *theirs, uint64_t at, uint64_t past)
{
    static uint64_t words[1 << 14];
    uint64_t found = 0;
    for (uint64_t size; at < past; at += size) {
        size = past - at < sizeof words ? past - at : sizeof words;
        if (!late_process_read(&late->process, at, words, size))
            break;
        for (size_t i = 0; i < size / sizeof *words; i++) {
            size_t k = 0;
            while (k < LATE_WORDS && theirs[k] != words[i])
                k++;
            found += words[i] != 0 && k < LATE_WORDS;
        }
    }
    return found;
}

/* Pointers that no relocation names, as a program makes them while it runs, are not turned: those in the modules' own data are told.
 * The program runs meanwhile. */
static void tell_left(struct late *late, const struct late_report *report)
{
    const struct late_process *process = &late->process;
    struct late_told *told = late->told;
    told->slots_left = report->slots_left;
    told->left_in = res_text_plain(report->left_in);
    (void)late_process_refresh(&late->process); /* else as it was a moment ago */
    for (size_t k = 0; k < process->module_count; k++) {
        const struct late_module *module = &process->modules[k];
        uint64_t found = 0;
        for (size_t i = 0; i < process->mapping_count && module->kind != LATE_RECORDER; i++) {
            const struct late_mapping *at = &process->mappings[i];
            if (at->writable && at->first >= module->first && at->first < module->data_past)
                found += words_in(late, report->theirs, at->first,
                                  at->past < module->data_past ? at->past : module->data_past);
        }
        if (found == 0)
            continue;
        char *more = res_printf("%s%s%s (%llu)", told->left_in, told->left_in[0] != '\0' ? ", " : "",
                                basename(module->path), (unsigned long long)found);
        free(told->left_in);
        told->left_in = more;
        told->slots_left += found;
    }
}

static bool begin(struct late *late, const char *segment, char **ret_problem)
{
    struct late_report report;
    if (!make_call(late, LATE_BEGIN_NAME, segment, late->within_ns, ret_problem))
        return false;
    if (read_report(late, &report) && report.recorded) {
        late->told->slots = report.slots;
        late->told->modules = report.modules;
        tell_left(late, &report);
        return true;
    }
    char *why = res_text_plain(report.reason);
    *ret_problem = res_printf("process %d could not join the recording: %s", (int)late->process.pid,
                              why[0] != '\0' ? why : "it has forbidden itself what that takes");
    free(why);
    return false;
}

/* ---- while it goes on ------------------------------------------------------------------------------ */

static const int ENDING[FP_ENDING_COUNT] = {FP_ENDING_SIGNALS};
static struct sigaction former[FP_ENDING_COUNT];
static volatile sig_atomic_t asked_to_end;

/* A second one is our caller's: it ends us where nobody else takes it. */
static void on_signal(int number)
{
    asked_to_end = number;
    for (size_t i = 0; i < FP_ENDING_COUNT; i++)
        if (ENDING[i] == number)
            (void)sigaction(number, &former[i], NULL); /* does not fail for a valid number */
}

/* Watches until the program has ended, the recording is over, or we are asked to end. Returns what ended it, where it was we. */
static const char *watch(struct late *late, struct rec_collector *collector, struct rec_messages *messages,
                         uint64_t duration_ns)
{
    const uint64_t until = duration_ns != 0 ? fp_now_ns() + duration_ns : UINT64_MAX;
    while (!asked_to_end && !messages->over && !late_process_ended(&late->process) && fp_now_ns() < until &&
           !fp_process_ends_within(&collector->process, 0)) {
        struct pollfd ready[] = {{messages->fd, POLLIN, 0}, {late->process.pidfd, POLLIN, 0}};
        const uint64_t left_ms = (until - fp_now_ns()) / 1000000 + 1;
        (void)poll(ready, 2, left_ms < WATCH_MS ? (int)left_ms : WATCH_MS); /* whatever woke us, we look */
        rec_messages_take(messages);
    }
    return asked_to_end ? "as asked by a signal" : fp_now_ns() >= until ? "as --duration asked" : NULL;
}

/* Makes a request of the collector, as other verbs do. */
static bool ask(const char *directory, enum rec_request request, uint64_t within_ns, char **ret_problem)
{
    struct rec_control control;
    const bool done = rec_control_open(directory, &control, ret_problem) == REC_CONTROL_OPEN &&
                      rec_control_ask(&control, request, within_ns, ret_problem);
    rec_control_release(&control);
    return done;
}

/* Tells whether the collector ends in that time, or stands still: it may be its program's user who has stopped it. */
static bool ends(struct rec_collector *collector, uint64_t within_ns)
{
    const uint64_t until_ns = fp_now_ns() + within_ns;
    while (!fp_process_ends_within(&collector->process, (uint64_t)WATCH_MS * 1000000))
        if (fp_now_ns() > until_ns || late_is_stopped(collector->process.pid))
            return false;
    return true;
}

static void finish_collector(struct rec_collector *collector, struct rec_recorded *recorded, bool running)
{
    char *problem = NULL;
    (void)!send(collector->control, "e", 1, MSG_NOSIGNAL); /* else it has ended */
    if (!ends(collector, running ? 0 : CHILDREN_NS) && !late_is_stopped(collector->process.pid))
        (void)ask(recorded->directory, REC_REQUEST_END, CHILDREN_NS,
                  &problem); /* it is seen below whether it has ended */
    free(problem);
    recorded->collector_status = ends(collector, COLLECTOR_NS) ? collector->process.status
                                                               : W_STOPCODE(SIGSTOP);
    rec_messages_take(&recorded->watch.messages);
    recorded->watch.messages.fd = -1;
}

/* It has ended, or executed another program: our library is gone with it. */
static bool has_left(struct late *late)
{
    (void)late_process_refresh(&late->process); /* else it has ended */
    return function_of(late, LATE_END_NAME) == 0;
}

/* Returns whether it had slots of ours, and has none any more. holds: it has the shared memory mapped. */
static bool leave_child(const struct late *late, pid_t pid, const char *segment, bool holds, bool tell)
{
    struct late child = *late;
    struct late_report report;
    char *problem = NULL;
    if (late_process_open(pid, FORGET_MOST_NS + DONE_MOST_NS, &child.process, &problem))
        holds = is_loaded(&child) && read_report(&child, &report) && report.state != LATE_IDLE &&
                strcmp(report.segment, segment) == 0;
    const bool left = holds && problem == NULL && make_idle(&child, &problem);
    if (tell && holds && !left && !late_process_ended(&child.process))
        res_say("record",
                "process %d was forked meanwhile, and stays in the recorder, which passes its calls on: %s",
                (int)pid, problem);
    free(problem);
    late_process_close(&child.process);
    return left;
}

/* Leaves the children that were forked meanwhile: they have slots of ours, too. Returns whether any was left: it may have forked others. */
static bool leave_children(const struct late *late, const char *segment, bool tell)
{
    DIR *processes = opendir("/proc");
    bool any = false;
    for (pid_t pid; (pid = fp_proc_next(processes)) != 0;) {
        if (pid != late->process.pid && fp_proc_maps(pid, late->library, NULL) > 0)
            any = leave_child(late, pid, segment, fp_proc_maps(pid, segment, NULL) > 0, tell) || any;
    }
    if (processes != NULL)
        closedir(processes);
    return any;
}

/* Slots first, so that nothing is made any more that nobody hears; then the recording's end; then the memory. */
static void leave(struct late *late, struct rec_collector *collector, struct rec_recorded *recorded)
{
    struct late_told *told = late->told;
    late->process.deadline_ns = fp_now_ns() + LEAVE_MOST_NS + DONE_MOST_NS;
    told->ended = has_left(late);
    const bool left = told->ended || make_call(late, LATE_END_NAME, "", LEAVE_MOST_NS, &told->problem);
    told->ended = told->ended || has_left(late);
    finish_collector(collector, recorded, !told->ended);
    late->process.deadline_ns = fp_now_ns() + FORGET_MOST_NS + DONE_MOST_NS;
    told->idle = told->ended || (left && forget(late, &told->problem));
    for (unsigned looks = 0; looks < CHILDREN_LOOKS && leave_children(late, collector->segment, false);
         looks++)
        ;
    (void)leave_children(late, collector->segment, true); /* those that stay */
    told->ended = told->ended || has_left(late);
    if (!told->ended)
        return;
    told->executed = !late_process_ended(&late->process);
    told->idle = true;
    free(told->problem);
    told->problem = NULL;
}

/* ---- all of it ---------------------------------------------------------------------------------------- */

static void say_begun(const struct rec_settings *settings, const struct late *late,
                      const struct rec_recorded *recorded)
{
    char stop[32];
    const struct late_told *told = late->told;
    if (settings->quiet)
        return;
    res_text_duration((double)told->longest_stop_ns, stop);
    res_say(settings->verb,
            "recording process %d ('%s') into %s; a thread of it stood still for %s; %llu places in %llu "
            "modules call the recorder",
            (int)late->process.pid, late->process.name, recorded->shown, stop,
            (unsigned long long)told->slots, (unsigned long long)told->modules);
}

/* Notes in the recording what is left: it is not complete then; the collector has it said. */
static void note_left(const struct late *late, const char *segment)
{
    char why[224];
    snprintf(why, sizeof why,
             "may call past the recorder: %llu pointers to functions of the malloc family, in %s",
             (unsigned long long)late->told->slots_left, late->told->left_in);
    if (late->told->slots_left > 0)
        rec_watch_tell(late->process.pid, late->process.name, why, segment);
}

static void tell_phase(const struct rec_settings *settings, char phase)
{
    if (settings->phases_fd > 0)
        (void)!write(settings->phases_fd, &phase, 1); /* else who listens has ended, and so do we */
}

static bool record(const struct rec_settings *settings, struct late *late, struct rec_collector *collector,
                   struct rec_recorded *recorded)
{
    recorded->watch.messages = (struct rec_messages){
        .verb = settings->verb, .quiet = true, .fd = collector->control};
    if (!begin(late, collector->segment, &recorded->problem)) {
        finish_collector(collector, recorded, true);
        return false;
    }
    struct fp_error error;
    char *problem = NULL;
    /* Whoever lets go of the shared memory last frees it: that is not to be a thread of the program, which stands still. */
    int segment = fp_trusted_open(AT_FDCWD, collector->segment, S_IFREG, FP_TRUSTED_OWN, &error);
    if (!settings->paused && !ask(recorded->directory, REC_REQUEST_RESUME, DONE_MOST_NS, &problem))
        asked_to_end = asked_to_end != 0 ? asked_to_end : SIGTERM;
    if (problem != NULL)
        res_say(settings->verb, "%s", problem);
    free(problem);
    say_begun(settings, late, recorded);
    note_left(late, collector->segment);
    late->process.deadline_ns = 0; /* until it is left */
    tell_phase(settings, REC_PHASE_BEGUN);
    recorded->ended_by = watch(late, collector, &recorded->watch.messages, settings->duration_ns);
    tell_phase(settings, REC_PHASE_OVER);
    leave(late, collector, recorded);
    fp_close(&segment);
    return true;
}

/* Objects that were live before are not known: `attached` makes every later step say so. */
static struct rec_settings with_ours(const struct rec_settings *settings)
{
    struct rec_settings ours = *settings;
    ours.numbered = settings->shown == NULL;
    ours.attached = true;
    ours.duration_ns =
        0; /* we end it, slots first, so that nothing is lost; the collector where we are gone */
    return ours;
}

static char *missing(const char *file, const char *installed)
{
    char user[64];
    if (!late_user_by_root() || geteuid() == 0)
        return res_printf("%s is not there: it belongs beside mallab or into %s", file, installed);
    return res_printf("user %s, whose program it is, cannot read %s: install mallab where all can read it",
                      fp_trusted_user(geteuid(), user, sizeof user), file);
}

void late_record(const struct rec_settings *settings, pid_t pid, uint64_t within_ns, struct rec_recorded *ret,
                 struct late_told *ret_told)
{
    const struct sigaction action = {.sa_handler = on_signal};
    struct rec_recorded recorded = {.code = REC_FAILED};
    struct rec_collector collector = {.process = FP_PROCESS_NONE, .control = -1};
    struct late late = {.told = ret_told,
                        .within_ns = within_ns != 0 ? within_ns : LATE_WITHIN_NS,
                        .ticket = (uint64_t)fp_now_ns()};
    const struct rec_settings ours = with_ours(settings);
    char *library = res_own_library("libmallab-late.so"), *program = res_own_program("mallab-collect");
    *ret_told = (struct late_told){0};
    asked_to_end = 0;
    fp_signals_take(ENDING, FP_ENDING_COUNT, &action, former);
    if (library == NULL || realpath(library, late.library) == NULL)
        recorded.problem = missing("libmallab-late.so", MALLAB_LIBDIR);
    else if (program == NULL)
        recorded.problem = missing("mallab-collect", MALLAB_LIBEXECDIR);
    else if (late_process_open(pid, late.within_ns + BEGIN_MOST_NS, &late.process, &recorded.problem) &&
             (is_loaded(&late) ? make_idle(&late, &recorded.problem) : load(&late, &recorded.problem))) {
        char *name = late_default_directory(pid);
        rec_recorded_place(settings, name, &recorded);
        free(name);
        if (rec_collector_start(&ours, program, recorded.directory, pid, &collector)) {
            if (ours.numbered)
                rec_recorded_take_place(settings, &collector, &recorded);
            recorded.collector = collector.process.pid;
            recorded.code = record(settings, &late, &collector, &recorded) ? 0 : REC_FAILED;
        } else {
            recorded.problem = collector.problem;
        }
    }
    fp_signals_restore(ENDING, FP_ENDING_COUNT, former);
    ret_told->asked_to_end = asked_to_end;
    late_process_close(&late.process);
    rec_collector_release(&collector);
    free(library);
    free(program);
    *ret = recorded;
}

#else

void late_record(const struct rec_settings *settings, pid_t pid, uint64_t within_ns, struct rec_recorded *ret,
                 struct late_told *ret_told)
{
    *ret = (struct rec_recorded){.code = REC_FAILED};
    *ret_told = (struct late_told){0};
    ret->problem = res_strdup(
        "--pid attaches to programs on x86-64 only: start the program under 'mallab record'");
}

#endif
