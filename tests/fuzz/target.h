/* target.h - what a fuzz target is made of.
 *
 * A target is one LLVMFuzzerTestOneInput: libFuzzer calls it with what it makes up, driver.c with committed files.
 * It takes any bytes, and ends the program by FUZZ_CHECK where a promise of a header is broken. */
#ifndef MALLAB_TESTS_TARGET_H
#define MALLAB_TESTS_TARGET_H

#include <stddef.h>
#include <stdint.h>

#include "golden/patch.h"

/* Names that libFuzzer expects. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t size_max, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *bytes, size_t size, size_t size_max); /* libFuzzer's own */

#define FUZZ_CHECK(condition) ((condition) ? (void)0 : fuzz_fail(__FILE__, __LINE__, #condition))
_Noreturn void fuzz_fail(const char *file, int line, const char *condition);

/* fuzz_turn - below FUZZ_TURNS, by a hash of the input: what of all that a target can do is done with it. 0 is everything, which takes ten
 * times as long as reading; a crash at another turn comes again with the same bytes. Under driver.c it is always 0. */
#define FUZZ_TURNS 256u
unsigned fuzz_turn(const uint8_t *bytes, size_t size);
extern bool fuzz_everything; /* driver.c's: turns do not count */

/* fuzz_input - put bytes in a file without a name. Returns a path that opens it, valid until the next call. */
const char *fuzz_input(const uint8_t *bytes, size_t size);

/* fuzz_output - a path in a private folder where no file stands. The same each time. */
const char *fuzz_output(void);

/* check_footprint, check_workload - read; hold what was read against the promises of the headers; write it
 * again, read that, and compare.
 * Return     the path of what was written, valid until the next call; NULL where nothing, or not all, was read. */
const char *check_footprint(const uint8_t *bytes, size_t size);
const char *check_workload(const uint8_t *bytes, size_t size);

/* check_convert - survey, convert, or both, by the input's turn; an error names itself and leaves no output, success leaves a workload that reads to
 * its end and has the report's totals. from: the format, as conv_options.from; NULL: it is found out. */
void check_convert(const uint8_t *bytes, size_t size, const char *from);

/* repair_summary - make a workload's summary agree with the windows that an image holds, as far as that is
 * possible without decoding their ops. */
void repair_summary(struct image *image);

/* fuzz_check_usage - its numbers are known or within bounds, its words have names. */
struct fp_usage;
void fuzz_check_usage(const struct fp_usage *usage);

#endif
