/* recorder.h - the room's face, but for attaching to a program that runs (attach/late_record.h). */
#ifndef MALLAB_RECORD_RECORDER_H
#define MALLAB_RECORD_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "convert/recording/recording.h"
#include "footprint/base/process.h"
#include "footprint/base/support.h"

/* ---- mallab-collect, as its starter sees it: our child, in its own session, untouched by Ctrl-C. */

/* The settings of a recording: those that the collector is told, and those that the recorder itself needs. */
struct rec_settings {
    const char *directory; /* NULL: ./mallab-NAME.PID */
    const char *shown;     /* where the directory is given as ".", as the user would write it; else NULL */
    bool numbered;         /* where that holds something, take DIRECTORY.2, .3 ... instead of failing */
    uint64_t memory_bytes; /* of the shared segment; 0: the collector's default. Likewise the others */
    uint64_t size_limit_bytes;
    uint64_t duration_ns;
    uint64_t window_ns; /* cut into windows so long; 0: not */
    uint64_t keep;      /* windows; 0: all */
    const char *label;  /* of this host (footprint/base/words.h); NULL: none */
    const char *only;   /* names of the programs to record, patterns between commas; NULL: all */
    bool paused;        /* begin without recording */
    bool attached;      /* to a program that ran already: end the recording when we end */
    int phases_fd; /* of that: gets REC_PHASE_BEGUN, and REC_PHASE_OVER when no more is recorded; 0: none */
    bool follow_cleared; /* into programs whose environment was cleared */
    bool no_follow;
    bool no_residency;    /* do not note how much of large objects is in memory */
    bool sites;           /* record the call stack of each allocation */
    uint64_t sites_bytes; /* of a sample of objects, of this mean (footprint/fp/fp_sites.h); 0: all calls */
    const char *on_full;  /* "wait" or "drop"; NULL: default */
    int stdout_to;        /* for `ab`, whose own answer goes to stdout: as of struct fp_process_plan */
    const char *verb;     /* in whose name it is said on stderr what happens while the command runs */
    bool quiet;           /* say only where the recording is, if not where it was to be */
};

#define REC_PHASE_BEGUN 'b'
#define REC_PHASE_OVER  'o'

struct rec_collector {
    struct fp_process process;
    int control; /* its messages come by it (tree_watch.c); closed when the command has ended */
    char *segment;
    char *directory; /* another one than it was told, which was taken; else NULL */
    char *problem;
};

/* rec_collector_start - start it and wait until it is ready, or says why not.
 * program, directory   its file; where it is to record.
 * command              its process, which runs by then.
 * ret_collector        ended with rec_collector_release, whatever is returned; segment is set when it is ready, else problem.
 *                      directory and problem are the caller's. */
bool rec_collector_start(const struct rec_settings *settings, const char *program, const char *directory,
                         pid_t command, struct rec_collector *ret_collector);
void rec_collector_release(struct rec_collector *collector);

/* rec_sites_are_possible - whether call stacks can be recorded on this machine. */
bool rec_sites_are_possible(void);

/* rec_recover - if path is a recording whose collector was killed and whose shared memory is still there, let
 * mallab-collect write what it holds into the recording, telling on stderr in the name of `verb` how that went. Else
 * nothing happens: looking costs a file's reading.
 * Returns  whether something was recovered. */
bool rec_recover(const char *verb, const char *path);

/* ---- can this command be recorded, before it is started.
 *
 * The shim gets into a program by LD_PRELOAD, which the dynamic loader honours: not in static programs, not in
 * programs that change their user, group or capabilities when they start, not across machine types. Such a program
 * would run and leave an empty recording, so it is refused with the remedy. */

/* Exit codes that `record` keeps for itself, as env(1) does. */
enum rec_exit {
    REC_FAILED = 125, /* it could not be recorded, and did not begin to run */
    REC_NOT_EXECUTABLE = 126,
    REC_NOT_FOUND = 127,
};

struct rec_target {
    char *path;    /* what to execute; set when code is 0 */
    int code;      /* 0: can be recorded; else the exit code for `record` (125, 126, 127) */
    char *problem; /* one line when code is not 0 */
};

/* rec_target_find - look a command up as execvp does, follow '#!' to the interpreter, look at its ELF header.
 * Only what is known before the start is checked: what the program starts in turn is not.
 * ret_target  strings are the caller's: rec_target_release. */
