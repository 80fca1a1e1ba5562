/* convert_each.c - a process of ours for each one converted: conv_file knows but one output at a time, and a failure stays
 * with its own. What they say comes back in files without a name. */
#include "cli/verbs/convert_each.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/base/progress.h"
#include "cli/verbs/workloads.h"
#include "convert/recording/choose.h"
#include "convert/recording/recording.h"
#include "footprint/base/json_read.h"
#include "footprint/base/memory_bound.h"
#include "footprint/base/part_name.h"
#include "footprint/base/words.h"
#include "results/measure/base/support.h"

struct job {
    const struct conv_process *process;
    char *input, *output;
    const char *process_file; /* for the conversion: NULL when the input is a footprint */
    pid_t pid;                /* 0: not begun, or over */
    int answer, words;        /* its stdout and stderr */
    int code;
    json_t *report;
};

struct work {
    const struct cli_verb *verb;
    const struct cli_each *each;
    struct job *jobs;
    size_t count, begun, over;
    struct cli_progress line;
};

static const int NUMBERS[] = {SIGINT, SIGTERM, SIGHUP};
#define NUMBER_COUNT (sizeof NUMBERS / sizeof NUMBERS[0])

static volatile sig_atomic_t stop_signal;

static void note_signal(int number)
{
    stop_signal = number;
}

/* Signals that are not ignored go to handler. */
static void take_signals(void (*handler)(int), struct sigaction *ret_saved)
{
    const struct sigaction action = {.sa_handler = handler}; /* without SA_RESTART: waiting ends */
    for (size_t i = 0; i < NUMBER_COUNT; i++) {
        sigaction(NUMBERS[i], NULL, &ret_saved[i]);
        if (ret_saved[i].sa_handler != SIG_IGN)
            sigaction(NUMBERS[i], &action, NULL);
    }
}

/* ---- which ----------------------------------------------------------------------------------- */

/* A process whose recording is cut into windows is chosen in it, so that all of them are converted; so is one that is
 * missing, for the message. NULL: it has one footprint, to be named alone. ret_stem: its name without an ending. */
static const char *chosen_file(const struct conv_process *process, char ret_stem[CONV_PATH_BYTES])
{
    uint32_t window = 0;
    if (!fp_part_name(process->file, CONV_PATH_BYTES, ret_stem, &window))
        snprintf(ret_stem, CONV_PATH_BYTES, "%u", process->process_id);
    return window != 0 || process->missing ? process->file : NULL;
}

static void add_job(struct work *work, const char *directory, const struct conv_process *process)
{
    struct job *job = &work->jobs[work->count++];
    char stem[CONV_PATH_BYTES];
    char *name;
    *job = (struct job){
        .process = process, .process_file = chosen_file(process, stem), .answer = -1, .words = -1};
    name = res_printf("%s%s", stem, work->each->ending);
    job->output = res_path_join(work->each->directory, name);
    job->input = job->process_file != NULL ? res_strdup(directory) : res_path_join(directory, process->file);
    free(name);
}

static void list_jobs(struct work *work, const struct conv_survey *survey)
{
    char directory[CONV_PATH_BYTES], digits[32];
    size_t silent = 0;
    conv_recording_directory(work->each->input, directory);
    work->jobs = res_calloc(survey->process_count, sizeof *work->jobs);
    for (size_t i = 0; i < survey->process_count; i++) {
        const struct conv_process *process = &survey->processes[i];
        if (!process->chosen)
            continue;
        if (process->events == 0)
            silent++;
        else if (process->missing && work->each->options->salvage)
            cli_say(work->verb, "left out: footprint '%s' is missing", process->file);
        else
            add_job(work, directory, process);
    }
    if (silent > 0 && !work->each->quiet)
        cli_say(work->verb, "left out: %s process%s without a call", fp_text_grouped(silent, digits),
                silent == 1 ? "" : "es");
}

