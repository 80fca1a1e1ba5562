/* verdict.h - what the figures of a workload mean for the program that was recorded.
 *
 *   share     what part of the whole process a figure is, on the allocator that it was recorded on: time in calls of its CPU time (never of
 *             wall time), heap of its resident memory at the peak. Below RES_SAVING_WORTH nothing can pay, whatever the noise. What
 *             was there before the recording began has no share
 *   saving    the baseline's figure less a candidate's. Of time, in CPU time: the baseline's time in calls by the ratio, less
 *             what the starts of its processes take more. Only what is shown counts: by the verdict on time; on the peak likewise
 *             (figures.h); at rest where each of a candidate's runs held less than each of the baseline's, by a tenth
 *   rests     was running or killed when its recording ended; or paused, with as much in memory as at its end: more than a tenth of
 *             its peak, or less of a program that waits. A program that just computes is never at rest
 *   trust     the recorded process is what a replay is held against. More page faults than the whole process had, a larger heap
 *             than all its anonymous memory, more time than all its CPU time: these cannot be, so what is here is not what the program
 *             would see. The other way round the process' own code, stacks and files explain it.
 *             Where calls wait for locks that other threads hold for a twentieth of their time, that is more or less in the program,
 *             as it depends on what runs beside them: such times are no ground, and a candidate's that does so is not advised.
 *             Where threads that are over at once make a fifth of the calls, how many overlap is the scheduler's choice, and
 *             recording makes it more: of such a program memory is no ground either (docs/notes/fidelity.md)
 *   answer    what time, the peak and rest say: one struct res_answer each, which screen, Markdown, page and JSON only word. What the
 *             program itself showed (a confirmation) outranks what its replays do
 *   good for  half the width of the widest interval of time, or how far the baseline strays from itself, if that is more */
#ifndef MALLAB_RESULTS_MEASURE_FIGURES_VERDICT_H
#define MALLAB_RESULTS_MEASURE_FIGURES_VERDICT_H

#include "results/measure/result/result.h"

/* Of the process, or of time in malloc and of the heap where that is not known: less is told not to be worth it. */
#define RES_SAVING_WORTH 0.01

/* res_resolves - the least difference that would have been shown, a share: of one as large as the interval is wide, the whole interval lies
 * beside 1 in 97 of 100 cases, and of equals within as much; nor does less count than the noise, an interval around 1, or than what is worth
 * it. NAN: there is no interval. */
double res_resolves(double ratio, struct res_interval interval, struct res_interval noise, double worth);

/* res_is_service - whether the recorded process did not end by itself.
 * res_waits - whether it paused for long, or computed for less than half of its time.
 * res_may_be_service - or one of these, or was several. */
bool res_is_service(const struct res_result_workload *workload);
bool res_waits(const struct res_result_workload *workload);
bool res_may_be_service(const struct res_result_workload *workload);

/* res_whole_process - what the process used that made the workload's calls. NULL: it is not recorded, or more than a hundredth of its calls are
 * not in the workload (lost, or cut off), so that they are no part of that whole. */
const struct res_process *res_whole_process(const struct res_result_workload *workload);

/* res_recorded_entry - the candidate that the program ran on when it was recorded: the baseline where that is not known. NULL: it was not
 * replayed, or failed. What the process used belongs to it. */
const struct res_result_entry *res_recorded_entry(const struct res_result_workload *workload);

/* res_verdicts_fill - share, trust, good_for and verdict of all workloads of a result, and its own: that of its workload where there is one,
 * that of the program itself where nothing was replayed. Those that it had are dropped: they follow from the figures. */
void res_verdicts_fill(struct res_result *result);

/* res_fleet_verdict_fill - that of a fleet, likewise. */
void res_fleet_verdict_fill(struct res_fleet *fleet);

/* res_answer_kind - what one figure says: its ratio to the baseline's, with its range and its verdict (enum res_verdict).
 * share    of the whole that the ratio is of; NAN: it is of the whole, or that is not known
 * Returns  does not matter, take, not worth, all worse, or none shown. */
enum res_answer_kind res_answer_kind(double ratio, struct res_interval range, int verdict, double share);

/* res_answer_share - what is saved as a share: of the process where that is known. */
double res_answer_share(const struct res_answer *answer);

/* res_rounds_for_memory - that a verdict on memory takes. */
unsigned res_rounds_for_memory(const struct res_result_workload *workload);

/* A difference of memory below it, and below RES_SAVING_WORTH of the process where that is known, is no difference to anybody. */
#define RES_LITTLE_BYTES 256e3
bool res_is_little_memory(const struct res_result_workload *workload, double bytes);

/* res_calls_ns - CPU time that an entry takes for all calls of a workload; NAN: not known. */
double res_calls_ns(const struct res_result_workload *workload, const struct res_result_entry *entry);

/* res_process_cpu - processor time of the recorded process: the one reading of its recording, or the median of the baseline's runs of a
 * confirmation, with the least and the most of them. NAN: not known. */
struct res_cpu {
    double ns, least_ns, most_ns;
};
struct res_cpu res_process_cpu(const struct res_result *result, const struct res_result_workload *workload);

/* res_baseline_cpu_ns - the processor time that the program would take on the baseline. NAN: not known. */
double res_baseline_cpu_ns(const struct res_result *result, const struct res_result_workload *workload);

/* res_is_torn_down - whether a recording ends with little of what was live at its peak. */
bool res_is_torn_down(const struct res_result_workload *workload);

/* res_rests - whether the program is at rest at times, with what a replay holds at its end.
 * res_rest_saved - bytes that an entry holds less at rest than the baseline, below 0 when more; NAN: not shown, or the program is
 * never at rest. */
bool res_rests(const struct res_result_workload *workload);
double res_rest_saved(const struct res_result_workload *workload, const struct res_result_entry *entry);

/* res_starts_more_ns - CPU time that the starts of all processes under an entry take more than under the baseline, of those whose calls
 * were replayed: 0 where it is not known, or where the recording began later. */
double res_starts_more_ns(const struct res_result_workload *workload, const struct res_result_entry *entry);

#endif
