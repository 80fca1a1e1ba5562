/* fuzz_recording.c - any bytes as a recording.json: refused, or a list of processes of which some can be chosen, whose figures are
 * known or within bounds. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "convert/recording/recording.h"
#include "fuzz/target.h"

static char directory[128];

static void remove_recording(void)
{
    char path[160];
    snprintf(path, sizeof path, "%s/recording.json", directory);
    (void)unlink(path);
    (void)rmdir(directory);
}

static void write_recording(const uint8_t *bytes, size_t size)
{
    static int fd = -1;
    if (fd < 0) {
        char path[160];
        snprintf(directory, sizeof directory, "%s", fuzz_output());
        FUZZ_CHECK(mkdir(directory, 0700) == 0 && atexit(remove_recording) == 0);
        snprintf(path, sizeof path, "%s/recording.json", directory);
        fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        FUZZ_CHECK(fd >= 0);
    }
    FUZZ_CHECK(ftruncate(fd, 0) == 0 && pwrite(fd, bytes, size, 0) == (ssize_t)size);
}

static void check_usage(const struct fp_usage *usage)
{
    fuzz_check_usage(usage);
    FUZZ_CHECK(memchr(usage->allocator, '\0', sizeof usage->allocator) != NULL);
    FUZZ_CHECK(usage->points == NULL && usage->point_count == 0);
}

static void check_choice(const struct conv_survey *survey, const struct conv_choice *choice)
{
    FUZZ_CHECK(choice->count <= CONV_MEMBERS_MAX && (choice->count > 0) == (choice->lead != NULL));
    for (size_t i = 0; i < choice->count; i++) {
        const struct conv_process *member = choice->members[i];
        FUZZ_CHECK(member >= survey->processes && member < survey->processes + survey->process_count);
        FUZZ_CHECK(conv_calls_of(member) <= conv_calls_of(choice->lead));
        FUZZ_CHECK(i == 0 || choice->members[i - 1] < member); /* in the list's order, none twice */
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static struct conv_error error;
    struct conv_survey survey = {0};
    write_recording(bytes, size);
    if (conv_recording_list(directory, &survey, &error) == FP_OK) {
        struct conv_choice choice;
        conv_group_default(&survey, false, &choice);
        check_choice(&survey, &choice);
        for (size_t i = 0; i < survey.process_count; i++) {
            if (survey.processes[i].usage != NULL)
                check_usage(survey.processes[i].usage);
            conv_group_named(&survey, survey.processes[i].name, true, &choice);
            check_choice(&survey, &choice);
        }
    } else {
        FUZZ_CHECK(error.cause.status != FP_OK);
    }
    conv_survey_release(&survey);
    return 0;
}