/* Before the work: none of it is lost to a name that was taken. The first is named, others are counted. */
static bool check_outputs(const struct work *work)
{
    char *first = NULL;
    size_t refused = 0;
    for (size_t i = 0; i < work->count; i++) {
        char *problem = NULL;
        if (cli_output_check(work->jobs[i].output, work->each->options->overwrite, &problem))
            continue;
        if (refused++ == 0)
            first = problem;
        else
            free(problem);
    }
    if (refused == 1)
        cli_say(work->verb, "%s; nothing was converted", first);
    else if (refused > 1)
        cli_say(work->verb, "%s; likewise %zu more of %zu; nothing was converted", first, refused - 1,
                work->count);
    free(first);
    return refused == 0;
}

/* ---- one ------------------------------------------------------------------------------------- */

static unsigned processors(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? (unsigned)CPU_COUNT(&set) : 1;
}

static unsigned jobs_at_once(const struct work *work)
{
    return work->each->jobs != 0 ? work->each->jobs : processors();
}

__attribute__((noreturn)) static void convert_one(const struct work *work, const struct job *job)
{
    struct conv_options options = *work->each->options;
    struct sigaction parents[NUMBER_COUNT];
    int code;
    take_signals(SIG_DFL, parents);
    options.process_file = job->process_file;
    options.in_place = true; /* the processors have their work */
    fp_memory_share(jobs_at_once(work));
    if (dup2(job->answer, STDOUT_FILENO) < 0 || dup2(job->words, STDERR_FILENO) < 0)
        _exit(CLI_FAILED);
    code = cli_convert_file(work->verb, job->input, job->output, &options, true, CLI_PROGRESS_NEVER, true);
    (void)fflush(NULL); /* a file in memory */
    _exit(code);
}

static bool begin_job(struct work *work, struct job *job)
{
    job->answer = memfd_create("mallab-answer", MFD_CLOEXEC);
    job->words = memfd_create("mallab-words", MFD_CLOEXEC);
    job->pid = job->answer >= 0 && job->words >= 0 ? fork() : -1;
    if (job->pid == 0)
        convert_one(work, job);
    if (job->pid > 0)
        return true;
    cli_say(work->verb, "cannot begin to convert '%s': %s", job->input, strerror(errno));
    job->pid = 0;
    job->code = CLI_FAILED;
    return false;
}

/* Its lines as they are, but for the name of the process in each. */
static void retell(const struct work *work, struct job *job)
{
    char *line = NULL;
    size_t size = 0;
    ssize_t length;
    char *prefix = res_printf("mallab %s: ", work->verb->name);
    char *name = res_text_plain(job->process->name);
    FILE *words = lseek(job->words, 0, SEEK_SET) == 0 ? fdopen(job->words, "r") : NULL;
    while (words != NULL && (length = getline(&line, &size, words)) > 0) {
        const char *text = strncmp(line, prefix, strlen(prefix)) == 0 ? line + strlen(prefix) : line;
        if (line[length - 1] == '\n')
            line[length - 1] = '\0';
        cli_say(work->verb, "%s.%u: %s", name, job->process->process_id, text);
    }
    if (words != NULL) {
        (void)fclose(words); /* read to its end */
        job->words = -1;
    }
    free(line);
    free(name);
    free(prefix);
}

static void sum_up(const struct work *work, const struct job *job)
{
    char ops[32], bytes[32];
    const json_t *report = job->report;
    if (report != NULL && !work->each->quiet)
        cli_say(work->verb, "%s: %s ops, %s", job->output,
                fp_text_grouped((unsigned long long)json_integer_value(json_object_get(report, "ops")), ops),
                fp_text_bytes((double)json_integer_value(json_object_get(report, "output_bytes")), bytes));
}

static void end_job(struct work *work, struct job *job, int status)
{
    const struct fp_json_bound bound = {.text_bytes = FP_JSON_ANSWER_BYTES};
    job->pid = 0;
    job->code = WIFEXITED(status) ? WEXITSTATUS(status) : CLI_FAILED;
    if (job->code == CLI_DONE && lseek(job->answer, 0, SEEK_SET) == 0)
        (void)fp_json_read(job->answer, &bound, &job->report, NULL); /* NULL stays */
    (void)close(job->answer);                                        /* read to its end */
    job->answer = -1;
    cli_progress_end(&work->line);
    if (WIFSIGNALED(status) && stop_signal == 0)
        cli_say(work->verb, "converting '%s' ended by signal %d", job->input, WTERMSIG(status));
    retell(work, job);
    sum_up(work, job);
}

