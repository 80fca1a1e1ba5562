/* Shows: each trace of traces/ converts to the very ops, facts, irregularities and notes that stand in the text beside
 * it, whether its format is found out or named; each trace of invalid/ is refused with the words and the exit code that
 * invalid/traces.txt lists, and with --salvage converts to the facts that stand there, or is refused again.
 *
 * Binary traces are written as hexadecimal digits with comments behind '#', in files *.hex.
 * MALLAB_GOLDEN_UPDATE=1 rewrites what is expected in the source tree. */
#include <sys/stat.h>
#include <unistd.h>

#include "convert/convert.h"
#include "convert/import/formats.h"
#include "convert/open/input.h"
#include "golden/committed.h"
#include "unit/scratch.h"

/* Digits to bytes, in place. */
static void from_hex(struct image *image)
{
    size_t digits = 0;
    for (size_t i = 0; i < image->size; i++) {
        const char c = (char)image->bytes[i];
        while (c == '#' && i < image->size && image->bytes[i] != '\n')
            i++;
        if (c == '#' || c == ' ' || c == '\n')
            continue;
        const uint8_t value = (uint8_t)(c <= '9' ? c - '0' : c - 'a' + 10);
        if (value > 15)
            HARNESS_FAIL("'%c' is no digit", c);
        if (digits % 2 == 0)
            image->bytes[digits / 2] = (uint8_t)(value << 4);
        else
            image->bytes[digits / 2] |= value;
        digits++;
    }
    CHECK_U64(digits % 2, 0);
    image->size = digits / 2;
}

/* The trace itself, under its own name in the scratch folder where it had to be unpacked. */
static const char *trace_path(const char *folder, const char *name)
{
    OWNED(image) image = {0};
    const char *path = committed(folder, name, "");
    if (!ends_with(name, ".hex"))
        return path;
    load(&image, path);
    from_hex(&image);
    path = scratch_path(name);
    scratch_write(path, image.bytes, image.size);
    return path;
}

/* ---- valid --------------------------------------------------------------------------------- */

static void tell_survey(const struct conv_survey *survey, FILE *out)
{
    fprintf(out, "%s, process %u, program '%s', complete %s%s%s\n", conv_kind_name(survey->kind),
            survey->process_id, survey->program, survey->complete ? "yes" : "no: ", survey->incomplete_why,
            survey->process_count > 0 ? ", several processes" : "");
    fprintf(out,
            "events %" PRIu64 " ops %" PRIu64 " threads %" PRIu64 " exits %" PRIu64 " duration %" PRIu64
            " ns\n",
            survey->events, survey->ops, survey->threads, survey->thread_exits, survey->duration_ns);
    fprintf(out, "lacks %s\n", survey->lacks);
    for (unsigned i = 0; i < CONV_IRREGULARITY_COUNT; i++)
        if (survey->irregular[i] > 0)
            fprintf(out, "irregular %s %" PRIu64 "\n", conv_irregularity_name(i), survey->irregular[i]);
}

/* What one conversion gives, as text to be freed; NULL when it failed. */
static char *converted(const char *path, const char *from)
{
    static struct conv_error error;
    const struct conv_options options = {.from = from, .overwrite = true};
    OWNED(conv_survey) survey = {0};
    OWNED(conv_report) report = {0};
    const char *out_path = scratch_path("out.wl");
    char *text = NULL, words[600];
    size_t size = 0;
    if (conv_file(path, out_path, &options, &report, &error) != FP_OK) {
        HARNESS_FAIL("%s", conv_error_text(&error, words, sizeof words));
        return NULL;
    }
    FILE *out = open_memstream(&text, &size);
    if (out == NULL)
        abort();
    tell_survey(&report.survey, out);
    CHECK_U64(conv_survey_file(out_path, NULL, &survey, &error), FP_OK);
    CHECK_STR(survey.lacks, report.survey.lacks); /* the workload says it too */
    CHECK(survey.complete == report.survey.complete);
    CHECK(memcmp(survey.irregular, report.survey.irregular, sizeof survey.irregular) == 0);
    (void)dump_workload(out_path, out); /* what it ends with is part of the text */
    if (fclose(out) != 0)
        abort();
    return text;
}

/* The version of the program is no business of golden files. */
static void drop_version(char *text)
{
    char *line = strstr(text, "meta mallab_version=");
    char *end = line != NULL ? strchr(line, '\n') : NULL;
    if (end != NULL)
        memmove(line, end + 1, strlen(end + 1) + 1);
}

static bool formats_seen[64];

