/* convert_counts.c - convert a file and print what the report counts, one "name value" a line. */
#include <inttypes.h>
#include <stdio.h>

#include "convert/convert.h"

int main(int argc, char **argv)
{
    const struct conv_options options = {.overwrite = true};
    struct conv_report report;
    struct conv_error error;
    char text[8192];
    if (argc != 3) {
        fprintf(stderr, "usage: convert_counts IN OUT\n");
        return 2;
    }
    if (conv_file(argv[1], argv[2], &options, &report, &error) != FP_OK) {
        fprintf(stderr, "%s\n", conv_error_text(&error, text, sizeof text));
        return conv_error_exit_code(&error);
    }
    printf("threads %" PRIu64 "\n", report.survey.threads);
    printf("exits %" PRIu64 "\n", report.survey.thread_exits);
    printf("live_objects_end %" PRIu64 "\n", report.survey.live_objects_end);
    printf("live_bytes_end %" PRIu64 "\n", report.survey.live_bytes_end);
    printf("live_bytes_peak %" PRIu64 "\n", report.survey.live_bytes_peak);
    printf("requested_bytes %" PRIu64 "\n", report.survey.requested_bytes);
    for (unsigned i = 0; i < CONV_IRREGULARITY_COUNT; i++)
        printf("%s %" PRIu64 "\n", conv_irregularity_name(i), report.survey.irregular[i]);
    for (unsigned i = 1; i < FP_CALL_COUNT; i++)
        if (report.survey.ops_by_call[i] > 0)
            printf("%s %" PRIu64 "\n", fp_call_name(i), report.survey.ops_by_call[i]);
    conv_report_release(&report);
    return 0;
}
