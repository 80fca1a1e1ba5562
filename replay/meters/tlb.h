/* tlb.h - a small simulated TLB: which visits of a walk would have had to look an address up in the page tables.
 *
 *   entry   one page whose translation is at hand. REP_TLB_ENTRIES of them, any page in any entry (fully associative),
 *           the least recently used one replaced
 *
 * No real processor's. Fully associative, because then only which pages are visited counts, and not where they lie: moving a
 * mapping by whole pages, as the kernel does at random at every start, changes no figure. */
#ifndef MALLAB_REPLAY_METERS_TLB_H
#define MALLAB_REPLAY_METERS_TLB_H

#include <stdbool.h>
#include <stdint.h>

#define REP_TLB_ENTRIES 64u

struct rep_tlb {
    uint64_t pages[REP_TLB_ENTRIES]; /* the most recently used one first */
    uint32_t count;
};

/* rep_tlb_visit - translate an address within page number `page` (address / page size).
 * tlb       zeroed before the first visit: empty.
 * Returns   true when the page was at hand; afterwards it is, as the most recently used one. */
bool rep_tlb_visit(struct rep_tlb *tlb, uint64_t page);

/* rep_tlb_earlier - note a visit that came before all those noted so far: from a walk's end towards its begin, this fills
 * the TLB as the whole walk would have, and stops early.
 * Returns   false when it is full: what came still earlier is replaced by now. */
bool rep_tlb_earlier(struct rep_tlb *tlb, uint64_t page);

#endif
