/* fuzz_import.c - any bytes as another tool's trace: of the format that they seem to be of, and of one more. */
#include "convert/convert.h"
#include "convert/import/formats.h"
#include "fuzz/target.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct conv_format_facts facts;
    size_t formats = 0;
    while (conv_format_facts(formats, &facts))
        formats++;
    check_convert(bytes, size, NULL);
    FUZZ_CHECK(conv_format_facts(size % formats, &facts)); /* chosen by something that is repeatable */
    check_convert(bytes, size, facts.name);
    return 0;
}