/* ---- all ------------------------------------------------------------------------------------- */

static void tell_all(const struct work *work, int number)
{
    for (size_t i = 0; i < work->count; i++)
        if (work->jobs[i].pid > 0)
            (void)kill(work->jobs[i].pid, number); /* gone by then is as good */
}

/* Wait until one of them is over. */
static void wait_for_one(struct work *work)
{
    int status;
    const pid_t pid = waitpid(-1, &status, 0);
    for (size_t i = 0; i < work->count && pid > 0; i++) {
        if (work->jobs[i].pid != pid)
            continue;
        work->over++;
        end_job(work, &work->jobs[i], status);
        cli_progress_show(&work->line, "convert", "processes", work->over, work->over, work->count);
        return;
    }
}

static void run_jobs(struct work *work)
{
    const unsigned at_once = jobs_at_once(work);
    while (work->over < work->count && (stop_signal == 0 || work->begun > work->over)) {
        if (stop_signal != 0)
            tell_all(work, stop_signal);
        if (stop_signal == 0 && work->begun < work->count && work->begun - work->over < at_once) {
            if (!begin_job(work, &work->jobs[work->begun++]))
                work->over++;
        } else {
            wait_for_one(work);
        }
    }
}

static int conclude(const struct work *work)
{
    json_t *object, *list = json_array();
    int code = CLI_DONE;
    for (size_t i = 0; i < work->count; i++) {
        const struct job *job = &work->jobs[i];
        if (job->code > code)
            code = job->code;
        if (job->report != NULL)
            json_array_append(list, job->report);
    }
    if (!work->each->json) {
        json_decref(list);
        return code;
    }
    object = json_object();
    json_object_set_new(object, "schema", json_string("mallab-convert-each/1"));
    json_object_set_new(object, "mallab_version", json_string(MALLAB_VERSION));
    json_object_set_new(object, "failed", json_integer((json_int_t)(work->count - json_array_size(list))));
    json_object_set_new(object, "workloads", list);
    const int printed = cli_print_json(object);
    return code != CLI_DONE ? code : printed;
}

static void free_jobs(struct work *work)
{
    for (size_t i = 0; i < work->count; i++) {
        struct job *job = &work->jobs[i];
        if (job->answer >= 0)
            close(job->answer);
        if (job->words >= 0)
            close(job->words);
        free(job->input);
        free(job->output);
        json_decref(job->report);
    }
    free(work->jobs);
}

static int convert_all(struct work *work)
{
    struct sigaction saved[NUMBER_COUNT];
    take_signals(note_signal, saved);
    cli_progress_begin(&work->line, work->each->progress);
    run_jobs(work);
    cli_progress_end(&work->line);
    for (size_t i = 0; i < NUMBER_COUNT; i++)
        sigaction(NUMBERS[i], &saved[i], NULL);
    if (stop_signal != 0)
        (void)raise(stop_signal);
    return conclude(work);
}

int cli_convert_each(const struct cli_verb *verb, const struct cli_each *each)
{
    struct work work = {.verb = verb, .each = each};
    struct conv_survey survey = {0};
    struct conv_error *error = res_calloc(1, sizeof *error);
    char text[CONV_PATH_BYTES + 512];
    bool made;
    int code = CLI_FAILED;
    enum fp_status status = conv_recording_list(each->input, &survey, error);
    if (status == FP_OK)
        status = conv_recording_choose_some(each->input, each->list, &survey, error);
    if (status != FP_OK) {
        cli_say(verb, "%s", conv_error_text(error, text, sizeof text));
        code = conv_error_exit_code(error);
    } else if (!(made = mkdir(each->directory, 0777) == 0) && errno != EEXIST) {
        cli_say(verb, "cannot make directory '%s': %s", each->directory, strerror(errno));
    } else {
        list_jobs(&work, &survey);
        if (check_outputs(&work))
            code = convert_all(&work);
        free_jobs(&work);
        if (made && code != CLI_DONE)
            (void)rmdir(each->directory); /* stays when a workload is in it */
    }
    conv_survey_release(&survey);
    free(error);
    return code;
}
