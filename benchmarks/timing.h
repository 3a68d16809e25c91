/* Times short functions, in C and in C++ drivers: the smallest time per call, in ns, over many short repetitions.

   Each call works on the next of several states, so that the compiler can hoist nothing out of the loop. A compiler
   barrier after each call makes its results count as used. A repetition is long enough that the cost of the clock is
   negligible, and short enough (a fraction of a millisecond) that many repetitions lie between two interruptions. The
   smallest time is the one that other work on the machine disturbs least. */
#ifndef BENCHMARKS_TIMING_H
#define BENCHMARKS_TIMING_H

#include <stddef.h>
#include <time.h>

#define BENCH_REPETITION_NS 2e5
#define BENCH_MIN_REPETITIONS 20

typedef struct {
    double ns;        /* the mean time of a call in the fastest repetition */
    long repetitions; /* the number of repetitions */
} bench_result;

static inline double bench_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

/* Makes the compiler assume that the object behind p is read and written here: stores before are completed, and values
   are loaded again after. */
static inline void bench_keep(const void *p)
{
    __asm__ volatile("" : : "r"(p) : "memory");
}

/* Times the statement CALL, which may use the index `bench_state` (0 <= bench_state < STATES), for about SECONDS.
   CALL is expanded once, so that it is not compiled into several copies. */
#define BENCH(RESULT, STATES, SECONDS, CALL)                                                      \
    do {                                                                                          \
        const size_t bench_states_ = (STATES);                                                    \
        const double bench_end_ = bench_now_ns() + 1e9 * (SECONDS);                               \
        size_t bench_passes_ = 1;                                                                 \
        (RESULT).ns = 1e300;                                                                      \
        (RESULT).repetitions = 0;                                                                 \
        do {                                                                                      \
            const double bench_start_ = bench_now_ns();                                           \
            double bench_elapsed_;                                                                \
            for (size_t bench_pass_ = 0; bench_pass_ < bench_passes_; ++bench_pass_)              \
                for (size_t bench_state = 0; bench_state < bench_states_; ++bench_state) {        \
                    CALL;                                                                         \
                    bench_keep(&(RESULT));                                                        \
                }                                                                                 \
            bench_elapsed_ = bench_now_ns() - bench_start_;                                       \
            if (bench_elapsed_ < BENCH_REPETITION_NS && (RESULT).repetitions == 0) {              \
                bench_passes_ *= 2;                                                               \
                continue;                                                                         \
            }                                                                                     \
            bench_elapsed_ /= (double)bench_passes_ * (double)bench_states_;                      \
            if (bench_elapsed_ < (RESULT).ns)                                                     \
                (RESULT).ns = bench_elapsed_;                                                     \
            ++(RESULT).repetitions;                                                               \
        } while ((RESULT).repetitions < BENCH_MIN_REPETITIONS || bench_now_ns() < bench_end_);    \
    } while (0)

#endif
