/* collect_reserve.h - disk space held back from the start, so that a disk that others fill still takes the end.
 *
 * Two parts. One is given back to the file system when a trailer may need it: whoever is faster gets it. The other is
 * a file without a name that recording.json is written into and that gets its name then: blocks that nobody else can
 * have. So the losses of every process are told, also where its trailer found no room. */
#ifndef MALLAB_SHIM_COLLECT_COLLECT_RESERVE_H
#define MALLAB_SHIM_COLLECT_COLLECT_RESERVE_H

#include "shim/collect/collect.h"

/* reserve_free_bytes - what others may still take of the disk, UINT64_MAX where it cannot be told. */
uint64_t reserve_free_bytes(const struct collector *collector);

/* reserve_hold - hold disk space back for trailers and for the last recording.json, for the latter as much as there is.
 * Returns false, with errno set, when there is not even a little.
 * reserve_renew - hold again what was given back, where others have made room meanwhile, and what the list needs by now.
 * reserve_for_images - hold as much as the list of the images that there are needs.
 * reserve_release - give the trailers' part back to the file system. */
bool reserve_hold(struct collector *collector);
void reserve_renew(struct collector *collector);
void reserve_for_images(struct collector *collector);
void reserve_release(struct collector *collector);

/* reserve_block_chunks - of how many chunks a block is to be: fewer where the disk is nearly full, so that what is left of
 * it is used. */
uint32_t reserve_block_chunks(const struct collector *collector);

/* reserve_take_list - the file without a name, for the caller to write, name and close; -1: there is none.
 * reserve_name_list - cut it behind what was written, and give it that name. */
int reserve_take_list(struct collector *collector);
bool reserve_name_list(const struct collector *collector, int fd, const char *name);

#endif
