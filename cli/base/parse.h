/* parse.h - numbers on the command line. */
#ifndef MALLAB_CLI_BASE_PARSE_H
#define MALLAB_CLI_BASE_PARSE_H

#include <stdbool.h>
#include <stdint.h>

/* cli_parse_size - "4096", "64K", "1.5G" (times 1024) to bytes. Returns false for anything else, 0 and overflow.
 * cli_parse_duration - "90", "90s", "250ms", "5m", "8h", "2d" to nanoseconds; likewise.
 * cli_parse_count - a decimal number in least .. most. */
bool cli_parse_size(const char *text, uint64_t *ret_bytes);
bool cli_parse_duration(const char *text, uint64_t *ret_ns);
bool cli_parse_count(const char *text, uint64_t least, uint64_t most, uint64_t *ret_count);

/* cli_draw_seed - a random one for who names none. */
#define CLI_SEED_BITS 53 /* of seeds that are named: a whole number in every JSON reader */
uint64_t cli_draw_seed(void);

#endif
