/* collect_json.h - recording.json: what was recorded, for people and for the other programs.
 *
 * It is written beside its place and renamed into it, so that a reader finds the old text or the new, never half. */
#ifndef MALLAB_SHIM_COLLECT_COLLECT_JSON_H
#define MALLAB_SHIM_COLLECT_COLLECT_JSON_H

#include "shim/collect/collect.h"

/* json_write - write recording.json anew and put it in place of the old one. Returns false with errno set. */
bool json_write(struct collector *collector, bool final);

#endif
