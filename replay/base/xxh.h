/* xxh.h - xxhash with its state's layout, so that states live in mapped memory: XXH64_createState would
 * call malloc, which belongs to the allocator under test. Includes nothing else and owns nothing. */
#ifndef MALLAB_REPLAY_BASE_XXH_H
#define MALLAB_REPLAY_BASE_XXH_H

#define XXH_STATIC_LINKING_ONLY
#include <xxhash.h>

#endif
