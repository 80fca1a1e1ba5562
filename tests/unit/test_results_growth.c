/* test_results_growth.c - slopes of memory through the night: shown, levelling off, coming and going, too short. */
#include <math.h>
#include <string.h>

#include "results/measure/figures/figures.h"
#include "unit/harness.h"

#define SAMPLES 200
#define HOUR_NS 3600e9
#define HELD    100e6

/* An hour, at even times. */
static struct res_growth growth_of(double hours, double (*bytes_at)(double part))
{
    double times[SAMPLES], bytes[SAMPLES];
    for (int i = 0; i < SAMPLES; i++) {
        times[i] = hours * HOUR_NS * (i + 1) / SAMPLES;
        bytes[i] = bytes_at((i + 1.0) / SAMPLES) + 1e5 * ((i * 7) % 10 - 4.5);
    }
    return res_growth_of(times, bytes, SAMPLES, HELD);
}

static double straight(double part)
{
    return 20e6 + 30e6 * part;
}

static double falling(double part)
{
    return -straight(part);
}

static double flat(double part)
{
    return 20e6 + 0 * part;
}

/* Time constants of an eighth, and of all of it. */
static double fills(double part)
{
    return 50e6 * (1 - exp(-8 * part));
}

static double bends(double part)
{
    return 80e6 * (1 - exp(-part));
}

static double tide(double part)
{
    return 30e6 + 20e6 * sin(31 * part);
}

static double little(double part)
{
    return 20e6 + 1e6 * part;
}

TEST(what_grows_is_shown_with_its_range)
{
    const struct res_growth hour = growth_of(1, straight), two = growth_of(2, straight);
    CHECK(fabs(hour.bytes - 30e6) < 1e6 && hour.low < hour.bytes && hour.bytes < hour.high);
    CHECK(hour.low < 30e6 && 30e6 < hour.high);
    CHECK(fabs(two.bytes - 15e6) < 1e6);
    CHECK(growth_of(1, bends).bytes > 20e6);
}

TEST(what_does_not_is_not)
{
    double (*const shapes[])(double) = {falling, flat, fills, tide, little};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        CHECK(growth_of(1, shapes[i]).bytes == 0);
}

TEST(what_is_short_or_has_holes_is_not_known)
{
    double times[SAMPLES] = {0}, bytes[SAMPLES] = {0};
    CHECK(isnan(growth_of(0.1, straight).bytes));
    CHECK(isnan(res_growth_of(times, bytes, 0, HELD).bytes));
    for (int i = 0; i < SAMPLES; i++)
        times[i] = i < SAMPLES / 2 ? i : HOUR_NS;
    CHECK(isnan(res_growth_of(times, bytes, SAMPLES, HELD).bytes));
}

/* Resident grows by 11 MB where 10 MB are live, and by 30. */
TEST(an_allocators_part_of_a_leak_is_no_growth)
{
    for (int more = 11; more <= 30; more += 19) {
        json_t *times = json_array(), *live = json_array(), *resident = json_array();
        struct res_run run = {.resident_peak_bytes = HELD};
        for (int i = 0; i < SAMPLES; i++) {
            json_array_append_new(times, json_real(HOUR_NS * (i + 1) / SAMPLES));
            json_array_append_new(live, json_real(10e6 * i / SAMPLES));
            json_array_append_new(resident, json_real(more * 1e6 * i / SAMPLES));
        }
        run.json = json_pack("{s:{s:o, s:o, s:o}}", "samples", "time_ns", times, "live_bytes", live,
                             "resident_bytes", resident);
        res_growth_measure(&run);
        CHECK(fabs(run.live_growth.bytes - 10e6) < 1e5);
        CHECK(more == 11 ? run.growth.bytes == 0 : fabs(run.growth.bytes - 20e6) < 1e5);
        json_array_remove(resident, 0);
        res_growth_measure(&run);
        CHECK(isnan(run.growth.bytes) && isnan(run.live_growth.bytes));
        json_decref(run.json);
    }
}
