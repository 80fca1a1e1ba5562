/* recording_words.h - words for a recording that may still go on, by its recording.json: why it stopped, and what it lacks.
 *
 * The collector writes it while the recording goes on (shim/collect/collect_json.c); convert/recording reads the finished one. */
#ifndef MALLAB_RECORD_RECORDING_WORDS_H
#define MALLAB_RECORD_RECORDING_WORDS_H

#include <jansson.h>
#include <stdint.h>

/* rec_recording_read - a directory's recording.json as it stands. A new reference; NULL: it
 * cannot be read. */
json_t *rec_recording_read(const char *directory);

/* rec_count - the number at a key; 0 where there is none, or none above 0. */
uint64_t rec_count(const json_t *object, const char *key);

/* rec_lost - the calls that were lost, of all causes. */
uint64_t rec_lost(const json_t *recording);

/* rec_stop - why nothing is recorded although a program runs, "disk_full", "size_limit", "duration" or "end", and
 * since when; NULL: it is recorded. Valid as long as recording. */
const char *rec_stop(const json_t *recording, uint64_t *ret_after_ns);

/* rec_stop_words - the same for people, behind "recording stopped after 3 s, ". Valid to the end. */
const char *rec_stop_words(const char *stop);

/* rec_unrecorded_of - the programs that are not recorded: an array of objects with `name`, `pid`
 * (0: not known) and `why`. The caller's reference. rec_unrecorded_load - likewise of a
 * directory, or of the path of its recording.json. */
json_t *rec_unrecorded_of(const json_t *recording);
json_t *rec_unrecorded_load(const char *path);

/* rec_unrecorded_words - the words for one of them: "'postgres' (process 4711) could not ...". The caller's
 * to free. */
char *rec_unrecorded_words(const json_t *object);

#define REC_FORECAST_BYTES 48

/* rec_forecast - what so many bytes, written within so long, come to: ", at this rate 3.1 GB a day"; "" where it is too early to
 * say, before ten seconds. Returns ret_words. */
const char *rec_forecast(uint64_t bytes, uint64_t within_ns, char ret_words[REC_FORECAST_BYTES]);

#endif
