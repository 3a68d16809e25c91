/* One operator of PyTorch for the functions of all libraries, and its derivatives; `key` selects the function. Python has
   checked types and shapes: all tensors have the same leading axes, which are states. */
#define AT_PER_OPERATOR_HEADERS /* the header of all operators takes seconds to compile */
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/utils.h>
#include <torch/csrc/autograd/saved_variable.h>
#include <torch/library.h>

#include "functions.h"

namespace {

using torch::autograd::isFwGradDefined;
using Tensors = std::vector<at::Tensor>;

const rbdgen::Function &opened(int64_t key)
{
    const rbdgen::Function *function = rbdgen::find(key);
    TORCH_CHECK(function != nullptr, "a compiled program calls a function of rbdgen that this process has not opened");
    return *function;
}

Tensors evaluate(at::TensorList inputs, int64_t key)
{
    const rbdgen::Function &function = opened(key);
    TORCH_CHECK(inputs.size() == function.inputs, "rbdgen::evaluate: ", inputs.size(), " tensors given, expected ", function.inputs);
    Tensors kept;
    void *arrays[rbdgen::kMostArrays];
    for (size_t i = 0; i < inputs.size(); ++i) {
        kept.push_back(inputs[i].contiguous());
        arrays[i] = const_cast<void *>(kept[i].const_data_ptr());
    }
    const auto own = inputs[0].sizes();
    const auto leading = own.slice(0, own.size() - function.shapes[0].size());
    Tensors outputs;
    for (size_t i = inputs.size(); i < function.shapes.size(); ++i) {
        c10::SmallVector<int64_t, 8> shape(leading.begin(), leading.end());
        shape.append(function.shapes[i].begin(), function.shapes[i].end());
        outputs.push_back(at::empty(shape, inputs[0].options()));
        arrays[i] = outputs.back().mutable_data_ptr();
    }
    function.evaluate(c10::multiply_integers(leading), arrays);
    return outputs;
}

/* Calls the operator through the dispatcher, so that vmap, compilation and further derivatives see the call. */
Tensors dispatched(at::TensorList inputs, int64_t key)
{
    static const auto op = c10::Dispatcher::singleton().findSchemaOrThrow("rbdgen::evaluate", "").typed<decltype(evaluate)>();
    return op.call(inputs, key);
}

/* Asks Python for the key of the product with second derivatives of the function of a product; if there is none, the key is 0
   and the reason is written to `why`. Python builds the product when it is first asked for. */
using Asked = int64_t (*)(int64_t key, char *why, size_t size);

std::atomic<Asked> asked{nullptr};

int64_t second_key(const rbdgen::Function &function)
{
    char why[1024] = "";
    const Asked ask = asked.load(std::memory_order_acquire);
    const int64_t key = ask == nullptr ? 0 : ask(function.key, why, sizeof why);
    TORCH_CHECK_NOT_IMPLEMENTED(key != 0, why);
    return key;
}

/* The product with derivatives at `point` that `key` selects; `key` is 0 for a function that has none. The vectors are inserted
   before the last `behind` inputs. */
Tensors product(Tensors point, const Tensors &vectors, int64_t key, size_t behind)
{
    TORCH_CHECK_NOT_IMPLEMENTED(key != 0, "lib.torch: PyTorch asks for third derivatives, which lib.torch lacks");
    point.insert(point.end() - behind, vectors.begin(), vectors.end());
    return dispatched(point, key);
}

/* The inputs of f among the inputs of a function, and the vectors of a product. */
std::pair<Tensors, Tensors> split(const Tensors &inputs, const rbdgen::Function &function)
{
    const auto first = inputs.begin() + (function.point - function.behind), last = inputs.end() - function.behind;
    Tensors point(inputs.begin(), first);
    point.insert(point.end(), last, inputs.end());
    return {point, {first, last}};
}

/* The rate of J^T y_bar at `point` along x_dot. A function does not depend on the length of a quaternion, so its gradient is
   inversely proportional to that length, which adds a term along the quaternion. */
Tensors second(const Tensors &point, const Tensors &y_bar, const Tensors &x_dot, const rbdgen::Function &function)
{
    Tensors vectors = y_bar;
    vectors.insert(vectors.end(), x_dot.begin(), x_dot.end());
    Tensors found = product(point, vectors, second_key(function), function.behind);
    if (function.quaternions.empty() || function.curved.empty())
        return found;
    const Tensors gradient = product(point, y_bar, function.vjp, function.behind);
    for (const int64_t k : function.curved) {
        const at::Tensor &q = point[function.by[k]];
        at::Tensor changed = found[k].clone();
        for (const int64_t at : function.quaternions) {
            const auto own = [at](const at::Tensor &x) { return x.narrow(-1, at, 4); };
            own(changed).sub_(own(q).mul(own(x_dot[k])).sum({-1}, true).mul(own(gradient[k])));
        }
        found[k] = changed;
    }
    return found;
}

struct Backward : torch::autograd::Node {
    const rbdgen::Function *function = nullptr;
    std::vector<torch::autograd::SavedVariable> inputs;