static void check_trace(const char *name)
{
    if (ends_with(name, ".expected"))
        return;
    const char *path = trace_path("traces", name);
    const enum conv_kind kind = conv_detect(path);
    const size_t length = strlen(conv_kind_name(kind));
    if (strncmp(name, conv_kind_name(kind), length) != 0 || name[length] != '-')
        HARNESS_FAIL("%s was taken for '%s'", name, conv_kind_name(kind));
    char *found = converted(path, NULL);
    char *named = converted(path, conv_kind_name(kind));
    if (found != NULL && named != NULL) {
        CHECK_STR(found, named);
        drop_version(found);
        check_text(committed("traces", name, ".expected"), found);
    }
    formats_seen[kind] = true;
    free(found);
    free(named);
}

TEST(traces_convert_to_their_text)
{
    const struct conv_format *format;
    (void)each_committed("traces", "", "", check_trace);
    for (size_t i = 0; (format = conv_format_at(i)) != NULL; i++)
        if (!formats_seen[format->kind])
            HARNESS_FAIL("no trace of format '%s'", format->name);
}

/* ---- as text ------------------------------------------------------------------------------- */

/* A golden workload comes back from text with all that is in it. Call sites have no text. */
static void check_text_of(const char *name)
{
    static struct conv_error error;
    static struct conv_report report;
    const char *path = committed("valid", name, ""), *txt = scratch_path("as.txt"),
               *back = scratch_path("back.wl");
    const struct conv_options text = {.to = "text", .overwrite = true}, workload = {.overwrite = true};
    if (strcmp(name, "sites.wl") == 0)
        return;
    CHECK_U64(conv_file(path, txt, &text, &report, &error), FP_OK);
    conv_report_release(&report);
    CHECK_U64(conv_file(txt, back, &workload, &report, &error), FP_OK);
    conv_report_release(&report);
    OWNED_TEXT *kept = dump_text(dump_workload, path), *made = dump_text(dump_workload, back);
    if (strcmp(kept, made) != 0)
        HARNESS_FAIL("%s is another behind its text", name);
}

TEST(workloads_come_back_from_their_text)
{
    CHECK(each_committed("valid", "", ".wl", check_text_of) >= 8);
}

/* ---- invalid ------------------------------------------------------------------------------- */

static FILE *answers;

/* "trace-FORMAT-DEFECT": the longest format that the name begins with. */
static const char *format_of(const char *name)
{
    const struct conv_format *known;
    const char *format = NULL;
    for (size_t i = 0; (known = conv_format_at(i)) != NULL; i++) {
        const size_t length = strlen(known->name);
        if (strncmp(name + 6, known->name, length) == 0 && name[6 + length] == '-' &&
            (format == NULL || length > strlen(format)))
            format = known->name;
    }
    return format;
}

static void check_refused(const char *name)
{
    static struct conv_error error;
    const char *path = trace_path("invalid", name);
    const char *out_path = scratch_path("refused.wl");
    struct conv_options options = {.from = format_of(name)};
    OWNED(conv_report) report = {0};
    OWNED(conv_survey) survey = {0};
    char words[2048];
    CHECK(options.from != NULL);
    if (conv_file(path, out_path, &options, &report, &error) == FP_OK) {
        HARNESS_FAIL("%s was accepted", name);
        return;
    }
    CHECK(access(out_path, F_OK) != 0);
    error.path[0] = '\0';
    fprintf(answers, "%-36s %d  %s\n", name, conv_error_exit_code(&error),
            conv_error_text(&error, words, sizeof words));
    options.salvage = true;
    if (conv_file(path, out_path, &options, &report, &error) != FP_OK) {
        error.path[0] = '\0';
        fprintf(answers, "salvage %d  %s\n\n", conv_error_exit_code(&error),
                conv_error_text(&error, words, sizeof words));
        return;
    }
    tell_survey(&report.survey, answers);
    fprintf(answers, "requested %" PRIu64 " bytes, at the end %" PRIu64 ", lost %" PRIu64 "\n\n",
            report.survey.requested_bytes, report.survey.live_bytes_end, report.survey.lost_marks);
    CHECK_U64(conv_survey_file(out_path, NULL, &survey, &error), FP_OK);
    CHECK(memcmp(survey.irregular, report.survey.irregular, sizeof survey.irregular) == 0);
    CHECK_U64(survey.lost_marks, report.survey.lost_marks);
    CHECK(survey.complete == report.survey.complete);
    CHECK(unlink(out_path) == 0);
}

TEST(damaged_traces_are_refused_as_listed)
{
    char *text = NULL;
    size_t size = 0;
    answers = open_memstream(&text, &size);
    if (answers == NULL)
        abort();
    fputs("# file, exit code, message; what it is with --salvage\n", answers);
    CHECK(each_committed("invalid", "trace-", "", check_refused) > 20);
    if (fclose(answers) != 0)
        abort();
    check_text(committed("invalid", "traces.txt", ""), text);
    free(text);
}
