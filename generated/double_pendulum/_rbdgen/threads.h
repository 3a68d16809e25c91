/* Work shared among threads. */
#ifndef RBDGEN_THREADS_H
#define RBDGEN_THREADS_H

#include <stddef.h>

/* Where the states lie: one pointer an array, inputs first; elements from one state of an input to the next; how results
   go to memory, an rbdgen_way. */
struct rbdgen_job {
    void *const *arrays;
    const size_t *steps;
    int way;
};

/* Does the part of `job` that is states first, first + 1, ... */
typedef void rbdgen_part(const struct rbdgen_job *job, size_t first, size_t count);

/* Does all `count` states in pieces of at least `grain`, this thread and up to threads - 1 others; returns when all are done. */
void rbdgen_share(int threads, size_t grain, size_t count, rbdgen_part *part, const struct rbdgen_job *job);

#endif
