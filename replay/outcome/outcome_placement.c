/* outcome_placement.c - the placement pass as JSON and as text. */
#include <stdio.h>

#include "footprint/base/words.h"
#include "replay/outcome/outcome_parts.h"

static json_t *share(uint64_t part, uint64_t of)
{
    return of > 0 ? json_real((double)part / (double)of) : json_null();
}

/* The same keys for a moment and for all together. */
static json_t *figures_json(const struct rep_placement_sample *sample)
{
    json_t *distance = sample->next > 0 ? json_integer((json_int_t)rep_placement_distance(sample))
                                        : json_null();
    return json_pack("{s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o}", "live_objects",
                     (json_int_t)sample->live_objects, "objects", (json_int_t)sample->objects, "bytes",
                     (json_int_t)sample->bytes, "tlb_misses_per_object",
                     share(sample->tlb_misses, sample->objects), "same_page_share",
                     share(sample->next_same_page, sample->next), "next_distance_bytes_median", distance,
                     "page_bytes_per_byte", share(sample->pages * REP_PAGE_BYTES, sample->bytes),
                     "line_bytes_per_byte", share(sample->lines * REP_CACHE_LINE, sample->bytes));
}

static json_t *moment_json(const struct rep_placement_sample *sample)
{
    if (!sample->taken)
        return json_null();
    json_t *object = figures_json(sample);
    if (object != NULL && json_object_set_new(object, "ops", json_integer((json_int_t)sample->ops)) == 0 &&
        json_object_set_new(object, "time_ns", json_integer((json_int_t)sample->time_ns)) == 0)
        return object;
    json_decref(object);
    return NULL;
}

static json_t *definition_json(void)
{
    return json_pack("{s:i, s:s, s:s, s:i, s:i, s:i, s:i, s:s}", "tlb_entries", (int)REP_TLB_ENTRIES,
                     "tlb_ways", "all", "tlb_replacement", "least recently used", "page_bytes",
                     (int)REP_PAGE_BYTES, "line_bytes", (int)REP_CACHE_LINE, "object_bytes_max",
                     (int)REP_SMALL_BYTES, "moments", (int)REP_PLACEMENT_MOMENTS, "order",
                     "thread by thread, oldest first");
}

static json_t *alignment_json(const struct rep_alignment *alignment)
{
    json_t *first = json_null();
    if (alignment->misaligned > 0)
        first = json_pack("{s:I, s:s, s:I, s:I}", "op", (json_int_t)alignment->first.op, "call",
                          fp_call_name(alignment->first.call), "size_bytes",
                          (json_int_t)alignment->first.bytes, "promised_bytes",
                          (json_int_t)alignment->first.promised);
    return json_pack("{s:I, s:I, s:o}", "looked", (json_int_t)alignment->looked, "misaligned",
                     (json_int_t)alignment->misaligned, "first", first);
}

json_t *rep_placement_json(const struct rep_placement *placement)
{
    const struct rep_placement_sample total = rep_placement_total(placement);
    json_t *object = figures_json(&total), *moments = json_array();
    bool whole = object != NULL && moments != NULL;
    for (uint32_t i = 0; whole && i < placement->moment_count; i++)
        whole = json_array_append_new(moments, moment_json(&placement->moments[i])) == 0;
    whole = whole && json_object_set_new(object, "definition", definition_json()) == 0 &&
            json_object_set_new(object, "peak", moment_json(&placement->peak)) == 0 &&
            json_object_set_new(object, "alignment", alignment_json(&placement->alignment)) == 0 &&
            json_object_set(object, "moments", moments) == 0;
    json_decref(moments);
    if (whole)
        return object;
    json_decref(object);
    return NULL;
}

static void say(const char *key, const struct rep_placement_sample *sample)
{
    if (sample->objects == 0) {
        printf("%-18sno live object of 1 to %u bytes\n", key, REP_SMALL_BYTES);
        return;
    }
    const double objects = (double)sample->objects, bytes = (double)sample->bytes;
    printf("%-18s%.3f TLB misses an object; %.2f bytes of pages and %.2f of lines a byte;\n"
           "%-18snext object in the same page: %.0f %%, nearer than %s bytes: half\n",
           key, (double)sample->tlb_misses / objects, (double)sample->pages * REP_PAGE_BYTES / bytes,
           (double)sample->lines * REP_CACHE_LINE / bytes, "",
           sample->next > 0 ? 100.0 * (double)sample->next_same_page / (double)sample->next : 0.0,
           FP_GROUPED(rep_placement_distance(sample)));
}

void rep_placement_text(const struct rep_placement *placement)
{
    const struct rep_placement_sample total = rep_placement_total(placement);
    say("placement", &total);
    if (placement->peak.taken)
        say("near live peak", &placement->peak);
    const struct rep_alignment *alignment = &placement->alignment;
    if (alignment->misaligned > 0)
        printf("%-18s%s of %s objects looked at are misaligned, the first at op %s:\n"
               "%-18s%s of %s bytes at an address that is no multiple of %s; --check looks at each\n",
               "warning", FP_GROUPED(alignment->misaligned), FP_GROUPED(alignment->looked),
               FP_GROUPED(alignment->first.op), "", fp_call_name(alignment->first.call),
               FP_GROUPED(alignment->first.bytes), FP_GROUPED(alignment->first.promised));
}
