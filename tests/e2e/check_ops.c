/* check_ops.c - the oracle behind what an end-to-end test converts: each op of the workloads that are named is held against those before it,
 * and the figures of threads and summary against what was counted (tests/unit/ops_check.h). Tells the first that is wrong, exit code 1. */
#include <inttypes.h>
#include <stdio.h>

#include "unit/ops_check.h"

static bool is_legal(const char *path)
{
    struct wl_reader *reader = NULL;
    struct wl_window window;
    struct fp_error error;
    struct check check = {0};
    enum fp_status status = wl_reader_open(path, &error, &reader);
    bool legal = status == FP_OK && check_init(&check, wl_reader_summary(reader));
    while (legal && (status = wl_reader_next(reader, &window)) == FP_OK)
        legal = check_window(&check, &window, 0);
    legal = legal && status == FP_END && check_end(&check);
    if (!legal)
        printf("%s: %s; window %" PRIu64 ", op %" PRIu64 ": %s\n", path, fp_status_name(status),
               check.windows, check.ops, check.violation.what);
    check_release(&check);
    wl_reader_close(reader);
    return legal;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (!is_legal(argv[i]))
            return 1;
    return 0;
}
