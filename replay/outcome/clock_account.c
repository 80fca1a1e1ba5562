/* clock_account.c - counts of recorded.c and sleepers.c, judged. */
#include "replay/outcome/clock_account.h"

#include <string.h>

#include "replay/clock/sleepers.h"

void rep_account_take(struct rep_account *account, const struct rep_pace *pace, bool has_time,
                      unsigned threads)
{
    const unsigned known = rep_sleepers_known();
    memset(account, 0, sizeof *account);
    account->recorded = pace->recorded_clock;
    account->speed = pace->speed;
    account->behind_most_ns = atomic_load(&pace->behind_most_ns);
    account->behind_end_ns = atomic_load(&pace->behind_ns);
    account->has_time = has_time;
    account->asks = rep_recorded_asks();
    account->threads = threads > 1 ? threads - 1 : 0;
    account->unseen = account->threads > known ? account->threads - known : 0;
    account->lost = rep_sleepers_lost();
}

const char *rep_account_doubt(const struct rep_account *account)
{
    const bool at_its_own_pace = account->has_time && account->speed == 1;
    if (account->recorded && account->unseen > 0)
        return "a thread of the allocator's own sleeps by means that the replay does not see: it may have "
               "followed the "
               "machine's clock";
    if (account->recorded && account->lost > 0)
        return "a thread of the allocator's own did not keep up with the recorded clock";
    if (account->recorded || at_its_own_pace || (account->asks.asked == 0 && account->threads == 0))
        return NULL;
    return account->has_time ? "the allocator follows the clock, and this run was not on the recorded one"
                             : "the allocator follows the clock, and the workload has no recorded time";
}
