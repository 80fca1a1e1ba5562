/* print_sites.c - what `mallab sites` has in hands before anything gets a name: a line for each site of a recording, with
 * tabs: bytes and objects live at the end, the same at the peak, why the stack is cut ("-": it is not), then each frame from the allocation up, as
 * ADDRESS,PATH+OFFSET, numbers in hex.
 *
 *   print_sites RECORDING */
#include <inttypes.h>
#include <stdio.h>

#include "convert/sites/sites.h"
#include "tests/unit/site_module.h"

static void print_frame(const struct conv_sites *sites, const struct fp_site_node *node)
{
    const struct fp_module *module = fp_site_module(&sites->stacks, node);
    printf("\t%" PRIx64 ",", node->address);
    if (module == NULL)
        printf("?+0");
    else
        printf("%s+%" PRIx64, module->path[0] != '\0' ? module->path : sites->executable,
               node->address - module->base);
}

int main(int argc, char **argv)
{
    struct conv_sites sites;
    struct conv_error error;
    char text[1024];
    if (argc != 2)
        return 2;
    if (conv_sites_file(argv[1], NULL, NULL, &sites, &error) != FP_OK) {
        fprintf(stderr, "%s\n", conv_error_text(&error, text, sizeof text));
        return 1;
    }
    for (size_t i = 0; i < sites.count; i++) {
        const struct conv_site_counts *counts = &sites.counts[i];
        const char *cut = fp_cut_name(fp_site_cut(&sites.stacks, counts->site));
        printf("%.0f\t%.0f\t%.0f\t%.0f\t%s", counts->live_bytes, counts->live_objects, counts->peak_bytes,
               counts->peak_objects,
               counts->site == 0 ? "none"
               : cut != NULL     ? cut
                                 : "-");
        for (uint32_t at = counts->site; at >= FP_SITE_FIRST;
             at = fp_site_node_at(&sites.stacks, at).parent) {
            const struct fp_site_node node = fp_site_node_at(&sites.stacks, at);
            print_frame(&sites, &node);
        }
        printf("\n");
    }
    conv_sites_release(&sites);
    return 0;
}
