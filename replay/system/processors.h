/* processors.h - how many processors this process may use: as many threads run at a time (run_threads.h). taskset(1) says which. */
#ifndef MALLAB_REPLAY_SYSTEM_PROCESSORS_H
#define MALLAB_REPLAY_SYSTEM_PROCESSORS_H

unsigned rep_processors(void);

#endif
