/* The functions of generated libraries. Python registers each with a bridge once; it is kept as long as the process runs. */
#ifndef RBDGEN_FUNCTIONS_H
#define RBDGEN_FUNCTIONS_H

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace rbdgen {

constexpr size_t kMostArrays = 64;

/* What a function is to a framework that differentiates it: the function f itself, y_bar -> J^T y_bar, x_dot -> J x_dot. */
enum Role : int64_t { kValue, kTransposed, kAlong };

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
    int64_t vjp, jvp;        /* the keys of the products of vectors with the Jacobians of f, 0 if there are none */
    std::vector<int64_t> by; /* the inputs of f by which these differentiate */
    size_t behind;           /* the number of last inputs (a table) that are the last inputs of these products too */
    Role role;
    size_t point;            /* the number of inputs of f */
    std::vector<int64_t> quaternions; /* where quaternions begin in configurations */
    std::vector<int64_t> curved;      /* those of `by` that are configurations */
    const Function *next;

    size_t outputs() const { return shapes.size() - inputs; }

    /* The number of vectors that a product takes beside the inputs of f. */
    size_t vectors() const { return inputs - point; }

    /* The input of this function that is input k of f: a product takes its vectors before the last inputs. */
    size_t place(size_t k) const { return k < point - behind ? k : k + vectors(); }

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
    decltype(rbdgen::Function::states) states, int64_t vjp, int64_t jvp, size_t moving, const int64_t *by, size_t behind,
    int64_t role, size_t point, size_t turns, const int64_t *quaternions, size_t curves, const int64_t *curved)
{
    auto *function = new rbdgen::Function{
        key, inputs, {}, {}, call, states, vjp, jvp, {by, by + moving}, behind, rbdgen::Role(role), point,
        {quaternions, quaternions + turns}, {curved, curved + curves}, rbdgen::newest.load()};
    for (size_t i = 0; i < arrays; lengths += 1 + lengths[0], ++i) {
        function->shapes.emplace_back(lengths + 1, lengths + 1 + lengths[0]);
        function->sizes.push_back(rbdgen::size_of(function->shapes.back()));
    }
    rbdgen::newest.store(function, std::memory_order_release);
}

#endif
