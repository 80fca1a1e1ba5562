/* fuzz_import.c - any bytes as another tool's trace: of the format that they seem to be of, and of one more. */
#include "convert/convert.h"
#include "convert/import/formats.h"
#include "convert/import/import.h"
#include "fuzz/target.h"

/* The first that the head could be of, so that what libFuzzer makes of a trace is read as one of its format; else any, chosen by
 * something that is repeatable. */
static const char *format_of(const uint8_t *bytes, size_t size)
{
    const struct conv_head head = {(const char *)bytes, size, true};
    const struct conv_format *format;
    size_t count = 0;
    for (; (format = conv_format_at(count)) != NULL; count++)
        if (!fuzz_everything && conv_format_fits(format, head))
            return format->name;
    return conv_format_at(size % count)->name;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (fuzz_turn(bytes, size) % 32 == 0) /* finding out opens it several times */
        check_convert(bytes, size, NULL);
    check_convert(bytes, size, format_of(bytes, size));
    return 0;
}
