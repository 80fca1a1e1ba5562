/* salvage.c - --salvage for traces: what is left out is counted, and a file of which nothing is left is refused. */
#include "convert/import/salvage.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "convert/text/text_input.h"
#include "footprint/base/words.h"

/* A file of which nothing was understood is not a damaged trace of this format: it is no such trace. */
enum fp_status conv_import_give_up(struct conv_import *import)
{
    const enum fp_status status = conv_fail(
        import->error, import->path, FP_ERR_CORRUPT, 0, import->wrong_offset,
        "no call of a trace of format '%s' in it: %s", import->format->name, import->wrong);
    import->error->line = import->wrong_line;
    return status;
}

bool conv_import_hopeless(const struct conv_import *import, uint64_t offset)
{
    return import->taken == 0 && import->survey->lost_marks > import->understood &&
           offset >= CONV_SALVAGE_BYTES;
}

enum fp_status conv_import_skip(struct conv_import *import, enum conv_irregularity why, uint64_t offset,
                                uint64_t line, const char *wrong)
{
    import->survey->irregular[why]++;
    import->survey->lost_marks++;
    if (import->wrong[0] == '\0') {
        snprintf(import->wrong, sizeof import->wrong, "%s", wrong);
        import->wrong_offset = offset;
        import->wrong_line = line;
    }
    return conv_import_hopeless(import, offset) ? conv_import_give_up(import) : FP_OK;
}

void conv_import_tail(struct conv_import *import, uint64_t offset, const char *format, ...)
{
    char what[sizeof import->wrong];
    va_list list;
    va_start(list, format);
    vsnprintf(what, sizeof what, format, list);
    va_end(list);
    import->survey->irregular[CONV_LOST_TAILS]++;
    import->survey->uncounted = true;
    if (import->wrong[0] == '\0') {
        snprintf(import->wrong, sizeof import->wrong, "%s", what);
        import->wrong_offset = offset;
    }
    conv_import_incomplete(import, "%s at byte %llu", what, (unsigned long long)offset);
}

enum fp_status conv_import_salvaged(struct conv_import *import)
{
    const uint64_t *irregular = import->survey->irregular;
    const uint64_t lines = irregular[CONV_BAD_LINES] + irregular[CONV_LONG_LINES];
    char digits[FP_TEXT_BYTES];
    uint64_t offset;
    const char *damage = conv_text_damage(import->text, &offset);
    if (damage != NULL) {
        import->incomplete[0] = '\0'; /* that its last line is cut follows from this */
        conv_import_tail(import, offset, "%s", damage);
    }
    if (import->wrong[0] == '\0')
        return FP_OK;
    if (import->taken == 0)
        return conv_import_give_up(import);
    if (lines > 0)
        conv_import_incomplete(import, "%s of its lines %s no meaning and %s left out",
                               fp_text_grouped(lines, digits), lines == 1 ? "has" : "have",
                               lines == 1 ? "is" : "are");
    if (irregular[CONV_BAD_RECORDS] > 0)
        conv_import_incomplete(import, "%s of its records %s no meaning and %s left out",
                               fp_text_grouped(irregular[CONV_BAD_RECORDS], digits),
                               irregular[CONV_BAD_RECORDS] == 1 ? "has" : "have",
                               irregular[CONV_BAD_RECORDS] == 1 ? "is" : "are");
    return FP_OK;
}
