/* flame_page.c - the page of the build with a profile's arrays in its gap. */
#include "sites/show/flame_page.h"

#include "footprint/base/support.h"
#include "sites/show/profile_json.h"

/* Made by embed.py. */
extern const char site_flame_html[];
extern const size_t site_flame_html_length, site_flame_html_gaps[];

char *site_flame_page(const struct site_profile *profile, uint32_t shown)
{
    struct site_profile folded = site_profile_fold(profile, true);
    struct res_text page = {0};
    const size_t gap = site_flame_html_gaps[0];
    res_text_add(&page, site_flame_html, gap);
    site_profile_put(&page, &folded, shown);
    res_text_add(&page, site_flame_html + gap, site_flame_html_length - gap);
    site_profile_release(&folded);
    return page.text;
}
