/* tlb.c - pages in the order of their last use. */
#include "replay/meters/tlb.h"

#include <string.h>

/* The entry of a page; tlb->count when it is in none. */
static uint32_t find(const struct rep_tlb *tlb, uint64_t page)
{
    uint32_t at = 0;
    while (at < tlb->count && tlb->pages[at] != page)
        at++;
    return at;
}

bool rep_tlb_earlier(struct rep_tlb *tlb, uint64_t page)
{
    if (tlb->count == REP_TLB_ENTRIES)
        return false;
    if (find(tlb, page) == tlb->count)
        tlb->pages[tlb->count++] = page;
    return true;
}

bool rep_tlb_visit(struct rep_tlb *tlb, uint64_t page)
{
    uint32_t at = find(tlb, page);
    const bool hit = at < tlb->count;
    if (!hit && tlb->count < REP_TLB_ENTRIES)
        tlb->count++;
    if (at == REP_TLB_ENTRIES)
        at--; /* the last one goes */
    memmove(&tlb->pages[1], &tlb->pages[0], at * sizeof tlb->pages[0]);
    tlb->pages[0] = page;
    return hit;
}
