/* test_convert_group.c - which processes a recording is about: tables of processes, and the choice that is made of each. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "convert/recording/choose.h"
#include "harness.h"

struct row {
    const char *name;
    uint32_t process_id, parent;
    uint64_t events;
    const char *ended; /* NULL: "exit" */
};

/* The survey of such a recording; its strings are the rows'. */
static struct conv_survey survey_of(const struct row *rows, size_t count, uint32_t command_pid)
{
    struct conv_survey survey = {.recording_state = CONV_RECORDING_FINISHED, .command_pid = command_pid};
    survey.processes = calloc(count, sizeof *survey.processes);
    survey.process_count = count;
    for (size_t i = 0; survey.processes != NULL && i < count; i++)
        survey.processes[i] = (struct conv_process){
            .name = (char *)(uintptr_t)rows[i].name,
            .ended = (char *)(uintptr_t)(rows[i].ended != NULL ? rows[i].ended : "exit"),
            .process_id = rows[i].process_id,
            .parent_process_id = rows[i].parent,
            .events = rows[i].events,
        };
    return survey;
}

/* "4711 4712": the ids of the members, in their order. */
static const char *members_of(const struct conv_choice *choice)
{
    static char text[1024];
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < choice->count; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%u", i > 0 ? " " : "",
                                 choice->members[i]->process_id);
    return text;
}

static void check_choice(const struct row *rows, size_t count, uint32_t command_pid, const char *members,
                         uint64_t lead_events)
{
    struct conv_survey survey = survey_of(rows, count, command_pid);
    struct conv_choice choice;
    conv_group_default(&survey, false, &choice);
    CHECK_STR(members_of(&choice), members);
    CHECK_U64(choice.lead != NULL ? choice.lead->events : 0, lead_events);
    free(survey.processes);
}

#define CHECK_CHOICE(rows, command, members, lead)                                                           \
    check_choice(rows, sizeof rows / sizeof rows[0], command, members, lead)

/* pyenv's python3: bash made most calls, before it became python. */
TEST(a_wrapper_that_executes_a_program_is_the_program)
{
    static const struct row rows[] = {{"bash", 10, 1, 40000, "exec"},
                                      {"env", 10, 1, 300, "exec"},
                                      {"bash", 11, 10, 30000, NULL},
                                      {"python3", 10, 1, 6000, NULL}};
    CHECK_CHOICE(rows, 0, "10", 6000);
    CHECK_CHOICE(rows, 10, "10", 6000);
}

TEST(a_server_is_its_workers_too)
{
    static const struct row rows[] = {
        {"nginx", 10, 1, 3000, NULL}, {"nginx", 11, 10, 90000, NULL}, {"nginx", 12, 10, 80000, NULL}};
    CHECK_CHOICE(rows, 10, "10 11 12", 90000);
}

/* A subshell's few calls are none of a worker; what a worker executed is none either. */
TEST(few_calls_of_its_name_are_no_workers)
{
    static const struct row rows[] = {{"perl", 10, 1, 100000, NULL},
                                      {"perl", 11, 10, 999, NULL},
                                      {"perl", 12, 10, 70000, "exec"},
                                      {"ls", 12, 10, 300, NULL}};
    CHECK_CHOICE(rows, 10, "10", 100000);
}

TEST(a_make_is_its_compilers)
{
    static const struct row rows[] = {{"make", 10, 1, 9000, NULL},   {"gcc", 11, 10, 2000, NULL},
                                      {"cc1", 12, 11, 40000, NULL},  {"as", 13, 11, 5000, NULL},
                                      {"gcc", 14, 10, 2000, "exit"}, {"cc1", 15, 14, 50000, NULL},
                                      {"as", 16, 14, 5000, NULL},    {"collect2", 17, 1, 60000, NULL}};
    CHECK_CHOICE(rows, 10, "12 15", 50000);
}

/* The script's subshells are of its name, but what it started made the calls. */
TEST(a_script_is_the_program_that_it_starts)
{
    static const struct row rows[] = {
        {"bash", 10, 1, 500, NULL}, {"bash", 11, 10, 400, NULL}, {"server", 12, 10, 80000, NULL}};
    CHECK_CHOICE(rows, 10, "12", 80000);
}

TEST(half_of_all_calls_make_it_the_command)
{
    static const struct row even[] = {{"sh", 10, 1, 500, NULL}, {"ls", 11, 10, 500, NULL}};
    static const struct row less[] = {{"sh", 10, 1, 499, NULL}, {"ls", 11, 10, 500, NULL}};
    CHECK_CHOICE(even, 10, "10", 500);
    CHECK_CHOICE(less, 10, "11", 500);
}

/* Before it is told, the command is the process whose parent was not recorded. */
TEST(an_older_recording_has_the_first_process)
{
    static const struct row rows[] = {
        {"b", 11, 10, 10, NULL}, {"a", 10, 1, 50, NULL}, {"c", 12, 10, 20, NULL}};
    struct conv_survey survey = survey_of(rows, 3, 0);
    struct conv_choice choice;
    survey.recording_state = CONV_RECORDING_ENDED_EARLY; /* by name: the order tells nothing */
    conv_group_default(&survey, false, &choice);
    CHECK_STR(members_of(&choice), "10");
    free(survey.processes);
}

TEST(what_cannot_be_converted_is_passed_over)
{
    static const struct row rows[] = {
        {"a", 10, 1, 50, NULL}, {"b", 11, 10, 900, NULL}, {"b", 12, 10, 800, NULL}};
    struct conv_survey survey = survey_of(rows, 3, 10);
    struct conv_choice choice;
    survey.processes[1].absent = true;
    conv_group_default(&survey, false, &choice);
    CHECK_STR(members_of(&choice), "12");
    survey.processes[2].missing = true;
    conv_group_default(&survey, false, &choice);
    CHECK_STR(members_of(&choice), "12"); /* to be told */
    conv_group_default(&survey, true, &choice);
    CHECK_STR(members_of(&choice), "10");
    survey.processes[0].removed = true;
    conv_group_default(&survey, true, &choice);
    CHECK_U64(choice.count, 0);
    free(survey.processes);
}

/* Those with most calls, in the order of the list; of equal ones the first. */
TEST(a_group_has_so_many_members_at_most)
{
    enum { COUNT = CONV_MEMBERS_MAX + 3 };
    struct row rows[COUNT];
    struct conv_choice choice;
    for (uint32_t i = 0; i < COUNT; i++)
        rows[i] = (struct row){"worker", 100 + i, 1, i == 5 || i == 7 ? 1 : 1000, NULL};
    struct conv_survey survey = survey_of(rows, COUNT, 0);
    conv_group_named(&survey, "worker", false, &choice);
    CHECK_U64(choice.count, CONV_MEMBERS_MAX);
    CHECK_U64(choice.left_out, 3);
    CHECK_U64(choice.members[0]->process_id, 100);
    CHECK_U64(choice.members[5]->process_id, 106);
    CHECK_U64(choice.members[CONV_MEMBERS_MAX - 1]->process_id, 100 + COUNT - 2);
    conv_group_named(&survey, "nobody", false, &choice);
    CHECK_U64(choice.count, 0);
    free(survey.processes);
}
