/* forged.c - a recorded program, one of whose children writes into the recorder's shared memory.
 *
 *   forged COUNT     a child claims each chunk that is free, all the time, while another, born after that, makes COUNT mallocs of
 *                    7001 bytes; prints how many a second */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "shim/modes.h"
#include "shim/shared/segment.h"

/* By its own mappings, as any process can. */
static struct seg_view find_segment(void)
{
    unsigned long from, to, base = 0, shared = 0;
    struct seg_view view;
    char line[512], access[8];
    FILE *maps = fopen("/proc/self/maps", "re");
    if (maps == NULL)
        exit(2);
    while (fgets(line, sizeof line, maps) != NULL)
        if (strstr(line, "/mallab-") != NULL && strstr(line, "/dev/shm") != NULL &&
            sscanf(line, "%lx-%lx %7s", &from, &to, access) == 3) {
            base = base == 0 ? from : base;
            shared = access[1] == 'w' ? from : shared;
        }
    (void)fclose(maps);
    if (base == 0 || shared == base)
        exit(3);
    view = seg_view_at((void *)base, ((struct seg_header *)base)->fixed.chunk_count);
    if ((unsigned long)view.shared != shared)
        exit(4);
    return view;
}

static uint32_t own_slot(const struct seg_view *view)
{
    for (uint32_t slot = 0; slot < SEG_SLOT_COUNT; slot++)
        if (view->slots[slot].inner_pid == (uint32_t)getpid())
            return slot;
    exit(7);
}

/* Say when none was left. */
static void claim_all(int told)
{
    const struct seg_view view = find_segment();
    const uint32_t slot = own_slot(&view);
    for (uint64_t rounds = 0;; rounds++) {
        bool claimed = false;
        for (uint32_t index = 0; index < seg_held(&view); index++) {
            uint64_t word = SEG_CHUNK_FREE;
            claimed |= atomic_compare_exchange_strong(
                &view.states[index], &word, seg_chunk_word(SEG_CHUNK_OPEN, slot, 7, (uint32_t)getpid()));
        }
        if (!claimed && seg_held(&view) == view.fixed.chunk_count && told >= 0) {
            (void)close(told);
            told = -1;
        }
    }
}

static int beside_claims(long count)
{
    struct timespec from, to;
    int ends[2];
    char none;
    if (pipe(ends) != 0)
        return 2;
    const pid_t bad = fork();
    if (bad == 0) {
        (void)close(ends[0]);
        use(7003, 10);
        claim_all(ends[1]);
    }
    (void)close(ends[1]);
    (void)!read(ends[0], &none, 1);
    (void)clock_gettime(CLOCK_MONOTONIC, &from);
    const pid_t other = fork();
    if (other == 0) {
        use(7001, count);
        _exit(0);
    }
    (void)waitpid(other, NULL, 0);
    (void)clock_gettime(CLOCK_MONOTONIC, &to);
    printf("%.0f calls a second\n",
           2 * (double)count /
               ((double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec)));
    (void)fflush(stdout);
    return kill(bad, SIGKILL) == 0 && waitpid(bad, NULL, 0) == bad ? 0 : 1;
}

int main(int argc, char **argv)
{
    return beside_claims(argc > 1 ? atol(argv[1]) : 0);
}
