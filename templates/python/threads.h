/* Work shared among threads. */
#ifndef RBDGEN_THREADS_H
#define RBDGEN_THREADS_H

#include <stddef.h>

/* The arrays of a call for many states. */
struct rbdgen_job {
    void *const *arrays; /* one pointer per array, inputs first */
    const size_t *steps; /* the number of elements from one state of an input to the next */
    int way;             /* how results are written to memory, an rbdgen_way */
};

/* Evaluates `count` states of `job` from `first` on. */
typedef void rbdgen_part(const struct rbdgen_job *job, size_t first, size_t count);

/* Evaluates all `count` states in pieces of at least `grain`, in this thread and up to threads - 1 others, and returns when all
   are done. */
void rbdgen_share(int threads, size_t grain, size_t count, rbdgen_part *part, const struct rbdgen_job *job);

#endif
