/* packs.h - packs among a verb's operands: the verb sees what is in them.
 *
 * They are unpacked into a temporary directory of ours, and mallab runs once more as our child with their items in their
 * place. We wait for it and remove the directory, whatever ended it: a signal that asks us to end is handed on. */
#ifndef MALLAB_CLI_OPTIONS_PACKS_H
#define MALLAB_CLI_OPTIONS_PACKS_H

#include <stdbool.h>

#include "cli/base/progress.h"
#include "cli/options/option_table.h"
#include "convert/pack/pack_open.h"

/* cli_packs_run - where an operand is a pack, run the verb with what is in it.
 * argv      as the verb has it, verb->name first; operands' words are of it.
 * Returns   -1: none is a pack; else the exit code. Does not return where the child was ended by a signal: we end by it, too. */
int cli_packs_run(const struct cli_verb *verb, int argc, char **argv, const struct cli_operands *operands);

/* cli_pack_open - make the directory, and unpack into it. The progress has begun.
 * ret_pack  all zero before; to be released with conv_pack_release in any case. Returns CLI_DONE, or an exit code, the cause being told, unless that
 *           is Ctrl-C. */
int cli_pack_open(const struct cli_verb *verb, const char *path, const char *directory,
                  struct cli_progress *progress, struct conv_pack *ret_pack);

/* cli_packs_name - what an input that was unpacked is called, where a name is made of its path: it has no place of its own.
 * Returns  path, or a part of it. */
const char *cli_packs_name(const char *path);

#endif
