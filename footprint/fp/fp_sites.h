/* fp_sites.h - call sites: the call stacks of a footprint, and the modules that their addresses lie in.
 *
 *   site     the full call stack of an allocation, as a number: fp_shape.site of the mark's shape. 0: none is known
 *   node     one frame of stacks: its address and the node of its caller. A stack is read from its site's node up,
 *            by `parent`, to a number below FP_SITE_FIRST; stacks that begin alike share nodes
 *   cut      a number below FP_SITE_FIRST says how a stack ends at the top: 0 at the program's or thread's entry, else
 *            why the recorder stopped there (enum fp_cut). A site may be such a number itself: nothing of it is known
 *   address  where the call returns to: what called is the instruction before it, so names are looked up at address - 1
 *   module   what was mapped there. Where one was unloaded and another loaded in its place, `epoch` tells them apart
 *
 * Numbers of sites hold for the footprint that they stand in, and for all parts of one process. What the recorder lost
 * reads as a node that is cut there (FP_CUT_LOST), so no number from a file can lead astray. */
#ifndef MALLAB_FOOTPRINT_FP_FP_SITES_H
#define MALLAB_FOOTPRINT_FP_FP_SITES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "footprint/base/arrays.h"
#include "footprint/base/status.h"

#define FP_SITE_FIRST       16u        /* the lowest number of a node */
#define FP_SITES_MAX        (1u << 22) /* numbers of nodes are below */
#define FP_SITES_BLOCK_MAX  65536u     /* nodes of one block of the file */
#define FP_ADDRESS_BITS     48u        /* of a node's address and a module's */
#define FP_MODULES_MAX      16384u
#define FP_MODULES_TEXT_MAX (4u << 20) /* bytes of all modules as they are stored, of one footprint */
#define FP_BUILD_ID_MAX     64u        /* bytes */
#define FP_PATH_MAX         1024u      /* bytes; a longer path is cut at its begin */

/* The reasons for which a stack ends. Stored: append only, below FP_SITE_FIRST. */
enum fp_cut {
    FP_CUT_NONE = 0,  /* it does not: this is its outermost frame */
    FP_CUT_LOST = 1,  /* the recorder's word of it was lost */
    FP_CUT_FULL = 2,  /* the recorder's table of stacks was full */
    FP_CUT_STACK = 3, /* on a stack whose bounds nobody knows: a coroutine's, a signal's */
    FP_CUT_CFI = 4,  /* code that says nothing of its frames (.eh_frame): compiled at run time, or assembly */
    FP_CUT_RULE = 5, /* it says so in a way that the recorder does not follow */
    FP_CUT_DEEP = 6, /* more frames than are walked */
    FP_CUT_BROKEN = 7,     /* a frame that led out of the stack, or nowhere */
    FP_CUT_MEMORY = 8,     /* the recorder had no memory for it */
    FP_CUT_INHERITED = 9,  /* a parent's, which numbers its stacks for itself. In no footprint */
    FP_CUT_UNSAMPLED = 10, /* not in the sample (below), but resized from what is. Only as a site by itself */
    FP_CUT_COUNT = 11,
};

/* fp_cut_name - "lost", "full", "stack", ...: keys of JSON. NULL outside the enum and for FP_CUT_NONE. */
const char *fp_cut_name(unsigned cut);

struct fp_site_node {
    uint64_t address; /* below 2^FP_ADDRESS_BITS; 0: lost, with the parent FP_CUT_LOST */
    uint32_t parent;  /* lower than the node's own number */
    uint16_t epoch;   /* the module's there */
};

/* A file that was mapped into the program. Addresses are the program's; one in the file is an address less `base`. */
struct fp_module {
    uint64_t start, end; /* of all its segments; start < end */
    uint64_t base;       /* what the loader added to its addresses */
    uint16_t epoch;
    uint8_t build_id_bytes;
    uint8_t build_id[FP_BUILD_ID_MAX];
    const char *path; /* as the loader has it, printable; "": the program (meta data `executable`) */
};

/* The sites of a footprint. Arrays are the reader's. */
struct fp_sites {
    uint32_t node_end;                /* 1 + the highest node's number; at least FP_SITE_FIRST */
    const struct fp_site_node *nodes; /* by number, those below FP_SITE_FIRST empty; see fp_site_node_at */
    uint32_t module_count;
    const struct fp_module *modules; /* in the order in which they came */
};

/* fp_site_node_at - the node of a number from FP_SITE_FIRST on, whatever number it is. */
struct fp_site_node fp_site_node_at(const struct fp_sites *sites, uint32_t site);