void rec_target_find(const char *command, struct rec_target *ret_target);
/* rec_target_obstacle - why the recorder cannot be preloaded into an executable; NULL when it can.
 * ret_sure   false where it depends on who runs it. */
const char *rec_target_obstacle(int fd, bool *ret_sure);

/* rec_target_sanitizer - why a program is run without the recorder: a sanitizer's library would
 * end it. NULL: it is not. The caller's to free. */
char *rec_target_sanitizer(const char *path);

void rec_target_release(struct rec_target *target);

/* ---- while a recorded command runs: which of its processes are not recorded and why, and what the collector says.
 *
 *   look       a walk over the command's descendants, as /proc shows them
 *   obstacle   why a process has no recorder in it
 *   note       what a process itself tells the collector: its recorder could not reach the recording, or it starts a
 *              program that can have none. What a look finds is told in the same way. The collector keeps the list
 *   message    a line of the collector's, on the socket by which it also notices our end: "stopped CAUSE NS",
 *              "resumed NS", "unrecorded WORDS" (collect/tell.c). It is said on stderr when it
 *              comes, as nobody would know later why a night is missing
 *
 * Looks miss a process that lives for a few milliseconds only. Notes miss one that is started by a process without
 * recorder, or by a call that shim/preload/exec.c does not know. */

#define REC_WATCH_MAX 32 /* processes of which nobody knows yet */
struct rec_messages {
    const char *verb; /* in whose name it is said on stderr */
    bool quiet;       /* say nothing but what is not recorded */
    int fd;           /* of the collector's; -1: none */
    char line[512];   /* what has come of the next one */
    size_t length;
    bool seen;      /* the collector has looked at the command, which has ended */
    bool told_stop; /* that recording has ended, and by what */
    bool over;      /* recording has ended for good: what is not recorded from here on is no surprise */
    size_t unrecorded_count;  /* programs of the tree that are not recorded */
    struct res_text untold;   /* lines about those of them that are not named yet */
    uint64_t untold_since_ns; /* when the first of these was heard of */
};

struct rec_look {
    char name[64]; /* the executable's base name */
    const char *obstacle;
    bool guessed; /* it may be recorded yet, and a note of its own tells better */
    pid_t pid;
    uint64_t start_ticks;
};

#define REC_PRINTED_MOST (64 << 20) /* bytes kept of what a command prints on a file of ours */
struct rec_watch {
    bool alone;     /* only the command itself is to be recorded (--no-follow) */
    int printed_to; /* file of ours that the command prints on; below 1: none */
    struct rec_messages messages;
    struct rec_look doubtful[REC_WATCH_MAX];
    size_t doubtful_count;
};

/* rec_messages_take - say what has come, without waiting. Programs that are not recorded are named after two seconds, or
 * by rec_messages_report: a short command's own output comes first. */
void rec_messages_take(struct rec_messages *messages);

/* rec_messages_wait_seen - after the collector was told that the command has ended: wait for its answer, a moment at most. */
void rec_messages_wait_seen(struct rec_messages *messages);

/* rec_messages_report - one line for each program that was not named while the command ran, with the reason. Once, at the end. */
void rec_messages_report(struct rec_messages *messages);

/* rec_watch_tell - tell the collector that a process is not recorded, and why, as the process would itself.
 * path  of its executable. */
void rec_watch_tell(pid_t pid, const char *path, const char *why, const char *segment);

/* rec_watch_until_end - wait until `command` can be waited for; look at its tree and say what the collector tells.
 * segment     path of the shared memory that recorded processes have mapped.
 * collector   waited for at once when it ends first: the recorded processes take a dead process that nobody waited for
 *             to be alive, and would wait for it. */
void rec_watch_until_end(struct rec_watch *watch, pid_t command, const char *segment,
                         struct fp_process *collector);

/* rec_start_ticks - when a process began, in clock ticks since the machine did; 0: there is none, or it has ended. */
uint64_t rec_start_ticks(pid_t pid);

/* rec_watch_maps_file - whether a process has that file mapped; false also when it cannot be told. */
bool rec_watch_maps_file(pid_t pid, const char *path);

/* ---- run a command with the shim in it and a collector beside it.
 *
 *   command    the recorded program: our child, in our process group, as if started by the shell
 *   collector  mallab-collect: our child too, in its own session, untouched by Ctrl-C
 *
 * The command is forked first and waits on a pipe, because the default directory carries its process id; it is
 * let go when the collector has said that it is ready. It holds no descriptor of ours once it runs. */

