/* words.c - see words.h. */
#include "replay/words.h"

#include <stdio.h>

const char *rep_bytes_text(double bytes, char *ret_text)
{
    static const char *const UNITS[] = {"B", "kB", "MB", "GB", "TB"};
    size_t unit = 0;
    for (; (bytes >= 1000 || bytes <= -1000) && unit + 1 < sizeof UNITS / sizeof UNITS[0]; unit++)
        bytes /= 1000;
    (void)snprintf(ret_text, REP_BYTES_TEXT, "%.*f %s", unit == 0 ? 0 : 1, bytes, UNITS[unit]);
    return ret_text;
}
