/* A driver of NVIDIA that runs kernels on the CPU: the functions of libcuda that rbdgen calls, on host memory.

   It is strict where a GPU would be late or silent. Streams are queues, and nothing in a queue runs before somebody waits for it or
   asks for an event; then only what had to come first runs. New and freed memory is NaN. A kernel that touches memory which is not
   allocated on its device, or is launched with other blocks than it takes, is an error that the next call reports.

   KERNELS, the functions that launch kernels, stands in a file that includes this one, after cuda.h. */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>

struct Kernel {
    const char *name;
    int arguments;
    /* The numbers from the first to the last one that the kernel reads or writes of argument k; 0 if it is no array. */
    long long (*extent)(int k, const long long *arguments);
    int (*launch)(unsigned blocks, unsigned threads, unsigned bytes, bool backwards, long long *arguments);
};
extern const Kernel KERNELS[];
extern const int KERNEL_COUNT;

enum { SUCCESS, INVALID_VALUE, OUT_OF_MEMORY, NOT_INITIALIZED, NO_DEVICE = 100, INVALID_DEVICE = 101, INVALID_IMAGE = 200,
       INVALID_CONTEXT = 201, NO_BINARY = 209, INVALID_HANDLE = 400, NOT_FOUND = 500, NOT_READY = 600, ILLEGAL_ADDRESS = 700,
       LAUNCH_FAILED = 719, CAPTURE_UNSUPPORTED = 900 };
enum { DEVICES = 2, MEMORY = 1 << 28 };

/* What tests set and read. */
struct Settings {
    int version, devices, major, minor, shared, pools;
    int contexts, launches, allocated, freed, events, modules, copies, attributes, blocks, threads, bytes;
};
extern "C" { Settings fake = {13000, DEVICES, 9, 0, 227 * 1024, 1}; }

struct CUctx_st { int device; };
struct CUstream_st { int device; };
struct CUmod_st { int device; };
struct CUfunc_st { const Kernel *kernel; int device, most; };
struct CUevent_st { CUstream_st *stream; long long at; };
struct Memory { size_t size; int device; };

typedef std::function<void()> Work;
struct Queue { long long given = 0, done = 0; std::deque<Work> work; std::deque<Work> *capture = nullptr; };

static bool ready;
#define error fake_error
extern "C" { int error; }
static CUctx_st contexts[DEVICES] = {{0}, {1}};
static thread_local std::deque<CUctx_st *> current;
static std::map<uintptr_t, Memory> memory;
static std::map<uintptr_t, Queue> queues;

static int device() { return current.empty() ? -1 : current.back()->device; }
#define NEED_CONTEXT do { if (!ready) return NOT_INITIALIZED; if (current.empty()) return INVALID_CONTEXT; if (error) return error; } while (0)

static Queue &queue_of(CUstream_st *stream)
{
    const uintptr_t handle = stream ? (uintptr_t)stream : 1;
    return queues[handle];
}

/* Runs what a stream got up to the number `at`. */
static void run(Queue &queue, long long at)
{
    while (queue.done < at && !queue.work.empty()) {
        Work work = queue.work.front();
        queue.work.pop_front();
        work();
        ++queue.done;
    }
}

static void give(CUstream_st *stream, Work work)
{
    Queue &queue = queue_of(stream);
    if (queue.capture) {
        queue.capture->push_back(work);
        return;
    }
    queue.work.push_back(work);
    ++queue.given;
}

/* Whether bytes are allocated, on a device if one is given. */
static bool inside(uintptr_t at, size_t size, int on = -1)
{
    auto found = memory.upper_bound(at);
    if (found == memory.begin())
        return false;
    --found;
    return at + size <= found->first + found->second.size && (on < 0 || on == found->second.device);
}