struct rec_recorded {
    int code; /* 0: the command ran; else 125-127, problem is set, and at 125 it did not begin to run */
    char *problem;
    int status;          /* as from waitpid, of the command */
    char *directory;     /* of the recording; absolute when not given */
    char *shown;         /* the same as the user would write it */
    pid_t still_running; /* another process of the tree that still runs, and the collector with it; 0: none */
    pid_t collector;
    struct rec_watch watch; /* what was seen not to be recorded */
    const char *ended_by;   /* where we ended it, how; static; NULL: the recording says it itself */
    int collector_status;   /* as from waitpid; 0 when it ended as it should, and while it runs on */
};

/* rec_run - record a command to its end.
 * path        file to execute (rec_target_find); arguments: argv, arguments[0] included.
 * ret         strings are the caller's: rec_recorded_release. */
void rec_run(const struct rec_settings *record, const char *path, char *const *arguments,
             struct rec_recorded *ret);
void rec_recorded_release(struct rec_recorded *recorded);

/* rec_recorded_place - where it records to, absolute and as the user would write it.
 * name   of the directory where the settings have none. */
void rec_recorded_place(const struct rec_settings *settings, const char *name, struct rec_recorded *recorded);

/* rec_recorded_take_place - where the collector took another directory than it was told, it becomes the recording's. That is
 * told even if we are to be quiet: the one that was named is there too, and holds something else. */
void rec_recorded_take_place(const struct rec_settings *settings, const struct rec_collector *collector,
                             struct rec_recorded *recorded);

/* ---- signals that are sent to `mallab record` and meant for the command that it records (relay.c) ----
 *
 *   witness   a child of ours that takes signals and does nothing but remember them: what reached it too was sent to the
 *             whole process group, or to the whole control group, and so has reached the command by itself. Its comm and
 *             the first word of its command line are "signals"; it is in our process group, session and control group */

/* rec_relay_prepare - start the witness; before any descriptor is opened that somebody waits for the end of. Without one
 * (no process to be had) every signal counts as sent to us alone.
 * arguments   the command's, which the witness is shown with by ps(1), so that a pattern which finds the command by them
 *             finds both (pkill -f).
 * rec_relay_begin - from here on hand to the command what supervisors and containers stop, reload and rotate servers
 * with; one command at a time. What is ignored already, as under nohup, stays ignored. */
void rec_relay_prepare(char *const *arguments);
void rec_relay_begin(pid_t command);

/* rec_relay_pause - hand nothing on any more: the command has ended, and its number may become another's. */
void rec_relay_pause(void);

/* rec_relay_asked_to_end - the last SIGINT, SIGTERM or SIGHUP since rec_relay_prepare, to us or
 * to the group, but not from the command; 0: none. */
int rec_relay_asked_to_end(void);

/* rec_relay_end - dispositions as they were, and no witness any more; also after prepare alone. */
void rec_relay_end(void);

/* ---- the content of a recording, and what is said of it on stderr when its command has ended. */

#define REC_NAMES_BYTES 256

/* The totals of a recording. */
struct rec_totals {
    struct conv_recording
        recording; /* of an unfinished one events is about right, process_count is there, all else is 0 */
    bool known;    /* recording.json or the footprints could be read */
    uint64_t lost, others;               /* calls; processes whose names `only` leaves out */
    char lost_by_cause[REC_NAMES_BYTES]; /* rec_losses */
    char other_names[REC_NAMES_BYTES];   /* "'a', 'b'": of some of them */
    char silent[REC_NAMES_BYTES];        /* likewise: programs that loaded the recorder and made no call */
};

/* rec_totals_read - read them; released with rec_totals_release. */
struct rec_totals rec_totals_read(const char *directory);
void rec_totals_release(struct rec_totals *totals);

/* rec_losses - calls that were lost by cause, in words: "disk_full 12, size_limit 3"; "" when none was. Returns ret_words. */
char *rec_losses(const uint64_t *lost, char ret_words[REC_NAMES_BYTES]);

/* rec_report - the summary, in the name of `verb`. What a killed collector left is written
 * first. quiet: only what is missing. */
void rec_report(const char *verb, const struct rec_recorded *recorded, bool quiet);