/* fp_site_cut - how the stack of a site ends. Takes as many steps as it has frames, less than there are nodes. */
enum fp_cut fp_site_cut(const struct fp_sites *sites, uint32_t site);

/* ---- stacks and modules put together: those of a file as its blocks tell them, or of a process from all of its files ---- */

/* Zeroes are none. */
struct fp_stacks {
    struct fp_sites sites; /* of the arrays below */
    struct fp_site_node *nodes;
    struct fp_module *modules; /* with paths of their own */
    struct fp_index index;     /* of the modules */
    size_t node_capacity, module_capacity;
    char *executable; /* the program's path; "": not known. NULL where only a file is read */
};

/* A recorder's stacks have half as many frames at most. Whoever asks something of each stack would take forever on those of a file
 * that is made for it. */
#define FP_STACK_DEPTH_MAX 1024u

/* fp_stacks_add - add what another file tells: what was told first stands. Deeper stacks are cut at the top (FP_CUT_DEEP).
 * fp_stacks_node, fp_stacks_module - one node, one module with a path of so many bytes; where it is there already it stays as it was.
 * fp_stacks_reach - room for nodes of numbers below `end`.
 * Return    false: no memory; fp_stacks_release accepts them in either case. */
bool fp_stacks_add(struct fp_stacks *stacks, const struct fp_sites *from);
bool fp_stacks_node(struct fp_stacks *stacks, uint32_t site, struct fp_site_node node);
bool fp_stacks_module(struct fp_stacks *stacks, const struct fp_module *module, size_t path_bytes);
bool fp_stacks_reach(struct fp_stacks *stacks, uint32_t end);
void fp_stacks_release(struct fp_stacks *stacks);

/* fp_module_map - the modules that nodes' addresses (the byte before each) lie in; of several the last one told; NULL: none.
 * sites       borrowed until the map is released.
 * Returns     false: no memory; the map is empty. */
struct fp_module_map {
    struct fp_module_span *spans; /* by epoch and address */
    size_t count;
};
bool fp_module_map_make(const struct fp_sites *sites, struct fp_module_map *ret_map);
const struct fp_module *fp_module_map_find(const struct fp_module_map *map, const struct fp_site_node *node);
void fp_module_map_release(struct fp_module_map *map);

/* ---- samples ------------------------------------------------------------------------------- */

/* A recording may have a sample of objects alone. It is memoryless, by bytes: as if points lay on all bytes that are ever allocated, at
 * random, one in `mean` of them, and an object were recorded where one lies on it. So each is for itself, with a probability that its
 * size gives: 1 - exp(-size / mean). Whoever divides by it has an unbiased estimate of all. */
#define FP_SAMPLE_META        "sites_bytes" /* of a footprint: the mean; absent where all calls are recorded */
#define FP_SAMPLE_MEAN_LEAST  UINT64_C(1024)
#define FP_SAMPLE_MEAN_MOST   (UINT64_C(1) << 30)
#define FP_SAMPLE_BYTES_LEAST UINT64_C(16) /* no object counts as smaller, however small the request */

/* fp_sample_counted - as how many bytes an allocation counts. */
static inline uint64_t fp_sample_counted(uint64_t bytes)
{
    return bytes > FP_SAMPLE_BYTES_LEAST ? bytes : FP_SAMPLE_BYTES_LEAST;
}

/* fp_sample_parse - what MALLAB_SITES and --sites say: a mean such as 65536, 512K, 1M; or that all stacks are wanted: 1, or
 * anything that does not begin with a digit.
 * ret_mean  0: all.
 * Returns   false: neither, or out of bounds. */
bool fp_sample_parse(const char *text, uint64_t *ret_mean);

/* fp_sample_mean - what meta data say; 0: nothing that holds. text may be NULL. */
uint64_t fp_sample_mean(const char *text);

/* ---- writing ------------------------------------------------------------------------------- */

struct fp_writer;

/* A node as it is written: with its number. */
struct fp_site_entry {
    uint32_t site;
    struct fp_site_node node;
};

/* fp_writer_sites, fp_writer_modules - append some; in any order over blocks and files of one process, before the blocks of
 * marks that name them. Not held against the limit of size.
 * nodes     1 to FP_SITES_BLOCK_MAX, numbers ascending.
 * modules   1 to FP_MODULES_MAX; paths have no byte below ' ' nor 127.
 * Returns   FP_OK; FP_ERR_WRITE, FP_ERR_MEMORY, FP_ERR_ARGUMENT (what the file cannot hold): the file is as before. */
enum fp_status fp_writer_sites(struct fp_writer *writer, const struct fp_site_entry *nodes, size_t count);
enum fp_status fp_writer_modules(struct fp_writer *writer, const struct fp_module *modules, size_t count);

#endif
