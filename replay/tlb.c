/* tlb.c - pages in the order of their last use. */
#include "replay/tlb.h"

#include <string.h>

bool rep_tlb_visit(struct rep_tlb *tlb, uint64_t page)
{
    uint32_t at = 0;
    while (at < tlb->count && tlb->pages[at] != page)
        at++;
    const bool hit = at < tlb->count;
    if (!hit && tlb->count < REP_TLB_ENTRIES)
        tlb->count++;
    if (at == REP_TLB_ENTRIES)
        at--; /* the last one goes */
    memmove(&tlb->pages[1], &tlb->pages[0], at * sizeof tlb->pages[0]);
    tlb->pages[0] = page;
    return hit;
}
