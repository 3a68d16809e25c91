/* A pool of threads, which are started on first use and kept. One caller at a time has the workers; another caller works alone
   meanwhile. Before it sleeps, a worker polls for new work for a moment, and so does the caller for the last worker.
   A process made by fork has none of its parent's threads and starts its own. */
#include "threads.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>

#define MOST_WORKERS 255

/* How often a thread polls before it sleeps, which takes some ten microseconds; to wake a thread takes longer than many batches.
   Other threads may run between two polls. */
#define LOOKS 50

typedef struct {
    rbdgen_part *part;
    const struct rbdgen_job *job;
    size_t count, grain, threads;
    atomic_size_t next; /* the first state that no thread has taken yet */
} work;

static struct {
    pthread_mutex_t caller; /* held by the thread that the workers work for */
    pthread_mutex_t lock;   /* protects all members below */
    pthread_cond_t begun, finished;
    int workers;        /* the number of workers that run */
    int wanted;         /* the number of them that take part in the present work, which are the first ones */
    atomic_int working; /* the number of these that have not finished; it is also read without the lock, as is `turn` */
    atomic_ulong turn;  /* the number of works so far */
    work *present;
} pool = {
    .caller = PTHREAD_MUTEX_INITIALIZER,
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .begun = PTHREAD_COND_INITIALIZER,
    .finished = PTHREAD_COND_INITIALIZER,
};

/* Takes a piece of the remaining states. The first pieces are long and the last ones short, so that all threads finish together. */
static size_t take_piece(work *w, size_t *first)
{
    *first = atomic_load(&w->next);
    for (;;) {
        const size_t left = w->count - *first, share = left / (4 * w->threads);
        size_t piece = share < w->grain ? w->grain : share / w->grain * w->grain;
        if (piece > left)
            piece = left;
        if (piece == 0 || atomic_compare_exchange_weak(&w->next, first, *first + piece))
            return piece;
    }
}

static void take_pieces(work *w)
{
    size_t first, piece;
    while ((piece = take_piece(w, &first)) > 0)
        w->part(w->job, first, piece);
}

static void *worker(void *index)
{
    const int number = (int)(size_t)index;
    unsigned long seen = 0;
    pthread_mutex_lock(&pool.lock);
    for (;;) {
        pthread_mutex_unlock(&pool.lock);
        for (int look = 0; look < LOOKS && pool.turn == seen; ++look)
            sched_yield();
        pthread_mutex_lock(&pool.lock);
        while (pool.turn == seen || number >= pool.wanted) {
            seen = pool.turn;
            pthread_cond_wait(&pool.begun, &pool.lock);
        }
        seen = pool.turn;
        work *present = pool.present;
        pthread_mutex_unlock(&pool.lock);
        take_pieces(present);
        pthread_mutex_lock(&pool.lock);
        if (--pool.working == 0)
            pthread_cond_signal(&pool.finished);
    }
    return NULL;
}

/* Resets the pool in the child of a fork: the parent's workers do not exist in it, and locks may have been held. */
static void forget(void)
{
    pthread_mutex_init(&pool.caller, NULL);
    pthread_mutex_init(&pool.lock, NULL);
    pthread_cond_init(&pool.begun, NULL);
    pthread_cond_init(&pool.finished, NULL);
    pool.workers = pool.wanted = 0;
    pool.working = 0;
    pool.turn = 0;
}

static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, forget);
}

/* Starts workers until there are `wanted`, and returns their number, which is smaller if the system refuses more. Workers block
   all signals, which are left to the program's own threads. */
static int have_workers(int wanted)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    sigset_t all, before;
    pthread_once(&once, watch_forks);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (pool.workers < wanted) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, worker, (void *)(size_t)pool.workers) != 0)
            break;
        pthread_detach(thread);
        ++pool.workers;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return pool.workers < wanted ? pool.workers : wanted;
}

void rbdgen_share(int threads, size_t grain, size_t count, rbdgen_part *part, const struct rbdgen_job *job)
{
    const size_t pieces = count / grain + (count % grain != 0);
    int others = (threads > MOST_WORKERS ? MOST_WORKERS : threads) - 1;
    if (pieces <= (size_t)others)
        others = (int)pieces - 1;
    if (others < 1 || pthread_mutex_trylock(&pool.caller) != 0) {
        part(job, 0, count);
        return;
    }
    work w = {.part = part, .job = job, .count = count, .grain = grain, .threads = (size_t)others + 1};
    pthread_mutex_lock(&pool.lock);
    pool.wanted = have_workers(others);
    pool.working = pool.wanted;
    pool.present = &w;
    ++pool.turn;
    pthread_cond_broadcast(&pool.begun);
    pthread_mutex_unlock(&pool.lock);
    take_pieces(&w);
    for (int look = 0; look < LOOKS && pool.working > 0; ++look)
        sched_yield();
    pthread_mutex_lock(&pool.lock);
    while (pool.working > 0)
        pthread_cond_wait(&pool.finished, &pool.lock);
    pool.wanted = 0;
    pthread_mutex_unlock(&pool.lock);
    pthread_mutex_unlock(&pool.caller);
}
