/* recorder_program.c - `mallab` as the package mallab-record has it: it records, and looks at what was recorded.
 *
 * Where the package mallab is installed too, that one's `mallab` takes the place of this process, whatever the verb. Other
 * tools' traces, which need libarchive and zlib, are left out: the functions at the end stand in place of
 * convert/text/text_input.c. */
#include <unistd.h>

#include "cli/verbs/verbs.h"
#include "convert/text/text_input.h"

static const struct cli_verb *const VERBS[] = {&CLI_RECORD, &CLI_TOP, &CLI_INFO, &CLI_HELP, NULL};

/* Only where we are installed: in a build tree, and where a tarball was unpacked, all programs stand side by side. */
static int run_whole(int argc, char **argv)
{
    char *beside = res_path_join(res_program_directories()[0], "mallab-collect");
    if (access(beside, X_OK) != 0)
        (void)execv(MALLAB_LIBEXECDIR "/mallab", argv); /* it is not there: then it is ours to do */
    free(beside);
    return -1;
}

const struct cli_program CLI_PROGRAM = {
    .verbs = VERBS,
    .purpose = "Record what a program asks of malloc. To replay it on other allocators, install\n"
               "all of mallab, here or on another machine.",
    .example = "mallab record -- sqlite3 :memory: 'SELECT 1'",
    .rest = "this is the recorder alone; all of mallab (the package 'mallab') has the others",
    .begin = run_whole,
};

/* ---- what is left out ------------------------------------------------------------------------- */

enum fp_status conv_text_open(const char *path, struct conv_error *ret_error, struct conv_text **ret_text)
{
    (void)conv_fail(ret_error, path, FP_ERR_FOREIGN, 0, 0,
                    "is no recording, footprint, workload or result, and other tools' traces are read by "
                    "all of mallab, not by the recorder alone");
    return conv_no_remedy(ret_error);
}

/* No text was ever opened. */
#define NEVER(type, name, ...)                                                                               \
    type name(__VA_ARGS__)                                                                                   \
    {                                                                                                        \
        abort();                                                                                             \
    }
NEVER(enum fp_status, conv_text_peek, struct conv_text *text, struct conv_error *ret_error,
      const char **ret_bytes, size_t *ret_size, bool *ret_whole)
NEVER(enum fp_status, conv_text_line, struct conv_text *text, struct conv_error *ret_error,
      struct conv_line *ret_line)
NEVER(void, conv_text_salvage, struct conv_text *text, bool salvage)
NEVER(const char *, conv_text_damage, const struct conv_text *text, uint64_t *ret_offset)
NEVER(uint64_t, conv_text_offset, const struct conv_text *text)
NEVER(enum fp_status, conv_text_spool, struct conv_text *text, struct conv_error *ret_error, int *ret_fd,
      uint64_t *ret_size)
NEVER(uint64_t, conv_text_position, const struct conv_text *text)
NEVER(uint64_t, conv_text_size, const struct conv_text *text)

void conv_text_close(struct conv_text *text)
{
}
