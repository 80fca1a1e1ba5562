/* advice_noise.c - what the noise may have hidden, and how to see it. */
#include "results/report/notes/advice_noise.h"

#include <math.h>
#include <stdlib.h>

#include "results/report/grid/cells.h"
#include "results/report/notes/advice_rounds.h"

#define LARGE_NOISE 0.05 /* of a ratio; more hides differences that people would act on */
#define NARROW      0.02 /* of an interval; then more rounds would decide nothing */

struct res_advice_noise res_advice_noise_of(const json_t *workload)
{
    const json_t *time = json_object_get(json_object_get(workload, "control"), "time");
    struct res_advice_noise noise = {.low = res_cell_number(time, "ratio_low"),
                                     .high = res_cell_number(time, "ratio_high")};
    noise.is_large = noise.high - 1 > LARGE_NOISE || 1 - noise.low > LARGE_NOISE;
    return noise;
}

void res_advice_remedy(struct res_text *text, const json_t *workload)
{
    const struct res_more_rounds more = res_more_rounds(workload);
    char *words = res_more_rounds_words(workload);
    res_text_printf(text, "repeat it on a quieter machine%s%s",
                    more.until > 0 || isnan(more.width) ? ", or with " : ": ", words);
    free(words);
}

void res_advice_noise(struct res_text *text, const struct res_advice_noise *noise, const char *undecided,
                      const json_t *workload)
{
    const struct res_more_rounds more = res_more_rounds(workload);
    if (noise->is_large) {
        res_text_printf(text, "; the noise is large (%+.0f to %+.0f %%): ", (noise->low - 1) * 100,
                        (noise->high - 1) * 100);
        res_advice_remedy(text, workload);
    } else if (undecided != NULL && !(more.width < NARROW)) {
        char *words = res_more_rounds_words(workload);
        res_text_printf(text, "; %s is undecided: %s%s", undecided,
                        more.until > 0 ? "more rounds may decide, " : "", words);
        free(words);
    } else if (undecided != NULL) {
        res_text_printf(
            text, "; %s is undecided: whole runs say otherwise ('mallab ab --latency' times single calls)",
            undecided);
    }
}
