/* cells.c - single figures as text. */
#include "results/report/grid/cells.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/support.h"
#include "footprint/base/words.h"
#include "results/measure/statistics/statistics.h"

enum res_role res_cell_role(const char *verdict)
{
    static const struct {
        const char *verdict;
        enum res_role role;
    } ROLES[] = {
        {"faster", RES_ROLE_GOOD},        {"less", RES_ROLE_GOOD},
        {"within", RES_ROLE_GOOD},        {"slower", RES_ROLE_BAD},
        {"more", RES_ROLE_BAD},           {"over", RES_ROLE_BAD},
        {"undecided", RES_ROLE_DOUBT},    {RES_CELL_NOT_SHOWN, RES_ROLE_DOUBT},
        {"inconclusive", RES_ROLE_DOUBT},
    };
    for (size_t i = 0; i < sizeof ROLES / sizeof ROLES[0]; i++)
        if (verdict != NULL && strcmp(verdict, ROLES[i].verdict) == 0)
            return ROLES[i].role;
    return RES_ROLE_NONE;
}

enum res_role res_cell_role_large(const char *verdict, double ratio)
{
    const enum res_role role = res_cell_role(verdict);
    return role != RES_ROLE_DOUBT && fabs(ratio - 1) < RES_COLOUR_LEAST ? RES_ROLE_NONE : role;
}

const char *res_verdict_shown(enum res_verdict verdict, double low, double high)
{
    if (verdict == RES_LESS || verdict == RES_MORE)
        return RES_TIME_VERDICTS[verdict];
    const bool is_same = verdict == RES_SAME && low >= 1 - RES_CELL_SAME && high <= 1 + RES_CELL_SAME;
    return is_same ? RES_TIME_VERDICTS[RES_SAME] : RES_CELL_NOT_SHOWN;
}
