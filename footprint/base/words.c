/* words.c - see words.h. */
#include "footprint/base/words.h"

#include <inttypes.h>
#include <stdio.h>

char *fp_text_grouped(uint64_t number, char *ret_text)
{
    char digits[24];
    const int length = snprintf(digits, sizeof digits, "%" PRIu64, number);
    char *out = ret_text;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            *out++ = ',';
        *out++ = digits[i];
    }
    *out = '\0';
    return ret_text;
}

char *fp_text_bytes(double bytes, char *ret_text)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
    size_t unit = 0;
    while ((bytes >= 999.5 || bytes <= -999.5) && unit + 1 < sizeof units / sizeof units[0]) {
        bytes /= 1000;
        unit++;
    }
    (void)snprintf(ret_text, FP_TEXT_BYTES,
                   unit == 0 || bytes >= 99.95 || bytes <= -99.95 ? "%.0f %s" : "%.1f %s", bytes,
                   units[unit]);
    return ret_text;
}
