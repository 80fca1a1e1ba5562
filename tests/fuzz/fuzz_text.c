/* fuzz_text.c - any lines as a workload text: refused with their line, or a workload that the checker finds legal and that
 * comes back from a text of its own to the same bytes. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "convert/check/verify.h"
#include "convert/convert.h"
#include "fuzz/target.h"

static const char MAGIC[] = "mallab-workload-text 1\n";

static void convert(const char *in, const char *out, const char *to)
{
    const struct conv_options options = {.to = to, .overwrite = true};
    static struct conv_report report;
    static struct conv_error error;
    FUZZ_CHECK(conv_file(in, out, &options, &report, &error) == FP_OK);
    conv_report_release(&report);
}

/* The first workload is at fuzz_output; the other files stand beside it. */
static void check_round_trip(const uint8_t *text, size_t size)
{
    static const char *const names[] = {".first", ".text", ".again"};
    static struct conv_verdict verdict;
    static struct conv_error error;
    struct image first = {0}, again = {0};
    char paths[3][128];
    const char *output = fuzz_output();
    for (int i = 0; i < 3; i++) {
        strcpy(paths[i], output);
        strcat(paths[i], names[i]);
    }
    convert(fuzz_input(text, size), paths[0], NULL);
    FUZZ_CHECK(conv_verify_file(paths[0], NULL, &verdict, &error) == FP_OK);
    FUZZ_CHECK(verdict.violation.fault == CONV_FAULT_NONE);
    convert(paths[0], paths[1], "text");
    convert(paths[1], paths[2], NULL);
    FUZZ_CHECK(image_load(&first, paths[0]) && image_load(&again, paths[2]));
    FUZZ_CHECK(first.size == again.size && memcmp(first.bytes, again.bytes, first.size) == 0);
    image_release(&first);
    image_release(&again);
    for (int i = 0; i < 3; i++)
        FUZZ_CHECK(unlink(paths[i]) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct conv_survey survey = {0};
    static struct conv_error error;
    const size_t magic = sizeof MAGIC - 1;
    uint8_t *text = malloc(magic + size);
    FUZZ_CHECK(text != NULL);
    memcpy(text, MAGIC, magic);
    memcpy(text + magic, bytes, size);
    check_convert(text, magic + size, "text");
    if (conv_survey_file(fuzz_input(text, magic + size), NULL, &survey, &error) == FP_OK) {
        FUZZ_CHECK(survey.kind == CONV_KIND_TEXT);
        conv_survey_release(&survey);
        check_round_trip(text, magic + size);
    }
    free(text);
    return 0;
}
