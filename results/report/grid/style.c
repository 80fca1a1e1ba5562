/* style.c - see style.h. */
#include "results/report/grid/style.h"

const char *res_colour_begin(const struct res_style *style, enum res_role role)
{
    static const char *const colours[] = {"", "\033[32m", "\033[31m", "\033[33m"};
    return style->colour ? colours[role] : "";
}

const char *res_colour_end(const struct res_style *style, enum res_role role)
{
    return style->colour && role != RES_ROLE_NONE ? "\033[0m" : "";
}
