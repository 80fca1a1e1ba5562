/* verify_answer.h - what `mallab info --verify` found, for people and for programs. */
#ifndef MALLAB_CLI_DESCRIBE_VERIFY_ANSWER_H
#define MALLAB_CLI_DESCRIBE_VERIFY_ANSWER_H

#include <jansson.h>

#include "convert/check/verify.h"

/* cli_verdict_print - "legal" and how much was looked at; else what is wrong, with its place. On stdout. */
void cli_verdict_print(const struct conv_verdict *verdict);

/* cli_verdict_json - schema, kind and file, and in `verify`: legal, checked{} and violation{} (null). A new reference. */
json_t *cli_verdict_json(const struct conv_verdict *verdict);

#endif
