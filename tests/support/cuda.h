/* The words of CUDA for a C++ compiler: a kernel's text runs on the CPU, a fiber for each thread of a block.

   A fiber runs to its next barrier. The fibers of a warp go on when all of them have arrived at one, those of a block when the
   whole block has. Results have the bits of a GPU, as every operation in the text is rounded to nearest. */
#include <cmath>
#include <cstring>
#include <ucontext.h>
#include <vector>

#define __global__
#define __device__
#define __shared__
#define __forceinline__ inline
#define __noinline__
#define __launch_bounds__(threads)
#define __align__(bytes) __attribute__((aligned(bytes)))

struct Three { unsigned x, y, z; };
static Three threadIdx, blockIdx, blockDim;
struct float4 { float x, y, z, w; };
struct double2 { double x, y; };
static inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
static inline double2 make_double2(double x, double y) { return {x, y}; }
/* Not inlined, because gcc 12 turns -fma(x, y, z) into -(x y) - z, whose zeros may have the other sign. */
__attribute__((noinline, noclone)) static float __fmaf_rn(float x, float y, float z) { return std::fma(x, y, z); }
__attribute__((noinline, noclone)) static double __fma_rn(double x, double y, double z) { return std::fma(x, y, z); }
static inline float __fsqrt_rn(float x) { return std::sqrt(x); }
static inline double __dsqrt_rn(double x) { return std::sqrt(x); }
static inline int __float_as_int(float x) { int bits; std::memcpy(&bits, &x, 4); return bits; }
static inline int __double2loint(double x) { int bits; std::memcpy(&bits, &x, 4); return bits; }
using std::memcpy;

enum State { RUNS, AT_WARP, AT_BLOCK, DONE };
struct Fiber { ucontext_t context; State state; std::vector<char> stack; };
static std::vector<Fiber> fibers;
static ucontext_t scheduler;

static void wait_for(State state)
{
    const unsigned own = threadIdx.x;
    fibers[own].state = state;
    swapcontext(&fibers[own].context, &scheduler);
    threadIdx.x = own;
}
static inline void __syncthreads() { wait_for(AT_BLOCK); }
static inline void __syncwarp() { wait_for(AT_WARP); }

enum { MOST_SHARED = 232448, BEYOND = 4096 };
__align__(16) REAL workspace[(MOST_SHARED + BEYOND) / sizeof(REAL)];

static void (*job)();
static void enter()
{
    job();
    fibers[threadIdx.x].state = DONE;
}

/* Lets fibers go on that wait at a barrier where all others have arrived. Returns whether some are not done. */
static bool released(unsigned threads)
{
    bool left = false, whole = true;
    for (unsigned first = 0; first < threads; first += 32) {
        bool warp = true;
        for (unsigned t = first; t < first + 32; ++t) {
            left |= fibers[t].state != DONE;
            warp &= fibers[t].state == AT_WARP;
            whole &= fibers[t].state == AT_BLOCK;
        }
        for (unsigned t = first; warp && t < first + 32; ++t)
            fibers[t].state = RUNS;
    }
    for (unsigned t = 0; whole && t < threads; ++t)
        fibers[t].state = RUNS;
    return left;
}

/* Runs blocks of a kernel; threads take turns from the first to the last, or `backwards`. Shared memory begins as NaN. Returns 0, 1
   if the kernel wrote beyond its bytes of shared memory, 2 if its threads wait for each other forever. */
static int launched(unsigned blocks, unsigned threads, unsigned bytes, bool backwards, void (*kernel)())
{
    job = kernel;
    blockDim = {threads, 1, 1};
    fibers.resize(threads);
    for (blockIdx.x = 0; blockIdx.x < blocks; ++blockIdx.x) {
        std::memset(workspace, 0xff, sizeof workspace);
        for (Fiber &fiber : fibers) {
            fiber.stack.resize(1 << 18);
            getcontext(&fiber.context);
            fiber.context.uc_stack.ss_sp = fiber.stack.data();
            fiber.context.uc_stack.ss_size = fiber.stack.size();
            fiber.context.uc_link = &scheduler;
            makecontext(&fiber.context, enter, 0);
            fiber.state = RUNS;
        }
        do {
            bool ran = false;
            for (unsigned k = 0; k < threads; ++k) {
                threadIdx.x = backwards ? threads - 1 - k : k;
                if (fibers[threadIdx.x].state == RUNS) {
                    ran = true;
                    swapcontext(&scheduler, &fibers[threadIdx.x].context);
                }
            }
            if (!ran)
                return 2;
        } while (released(threads));
        for (unsigned k = bytes; k < sizeof workspace; ++k)
            if (((unsigned char *)workspace)[k] != 0xff)
                return 1;
    }
    return 0;
}
