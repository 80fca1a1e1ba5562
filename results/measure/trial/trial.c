/* trial.c - entries of a trial. */
#include "results/measure/trial/trial.h"

bool res_trial_has_memory(const struct res_trial *trial)
{
    return trial->memory_rounds > 0;
}

struct res_entry *res_trial_control(const struct res_trial *trial)
{
    return &trial->entries[trial->candidate_count];
}

struct res_entry *res_trial_floor(const struct res_trial *trial)
{
    return trial->entry_count > trial->candidate_count + 1 ? &trial->entries[trial->candidate_count + 1]
                                                           : NULL;
}
