/* Writes large results past the caches.

   A plain store first reads the cache line that it writes. Results that are larger than the caches are therefore written in
   whole lines, which are not read: directly, if states begin and end at the bounds of lines; otherwise a block of states at a
   time is computed into a buffer, which stays in the caches, and copied. Fresh memory, which the system has just filled with
   zeros, is in the caches, so plain stores to it are faster. */
#ifndef RBDGEN_STREAM_H
#define RBDGEN_STREAM_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#define RBDGEN_LINE 64
#define RBDGEN_LINES_FROM ((size_t)8 << 20)   /* larger results, in bytes, are written past the caches directly */
#define RBDGEN_BUFFER_FROM ((size_t)16 << 20) /* larger results, in bytes, are written by way of the buffer */

enum rbdgen_way { RBDGEN_PLAIN, RBDGEN_LINES, RBDGEN_BUFFER };

/* Whether states of so many bytes each are whole cache lines, which the batch functions can stream themselves. */
static inline int rbdgen_whole_lines(const void *rows, size_t bytes)
{
    return ((uintptr_t)rows | bytes) % RBDGEN_LINE == 0;
}

static inline enum rbdgen_way rbdgen_way_of(int fresh, int whole_lines, size_t bytes)
{
#if defined(__SSE2__)
    if (fresh)
        return RBDGEN_PLAIN;
    if (whole_lines)
        return bytes > RBDGEN_LINES_FROM ? RBDGEN_LINES : RBDGEN_PLAIN;
    return bytes > RBDGEN_BUFFER_FROM ? RBDGEN_BUFFER : RBDGEN_PLAIN;
#else
    (void)fresh;
    (void)whole_lines;
    (void)bytes;
    return RBDGEN_PLAIN;
#endif
}

#define RBDGEN_STREAM_BUFFER 65536

/* The number of states in a block: a multiple of the lanes of any vector, with results of about the size of the buffer. */
#define RBDGEN_STREAM_BLOCK(bytes_of_state) \
    ((bytes_of_state) * 32 > RBDGEN_STREAM_BUFFER ? 16 : RBDGEN_STREAM_BUFFER / (bytes_of_state) / 16 * 16)

#if defined(__SSE2__)
static inline void rbdgen_lines(unsigned char *to, const unsigned char *from, size_t bytes)
{
    for (size_t k = 0; k < bytes; k += 16)
        _mm_stream_si128((void *)(to + k), _mm_loadu_si128((const void *)(from + k)));
}

/* Whole lines bypass the caches. The end of a line that the block before began, and the beginning of the last line, do not. */
static inline void rbdgen_stream(void *to, const void *from, size_t bytes)
{
    unsigned char *const out = to;
    const unsigned char *const in = from;
    const size_t begun = (size_t) - (uintptr_t)to % RBDGEN_LINE;
    const size_t ahead = begun < bytes ? begun : bytes;
    const size_t lines = (bytes - ahead) / RBDGEN_LINE * RBDGEN_LINE;
    memcpy(out, in, ahead);
    rbdgen_lines(out + ahead, in + ahead, lines);
    memcpy(out + ahead + lines, in + ahead + lines, bytes - ahead - lines);
}

/* Completes all streamed stores before any later store. */
static inline void rbdgen_streamed(void)
{
    _mm_sfence();
}
#else
static inline void rbdgen_stream(void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
}

static inline void rbdgen_streamed(void)
{
}
#endif

#endif
