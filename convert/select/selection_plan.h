/* selection_plan.h - the settled selection of an opened input: shares of its time turned into times, words for people and for
 * the workload's meta data. Private to convert/. */
#ifndef MALLAB_CONVERT_SELECT_SELECTION_PLAN_H
#define MALLAB_CONVERT_SELECT_SELECTION_PLAN_H

#include "convert/base/request.h"
#include "convert/base/survey_counts.h"
#include "convert/ops/track.h"
#include "footprint/wl/workload.h"

/* conv_plan_wants_duration - whether a share of the input's time, or one by the clock, is asked for, so that its duration must be known. */
bool conv_plan_wants_duration(const struct conv_selection *select);

/* conv_plan_settle - after opening, before the pass. Fills survey->selected and moves survey->start_unix_ns to where
 * the section begins; options->select's times become CONV_WHEN_TIME or CONV_WHEN_NONE.
 * path          of the input as the caller named it, for messages.
 * duration_ns   of the whole input; 0: not known.
 * options       the caller's copy.
 * Returns       FP_OK; FP_ERR_ARGUMENT for what cannot be meant, in error. */
enum fp_status conv_plan_settle(const char *path, uint64_t duration_ns, struct conv_options *options,
                                struct conv_survey *survey, struct conv_error *error);

/* conv_plan_clock - turn a time by the clock into one since the recording began; others stay as they are.
 * start_unix_ns, duration_ns   of the input; 0: not known.
 * Returns  FP_OK; FP_ERR_ARGUMENT where the begin is not known, or the recording ended before that time, in error. */
enum fp_status conv_plan_clock(const char *path, uint64_t start_unix_ns, uint64_t duration_ns,
                               struct conv_when *when, struct conv_error *error);

/* conv_plan_any - whether calls are selected by when they came (not counting processes). Of settled options. */
bool conv_plan_any(const struct conv_selection *select);

/* ---- the filters that a selection asks for, one behind the other, in front of the pairing -----------
 *
 * In this order: section, head; what is not asked for is not there. docs/selections.md says why. */

#define CONV_BATCH_EVENTS 256u /* as order.c's: stays in the first-level cache */

/* Lets the first calls pass, of all threads together. */
struct conv_first_calls {
    struct conv_sink next;
    uint64_t left; /* calls that may still pass; marks are no calls */
};

struct conv_chain;

/* Lets a stretch of time pass. */
struct conv_section {
    struct conv_chain *chain;
    uint64_t from_ns, to_ns; /* to_ns 0: to the end */
    uint64_t now_ns;
    bool begun;
    struct conv_heap heap; /* until it begins */
    uint8_t *called;       /* since it began, by lane: whether it made a call */
    size_t called_capacity;
    struct conv_sink next;
    size_t count; /* events gathered, so that the next one takes them in batches */
    struct conv_event events[CONV_BATCH_EVENTS];
};

struct conv_chain {
    const struct conv_input *input;
    bool has_section;
    struct conv_section section;
    struct conv_first_calls head;
    struct conv_sink sink; /* where the chain begins */
};

/* conv_chain_init - a chain that ends in `pairing`.
 * select    settled (selection_plan.h); survey: counts go there; both borrowed until conv_chain_release, as input.
 * Returns   false: no memory; conv_chain_release accepts it in either case. The struct stays where it is. */
bool conv_chain_init(struct conv_chain *chain, const struct conv_selection *select,
                     const struct conv_input *input, struct conv_survey *survey, struct conv_sink pairing);
void conv_chain_release(struct conv_chain *chain);

/* conv_chain_conclude - after the pass and the input's conclusion: the duration is the selection's; what was asked for and
 * is not there, and a selection without a call, are errors.
 * stopped   the chain ended the pass.
 * last_ns   time of the last event that passed.
 * Returns   FP_OK; FP_ERR_ARGUMENT in error. */
enum fp_status conv_chain_conclude(const struct conv_chain *chain, const struct conv_selection *select,
                                   bool stopped, uint64_t last_ns, struct conv_survey *survey,
                                   struct conv_error *error);

#endif