/* rec_say_why_nothing - why a recording holds no call. others_were_not: some programs could not
 * be recorded. */
void rec_say_why_nothing(const char *verb, const char *directory, const struct rec_totals *totals,
                         bool others_were_not);

/* ---- words for a recording that may still go on, by its recording.json: what it lacks, and what it comes to.
 *
 * The collector writes it while the recording goes on (collect/json.c); convert/recording reads the finished one. */

/* rec_recording_read - a directory's recording.json as it stands, of any schema; conv_recording_release ends it. Returns false where it
 * cannot be read. */
bool rec_recording_read(const char *directory, struct conv_recording *ret_recording);

/* rec_unrecorded_of - the programs that are not recorded: an array of objects with `name`, `pid`
 * (0: not known) and `why`. The caller's reference. rec_unrecorded_load - likewise of a
 * directory, or of the path of its recording.json. */
json_t *rec_unrecorded_of(const struct conv_recording *recording);
json_t *rec_unrecorded_load(const char *path);

/* rec_unrecorded_words - the words for one of them: "'postgres' (process 4711) could not ...". The caller's
 * to free. */
char *rec_unrecorded_words(const json_t *object);

#define REC_FORECAST_BYTES 48

/* rec_forecast - what so many bytes, written within so long, come to: ", at this rate 3.1 GB a day"; "" where it is too early to
 * say, before ten seconds. Returns ret_words. */
const char *rec_forecast(uint64_t bytes, uint64_t within_ns, char ret_words[REC_FORECAST_BYTES]);

/* ---- a recording that goes on, from outside: pause it, go on, cut a window, end it, ask for fresh figures.
 *
 *   request   a signal to the collector (collect/rounds.c): it takes the right to signal it, and the
 *             recorded program notices nothing
 *   answer    recording.json counts by kind what was heeded: so one who paused it knows that it was heeded, although
 *             another has let it go on since
 *   proof     that a process is the collector of the recording, before a signal is sent to it, as recording.json only
 *             names a process id. The process is held by a descriptor, so that its id cannot become another's. While it
 *             is held it was seen to be ours, to run mallab-collect, and to have started when the file says; and the
 *             lock of the recording's segment is held */

enum rec_request {
    REC_REQUEST_STATUS, /* write every call made so far, and recording.json anew */
    REC_REQUEST_PAUSE,
    REC_REQUEST_RESUME,
    REC_REQUEST_WINDOW, /* begin a new window, in a recording with windows */
    REC_REQUEST_END,    /* finish the recording; its processes run on */
};

struct rec_proof {
    pid_t collector; /* 0: none is proven */
    int pidfd;       /* -1: the kernel has none; then it is proven again before each signal */
};

struct rec_control {
    char *directory;
    struct rec_proof proof;
    struct conv_recording recording; /* recording.json, as it was read last */
};

enum rec_control_state {
    REC_CONTROL_OPEN,
    REC_CONTROL_ENDED,  /* the recording has ended in good order, and recording holds its figures */
    REC_CONTROL_KILLED, /* its collector has gone before it had finished */
    REC_CONTROL_FAILED,
};

/* rec_control_open - find the collector of a recording that goes on.
 * ret_problem  one line unless REC_CONTROL_OPEN; the caller's to free.
 * End it with rec_control_release, whatever it returned. */
enum rec_control_state rec_control_open(const char *directory, struct rec_control *ret_control,
                                        char **ret_problem);
void rec_control_release(struct rec_control *control);

/* rec_control_ask - send a request and wait for the answer, which is in control->recording then.
 * within_ns    so long at most.
 * Returns      whether it was answered; if not, ret_problem is one line, the caller's to free. */
bool rec_control_ask(struct rec_control *control, enum rec_request request, uint64_t within_ns,
                     char **ret_problem);

/* rec_control_do - the same, for as long as such an answer may take, and with fresh figures. */
bool rec_control_do(struct rec_control *control, enum rec_request request, char **ret_problem);

/* rec_status_text - how a recording stands, by its recording.json, in lines for people. alive: its collector is at work. The
 * caller's to free.
 * rec_status_json - the same as an object (docs/schema/mallab-status-1.schema.json). A new reference. */
char *rec_status_text(const struct conv_recording *recording, bool alive);
json_t *rec_status_json(const struct conv_recording *recording, bool alive);

#endif