extern "C" {
int cuInit(unsigned)
{
    ready = true;
    return fake.devices ? SUCCESS : NO_DEVICE;
}
int cuDriverGetVersion(int *version) { return *version = fake.version, SUCCESS; }
int cuGetErrorName(int status, const char **name)
{
    *name = status == OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY" : status == ILLEGAL_ADDRESS ? "CUDA_ERROR_ILLEGAL_ADDRESS" : nullptr;
    return *name ? SUCCESS : INVALID_VALUE;
}
int cuGetErrorString(int status, const char **text)
{
    *text = status == OUT_OF_MEMORY ? "out of memory" : "an illegal memory access was encountered";
    return SUCCESS;
}
int cuDeviceGetCount(int *count) { return ready ? (*count = fake.devices, SUCCESS) : NOT_INITIALIZED; }
int cuDeviceGet(int *device, int ordinal) { return ordinal < fake.devices ? (*device = ordinal, SUCCESS) : INVALID_DEVICE; }
int cuDeviceGetName(char *name, int length, int device) { return snprintf(name, length, "Stand-in %d", device), SUCCESS; }
int cuDeviceGetAttribute(int *value, int attribute, int)
{
    const std::map<int, int> values = {{75, fake.major}, {76, fake.minor}, {97, fake.shared}, {115, fake.pools}};
    const auto found = values.find(attribute);
    return found == values.end() ? INVALID_VALUE : (*value = found->second, SUCCESS);
}
int cuDevicePrimaryCtxRetain(CUctx_st **context, int device) { return ++fake.contexts, *context = &contexts[device], SUCCESS; }
int cuCtxGetCurrent(CUctx_st **context) { return *context = current.empty() ? nullptr : current.back(), ready ? SUCCESS : NOT_INITIALIZED; }
int cuCtxGetDevice(int *value) { NEED_CONTEXT; return *value = device(), SUCCESS; }
int cuCtxPushCurrent_v2(CUctx_st *context) { return current.push_back(context), SUCCESS; }
int cuCtxPopCurrent_v2(CUctx_st **context) { NEED_CONTEXT; return *context = current.back(), current.pop_back(), SUCCESS; }

/* An image must be a file for CUDA (ELF, machine 190). */
int cuModuleLoadData(CUmod_st **module, const void *image)
{
    NEED_CONTEXT;
    const unsigned char *bytes = (const unsigned char *)image;
    if (memcmp(bytes, "\177ELF", 4) || bytes[18] != 190)
        return INVALID_IMAGE;
    ++fake.modules;
    return *module = new CUmod_st{device()}, SUCCESS;
}
int cuModuleGetFunction(CUfunc_st **function, CUmod_st *module, const char *name)
{
    NEED_CONTEXT;
    for (int k = 0; k < KERNEL_COUNT; ++k)
        if (std::string(KERNELS[k].name) == name)
            return *function = new CUfunc_st{&KERNELS[k], module->device, 48 * 1024}, SUCCESS;
    return NOT_FOUND;
}
int cuFuncSetAttribute(CUfunc_st *function, int attribute, int value)
{
    if (attribute != 8 || value > fake.shared)
        return INVALID_VALUE;
    ++fake.attributes;
    return function->most = value, SUCCESS;
}

/* Arguments are copied at once, as the driver does; all have 64 bits. */
int cuLaunchKernel(CUfunc_st *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned bytes,
    CUstream_st *stream, void **arguments, void **extra)
{
    NEED_CONTEXT;
    if (!gx || gy != 1 || gz != 1 || !bx || by != 1 || bz != 1 || bx > 1024 || extra || (int)bytes > function->most)
        return INVALID_VALUE;
    if (function->device != device())
        return INVALID_HANDLE;
    const Kernel *kernel = function->kernel;
    auto values = std::make_shared<std::vector<long long>>();
    for (int k = 0; k < kernel->arguments; ++k)
        values->push_back(*(long long *)arguments[k]);
    const int on = device();
    ++fake.launches, fake.blocks = gx, fake.threads = bx, fake.bytes = bytes;
    give(stream, [=] {
        for (int k = 0; k < kernel->arguments; ++k) {
            const long long extent = kernel->extent(k, values->data());
            if (extent && ((*values)[k] % 16 || !inside((*values)[k], sizeof(REAL) * extent, on)))
                error = ILLEGAL_ADDRESS;
        }
        if (!error && kernel->launch(gx, bx, bytes, false, values->data()))
            error = LAUNCH_FAILED;
    });
    return SUCCESS;
}

int cuMemAllocAsync(unsigned long long *pointer, size_t size, CUstream_st *stream)
{
    NEED_CONTEXT;
    if (queue_of(stream).capture)
        return CAPTURE_UNSUPPORTED;
    if (!size || size > MEMORY)
        return size ? OUT_OF_MEMORY : INVALID_VALUE;
    void *made = aligned_alloc(256, (size + 255) / 256 * 256);
    memset(made, 0xff, size);
    memory[(uintptr_t)made] = {size, device()};
    ++fake.allocated;
    return *pointer = (uintptr_t)made, SUCCESS;
}
int cuMemFreeAsync(unsigned long long pointer, CUstream_st *stream)
{
    NEED_CONTEXT;
    if (queue_of(stream).capture)
        return CAPTURE_UNSUPPORTED;
    if (!memory.count(pointer))
        return INVALID_VALUE;
    ++fake.freed;
    give(stream, [=] {
        memset((void *)pointer, 0xff, memory[pointer].size);
        memory.erase(pointer); /* the host's memory is kept, so that late accesses are seen */
    });
    return SUCCESS;
}

static int copied(void *to, const void *from, size_t size, CUstream_st *stream, bool reads, bool writes)
{
    NEED_CONTEXT;
    ++fake.copies;
    give(stream, [=] {
        if ((reads && !inside((uintptr_t)from, size)) || (writes && !inside((uintptr_t)to, size)))
            error = ILLEGAL_ADDRESS;
        else
            memmove(to, from, size);
    });
    return SUCCESS;
}
int cuMemcpyHtoDAsync_v2(unsigned long long to, const void *from, size_t size, CUstream_st *stream)
{
    return copied((void *)to, from, size, stream, false, true);
}
int cuMemcpyDtoHAsync_v2(void *to, unsigned long long from, size_t size, CUstream_st *stream)
{
    return copied(to, (void *)from, size, stream, true, false);
}
int cuMemcpyDtoDAsync_v2(unsigned long long to, unsigned long long from, size_t size, CUstream_st *stream)
{
    return copied((void *)to, (void *)from, size, stream, true, true);
}
int cuPointerGetAttribute(void *value, int attribute, unsigned long long pointer)
{
    NEED_CONTEXT;
    if (attribute != 9 || !inside(pointer, 1))
        return INVALID_VALUE;
    auto found = memory.upper_bound(pointer);
    return *(int *)value = (--found)->second.device, SUCCESS;
}

int cuStreamCreate(CUstream_st **stream, unsigned) { return *stream = new CUstream_st{0}, SUCCESS; }
int cuStreamSynchronize(CUstream_st *stream)
{
    NEED_CONTEXT;
    Queue &queue = queue_of(stream);
    run(queue, queue.given);
    return error;
}
int cuStreamIsCapturing(CUstream_st *stream, int *status) { NEED_CONTEXT; return *status = queue_of(stream).capture != nullptr, SUCCESS; }
int cuEventCreate(CUevent_st **event, unsigned flags)
{
    NEED_CONTEXT;
    ++fake.events;
    return flags == 2 ? (*event = new CUevent_st{nullptr, 0}, SUCCESS) : INVALID_VALUE;
}
int cuEventRecord(CUevent_st *event, CUstream_st *stream)
{
    NEED_CONTEXT;
    if (queue_of(stream).capture)
        return CAPTURE_UNSUPPORTED;
    give(stream, [] {});
    return event->stream = stream, event->at = queue_of(stream).given, SUCCESS;
}
int cuStreamWaitEvent(CUstream_st *stream, CUevent_st *event, unsigned)
{
    NEED_CONTEXT;
    CUstream_st *const other = event->stream;
    const long long at = event->at;
    give(stream, [=] { run(queue_of(other), at); });
    return SUCCESS;
}
int cuEventQuery(CUevent_st *event) { return queue_of(event->stream).done >= event->at ? SUCCESS : NOT_READY; }
int cuEventDestroy_v2(CUevent_st *event) { return --fake.events, delete event, SUCCESS; }

/* CUDA graphs, for tests of capturing. */
typedef std::deque<Work> Graph;
int cuStreamBeginCapture_v2(CUstream_st *stream, int) { return queue_of(stream).capture = new Graph, SUCCESS; }
int cuStreamEndCapture(CUstream_st *stream, void **graph)
{
    *graph = queue_of(stream).capture;
    return queue_of(stream).capture = nullptr, SUCCESS;
}
int cuGraphInstantiateWithFlags(void **instance, void *graph, unsigned long long) { return *instance = graph, SUCCESS; }
int cuGraphLaunch(void *instance, CUstream_st *stream)
{
    NEED_CONTEXT;
    for (const Work &work : *(Graph *)instance)
        give(stream, work);
    return SUCCESS;
}
/* The number of arrays that are allocated now, after all streams have done their work. */
int fake_live()
{
    for (auto &pair : queues)
        run(pair.second, pair.second.given);
    return (int)memory.size();
}
}