    torch::autograd::variable_list apply(torch::autograd::variable_list &&given) override
    {
        Tensors all, bars;
        for (const auto &input : inputs)
            all.push_back(input.unpack());
        for (size_t i = 0; i < given.size(); ++i)
            bars.push_back(given[i].defined() ? given[i] : input_metadata(i).zeros_like());
        torch::autograd::variable_list gradients(inputs.size());
        const auto [point, vectors] = split(all, *function);
        if (function->role == rbdgen::kValue) {
            put(gradients, product(point, bars, function->vjp, function->behind));
            return gradients;
        }
        /* A product is linear in its vectors: its transpose is the other product. */
        const bool transposed = function->role == rbdgen::kTransposed;
        if (wanted(vectors.size())) {
            const Tensors found = product(point, bars, transposed ? function->jvp : function->vjp, function->behind);
            for (size_t i = 0; i < found.size(); ++i)
                gradients[function->point - function->behind + i] = found[i];
        }
        if (moved())
            put(gradients, transposed ? second(point, vectors, bars, *function) : second(point, bars, vectors, *function));
        return gradients;
    }

    void release_variables() override
    {
        for (auto &input : inputs)
            input.reset_data();
    }

private:
    void put(torch::autograd::variable_list &gradients, const Tensors &found) const
    {
        for (size_t i = 0; i < found.size(); ++i)
            gradients[function->place(function->by[i])] = found[i];
    }

    bool wanted(size_t vectors) const
    {
        bool any = false;
        for (size_t i = 0; i < vectors; ++i)
            any = any || task_should_compute_output(function->point - function->behind + i);
        return any;
    }

    bool moved() const
    {
        return std::any_of(function->by.begin(), function->by.end(), [this](int64_t k) { return task_should_compute_output(function->place(k)); });
    }
};

at::Tensor rate_of(const at::Tensor &x, const at::Tensor &value)
{
    return isFwGradDefined(x) ? x._fw_grad(0) : at::zeros_like(value);
}

/* Forward mode: sets the tangents y_dot of the outputs from the tangents x_dot of the inputs. */
void push_forward(at::TensorList inputs, Tensors &outputs, const rbdgen::Function &function)
{
    Tensors primal;
    for (const auto &x : inputs)
        primal.push_back(x._fw_primal(0));
    const auto [point, vectors] = split(primal, function);
    Tensors dots, rates, found;
    bool moving = false;
    for (const int64_t k : function.by) {
        const at::Tensor &x = inputs[function.place(k)];
        moving = moving || isFwGradDefined(x);
        dots.push_back(rate_of(x, point[k]));
    }
    const size_t first = function.point - function.behind;
    for (size_t i = 0; i < vectors.size(); ++i)
        rates.push_back(rate_of(inputs[first + i], vectors[i]));
    if (function.role == rbdgen::kValue) {
        found = product(point, dots, function.jvp, function.behind);
    } else {
        const bool transposed = function.role == rbdgen::kTransposed;
        TORCH_CHECK_NOT_IMPLEMENTED(transposed || !moving, "lib.torch: there is no torch.func.jacfwd of jacfwd; take torch.func.hessian");
        found = product(point, rates, transposed ? function.vjp : function.jvp, function.behind);
        if (moving) {
            const Tensors more = second(point, vectors, dots, function);
            for (size_t i = 0; i < found.size(); ++i)
                found[i] = found[i].add(more[i]);
        }
    }
    for (size_t i = 0; i < outputs.size(); ++i)
        outputs[i]._set_fw_grad(found[i], 0, false);
}

/* Refuses derivatives by other inputs, such as parameters of the robot, rather than returning 0. */
void check_held(at::TensorList inputs, const rbdgen::Function &function)
{
    for (size_t k = 0; k < function.point && !function.by.empty(); ++k) {
        const at::Tensor &x = inputs[function.place(k)];
        if (x.requires_grad() || isFwGradDefined(x))
            TORCH_CHECK_NOT_IMPLEMENTED(std::find(function.by.begin(), function.by.end(), k) != function.by.end(), "lib.torch: there are no derivatives by input ", k + 1,
                                        "; keep it constant, or take rnea_dparams and aba_dparams for parameters");
    }
}

Tensors differentiable(at::TensorList inputs, int64_t key)
{
    const rbdgen::Function &function = opened(key);
    const bool forward = torch::autograd::isFwGradDefinedTensorList(inputs);
    c10::intrusive_ptr<Backward> node;
    if (torch::autograd::compute_requires_grad(inputs)) {
        node = c10::make_intrusive<Backward>();
        node->function = &function;
        node->set_next_edges(torch::autograd::collect_next_edges(inputs));
        for (const auto &input : inputs)
            node->inputs.emplace_back(input, false);
    }
    if (node || forward)
        check_held(inputs, function);
    Tensors outputs;
    {
        at::AutoDispatchBelowADInplaceOrView below;
        outputs = dispatched(inputs, key);
    }
    if (node)
        torch::autograd::set_history(outputs, node);
    if (forward)
        push_forward(inputs, outputs, function);
    return outputs;
}

}  // namespace

/* Python gives the function that `second_key` calls. */
extern "C" void rbdgen_on_second(Asked ask)
{
    asked.store(ask, std::memory_order_release);
}

TORCH_LIBRARY(rbdgen, m) { m.def("evaluate(Tensor[] inputs, int key) -> Tensor[]"); }
TORCH_LIBRARY_IMPL(rbdgen, CPU, m) { m.impl("evaluate", &evaluate); }
TORCH_LIBRARY_IMPL(rbdgen, Autograd, m) { m.impl("evaluate", &differentiable); }
