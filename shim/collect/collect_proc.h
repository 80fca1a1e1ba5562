/* collect_proc.h - what /proc tells of the recorded processes: their ids, whether they live, what they have mapped. */
#ifndef MALLAB_SHIM_COLLECT_COLLECT_PROC_H
#define MALLAB_SHIM_COLLECT_COLLECT_PROC_H

#include "shim/collect/collect.h"

/* proc_read - the beginning of a file of the kernel's. Returns false, with an empty text, where it cannot be read. */
bool proc_read(const char *path, char *ret_text, size_t size);

/* process_exists - whether there is a process of that id, be it a zombie.
 * process_is_zombie - whether its leading thread has ended and nobody has waited for it: the other threads may run on, but its
 *                     memory is not shown under its id. False where /proc cannot tell.
 * process_start_ticks - clock ticks from boot to the start of a process (proc(5), field 22 of stat): with it, a process id is
 *                       never mistaken for a later owner's. 0 when it cannot be read.
 * process_has_fixed_addresses - whether it has its mappings at the same addresses after an exec, as debuggers arrange. */
bool process_exists(uint32_t pid);
bool process_is_zombie(uint32_t pid);
uint64_t process_start_ticks(uint32_t pid);
bool process_has_fixed_addresses(uint32_t pid);

/* process_find_foreign - the process id, in our namespace, of a slot's process that is in a pid namespace below ours.
 * ret_parent    its parent's id here; untouched when there is none.
 * Returns       0 when there is no such process: it has ended. Walks /proc. */
uint32_t process_find_foreign(const struct collect_segment *segment, const struct seg_slot *slot,
                              uint32_t *ret_parent);

enum mapped {
    MAPPED_UNKNOWN, /* the kernel does not show it */
    MAPPED_NO,
    MAPPED_YES,
};

/* mapped_look - whether a process has the segment at that address.
 * mapped_anywhere - whether it has it at some address, or that cannot be told. Reads all of /proc/PID/maps.
 * mapped_test - find out whether this kernel shows mappings, by our own: sets can_look. */
enum mapped mapped_look(const struct collect_segment *segment, uint32_t pid, uint64_t address);
bool mapped_anywhere(const struct collect_segment *segment, uint32_t pid);
void mapped_test(struct collect_segment *segment);

/* mapped_unattached_remain - whether some process has the segment mapped without having attached: a forked child
 * that has not allocated yet. Walks /proc. */
bool mapped_unattached_remain(const struct collector *collector);

#endif
