/* model.c - experiments drawn from models of noise. */
#include "statistics/samples.h"

#include <math.h>
#include <stdlib.h>

#include "footprint/base/support.h"

#define BATCHES    32u
#define OPS        (BATCHES * 8192u)
#define BATCH_NS   250e3 /* 8192 ops of 30 ns */
#define FLOOR_PART 0.12  /* of it is the harness' */
#define GAP_NS     30e6  /* from the begin of a run's process to its first op, and behind its last */

/* The machine as it goes on. */
struct machine {
    enum model model;
    struct res_random *random;
    double now_ns, end_ns; /* of the whole experiment, about */
    double until_ns;       /* the neighbour's present stretch ends */
    bool neighbour;
};

const char *model_name(enum model model)
{
    static const char *const names[MODEL_COUNT] = {"quiet", "spikes", "drift", "bimodal", "boost"};
    return names[model];
}

static double uniform(struct res_random *random)
{
    return (double)(res_random_next(random) >> 11) * 0x1p-53;
}

/* Of mean 1. */
static double exponential(struct res_random *random)
{
    return -log(1 - uniform(random));
}

/* From a millisecond to a second, each decade as often as the others; slow_longer: the slow ones are so many times as long. */
static void follow_neighbour(struct machine *machine, double slow_longer)
{
    while (machine->until_ns <= machine->now_ns) {
        machine->until_ns += 1e6 * pow(1000, uniform(machine->random)) *
                             (machine->neighbour ? 1 : slow_longer);
        machine->neighbour = !machine->neighbour;
    }
}

/* What `ns` of work take now; the time passes. */
static double work(struct machine *machine, double ns)
{
    double factor = 1 + 0.01 * exponential(machine->random);
    const double part = machine->now_ns / machine->end_ns;
    switch (machine->model) {
    case MODEL_SPIKES:
        if (uniform(machine->random) < 0.08)
            factor += 1.5 * exponential(machine->random);
        if (uniform(machine->random) < 0.01)
            factor += 3e6 / BATCH_NS; /* another process had the processor for a tick */
        break;
    case MODEL_DRIFT:
        factor *= 1 + 0.2 * part + 0.05 * sin(20 * part);
        break;
    case MODEL_BIMODAL:
        follow_neighbour(machine, 1);
        factor *= machine->neighbour ? 1.5 : 1;
        break;
    case MODEL_BOOST:
        follow_neighbour(machine, 2.6);
        factor *= machine->neighbour ? 1.36 : 1;
        break;
    default:
        break;
    }
    machine->now_ns += ns * factor;
    return ns * factor;
}

static void draw_run(struct machine *machine, double effect, struct res_run *ret_run)
{
    struct res_run run = {.ops = OPS, .batch_count = BATCHES, .given_back_share = NAN};
    double sum = 0;
    run.batch_ns = res_calloc(BATCHES, sizeof *run.batch_ns);
    run.resident_peak_bytes = run.resident_mean_bytes = run.resident_end_bytes = 1e6;
    run.resident_idle_bytes = NAN;
    machine->now_ns += GAP_NS;
    for (size_t i = 0; i < BATCHES; i++) {
        const double profile = 0.7 + 0.6 * (double)(i * 7 % BATCHES) / BATCHES;
        run.batch_ns[i] = (uint64_t)work(machine, BATCH_NS * profile * effect);
        sum += (double)run.batch_ns[i];
    }
    run.ns_per_op = sum / OPS;
    machine->now_ns += GAP_NS;
    *ret_run = run;
}

void model_draw(enum model model, double effect, size_t rounds, struct res_random *random,
                struct trial *ret_trial)
{
    model_draw_many(model, &effect, 1, rounds, random, ret_trial);
}

/* Baseline, candidates, control, floor. */
void model_draw_many(enum model model, const double *effects, size_t count, size_t rounds,
                     struct res_random *random, struct trial *ret_trial)
{
    const size_t control = count + 1, floor = count + 2, entries = count + 3;
    struct trial trial = {.entry_count = entries, .candidate_count = control, .rounds = (unsigned)rounds};
    struct machine machine = {
        .model = model,
        .random = random,
        .end_ns = (double)rounds * (double)entries * (2 * GAP_NS + BATCHES * BATCH_NS),
        .neighbour = res_random_below(random, 2) == 0,
    };
    size_t *order = res_calloc(entries, sizeof *order);
    trial.entries = res_calloc(entries, sizeof *trial.entries);
    for (size_t i = 0; i < entries; i++) {
        trial.entries[i] = (struct trial_entry){
            .is_floor = i == floor, .run_count = rounds, .runs = res_calloc(rounds, sizeof(struct res_run))};
    }
    for (size_t round = 0; round < rounds; round++) {
        for (size_t i = 0; i < entries; i++)
            order[i] = i;
        res_shuffle(random, order, entries);
        for (size_t i = 0; i < entries; i++) {
            const size_t entry = order[i];
            const double net = entry == floor ? 0 : entry == 0 || entry == control ? 1 : effects[entry - 1];
            draw_run(&machine, FLOOR_PART + (1 - FLOOR_PART) * net, &trial.entries[entry].runs[round]);
        }
    }
    free(order);
    *ret_trial = trial;
}

void model_release(struct trial *trial)
{
    for (size_t i = 0; i < trial->entry_count; i++) {
        for (size_t round = 0; round < trial->entries[i].run_count; round++)
            free(trial->entries[i].runs[round].batch_ns);
        free(trial->entries[i].runs);
    }
    free(trial->entries);
}
