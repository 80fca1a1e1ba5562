/* outcome_set.h - members of a run's JSON objects. After the last op only: these call malloc.
 *
 * Memory may run out anywhere: the object is built on, and rep_set_failed says so in the end, as half an object must not
 * look like a whole one. One object a process. */
#ifndef MALLAB_REPLAY_OUTCOME_OUTCOME_SET_H
#define MALLAB_REPLAY_OUTCOME_OUTCOME_SET_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* rep_set / rep_append - take over value, NULL where memory ran out. */
void rep_set(json_t *object, const char *key, json_t *value);
void rep_append(json_t *array, json_t *value);
bool rep_set_failed(void);

/* Counts beyond what JSON's signed numbers hold do not occur: 2^63 bytes or nanoseconds. */
#define rep_set_count(object, key, value) rep_set(object, key, json_integer((json_int_t)(value)))
#define rep_set_real(object, key, value)  rep_set(object, key, json_real(value))

/* rep_set_text - null where there is none, and where it is not UTF-8: a path may be anything. */
void rep_set_text(json_t *object, const char *key, const char *value);

/* rep_latency_json - the latency pass, as told: outcome_latency.c. clock: its rate is known. */
struct rep_latency;
struct rep_clock;
json_t *rep_latency_json(const struct rep_latency *latency, const struct rep_clock *clock);

#endif
