/* test_results_halving.c - who goes on in a search: the best in time and the best in memory by turns, and nobody without figures. */
#include <math.h>

#include "results/measure/experiment/experiment.h"
#include "unit/harness.h"

TEST(the_best_of_both_go_on)
{
    /* By turns: time takes 1, memory 3; time 0, memory 2. */
    const struct res_score scores[] = {{0.9, 1.2}, {0.5, 2.0}, {1.1, 0.8}, {1.3, 0.4}, {1.2, 1.1}};
    const bool two[] = {false, true, false, true, false}, four[] = {true, true, true, true, false};
    bool kept[5];
    CHECK_U64(res_halving_keep(scores, 5, 2, kept), 2);
    for (int i = 0; i < 5; i++)
        CHECK_U64(kept[i], two[i]);
    CHECK_U64(res_halving_keep(scores, 5, 4, kept), 4);
    for (int i = 0; i < 5; i++)
        CHECK_U64(kept[i], four[i]);
}

TEST(nobody_without_figures_goes_on)
{
    const struct res_score scores[] = {{NAN, NAN}, {NAN, 0.9}, {1.5, NAN}, {NAN, NAN}};
    bool kept[4];
    CHECK_U64(res_halving_keep(scores, 4, 3, kept), 2);
    CHECK(!kept[0] && kept[1] && kept[2] && !kept[3]);
    CHECK_U64(res_halving_keep(scores, 0, 3, kept), 0);
}

TEST(one_figure_is_enough)
{
    const struct res_score scores[] = {{NAN, 1.1}, {NAN, 1.3}, {NAN, 1.2}};
    bool kept[3];
    CHECK_U64(res_halving_keep(scores, 3, 2, kept), 2);
    CHECK(kept[0] && !kept[1] && kept[2]);
}
