/* The functions of generated libraries. Python registers each with a bridge once; it is kept as long as the process runs. */
#ifndef RBDGEN_FUNCTIONS_H
#define RBDGEN_FUNCTIONS_H

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace rbdgen {

constexpr size_t kMostArrays = 64;

/* The shape of one state of an array. */
using Shape = std::vector<int64_t>;

inline size_t size_of(const Shape &shape)
{
    size_t size = 1;
    for (const int64_t length : shape)
        size *= static_cast<size_t>(length);
    return size;
}

struct Function {
    int64_t key;
    size_t inputs;
    std::vector<Shape> shapes; /* of all arrays: inputs, then outputs */
    std::vector<size_t> sizes;
    void (*call)(void *const *arrays);
    void (*states)(int threads, int fresh, size_t grain, size_t count, void *const *arrays, const size_t *steps);
    int64_t vjp, jvp;        /* the keys of the products of vectors with its Jacobians, 0 if there are none */
    std::vector<int64_t> by; /* the inputs of these Jacobians */
    size_t behind;           /* the number of last inputs (a table) that are the last inputs of these products too */
    const Function *next;

    size_t outputs() const { return shapes.size() - inputs; }

    /* Evaluates `count` states, which are contiguous in every array. */
    void evaluate(size_t count, void *const *arrays) const
    {
        if (count == 1)
            call(arrays);
        else if (count > 1)
            states(1, 0, count, count, arrays, sizes.data());
    }
};

static std::atomic<const Function *> newest{nullptr};

/* Threads may search the list while another one adds to it, as its elements never change. */
inline const Function *find(int64_t key)
{
    const Function *function = newest.load(std::memory_order_acquire);
    while (function != nullptr && function->key != key)
        function = function->next;
    return function;
}

}  // namespace rbdgen

/* `lengths` has, for every array, its number of axes and then their lengths. Python adds one function at a time. */
extern "C" void rbdgen_add(
    int64_t key, size_t inputs, size_t arrays, const int64_t *lengths, decltype(rbdgen::Function::call) call,
    decltype(rbdgen::Function::states) states, int64_t vjp, int64_t jvp, size_t moving, const int64_t *by, size_t behind)
{
    auto *function = new rbdgen::Function{key, inputs, {}, {}, call, states, vjp, jvp, {by, by + moving}, behind, rbdgen::newest.load()};
    for (size_t i = 0; i < arrays; lengths += 1 + lengths[0], ++i) {
        function->shapes.emplace_back(lengths + 1, lengths + 1 + lengths[0]);
        function->sizes.push_back(rbdgen::size_of(function->shapes.back()));
    }
    rbdgen::newest.store(function, std::memory_order_release);
}

#endif
