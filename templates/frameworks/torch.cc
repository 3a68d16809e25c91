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

/* The product with Jacobians at `point` that `key` selects; `key` is 0 for a function that is such a product itself. The vectors
   are inserted before the last `behind` inputs. */
Tensors product(Tensors point, const Tensors &vectors, int64_t key, size_t behind)
{
    TORCH_CHECK_NOT_IMPLEMENTED(key != 0, "lib.torch: PyTorch asks for derivatives of derivatives, which lib.torch lacks; "
                                          "take NAME_hvp of the library, or first derivatives alone");
    point.insert(point.end() - behind, vectors.begin(), vectors.end());
    return dispatched(point, key);
}

struct Backward : torch::autograd::Node {
    const rbdgen::Function *function = nullptr;
    std::vector<torch::autograd::SavedVariable> inputs;

    torch::autograd::variable_list apply(torch::autograd::variable_list &&given) override
    {
        Tensors point, bars;
        for (const auto &input : inputs)
            point.push_back(input.unpack());
        for (size_t i = 0; i < given.size(); ++i)
            bars.push_back(given[i].defined() ? given[i] : input_metadata(i).zeros_like());
        const Tensors found = product(std::move(point), bars, function->vjp, function->behind);
        torch::autograd::variable_list gradients(inputs.size());
        for (size_t i = 0; i < found.size(); ++i)
            gradients[function->by[i]] = found[i];
        return gradients;
    }

    void release_variables() override
    {
        for (auto &input : inputs)
            input.reset_data();
    }
};

/* Forward mode: sets the tangents y_dot of the outputs from the tangents x_dot of the inputs. */
void push_forward(at::TensorList inputs, Tensors &outputs, const rbdgen::Function &function)
{
    Tensors point, dots;
    for (const auto &input : inputs)
        point.push_back(input._fw_primal(0));
    for (const int64_t i : function.by)
        dots.push_back(isFwGradDefined(inputs[i]) ? inputs[i]._fw_grad(0) : at::zeros_like(point[i]));
    const Tensors found = product(std::move(point), dots, function.jvp, function.behind);
    for (size_t i = 0; i < outputs.size(); ++i)
        outputs[i]._set_fw_grad(found[i], 0, false);
}

/* Refuses derivatives by other inputs, such as parameters of the robot, rather than returning 0. */
void check_held(at::TensorList inputs, const std::vector<int64_t> &by)
{
    for (size_t i = 0; i < inputs.size() && !by.empty(); ++i)
        if (inputs[i].requires_grad() || isFwGradDefined(inputs[i]))
            TORCH_CHECK_NOT_IMPLEMENTED(std::find(by.begin(), by.end(), i) != by.end(), "lib.torch: there are no derivatives by input ", i + 1,
                                        "; keep it constant, or take rnea_dparams and aba_dparams for parameters");
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
        check_held(inputs, function.by);
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

TORCH_LIBRARY(rbdgen, m) { m.def("evaluate(Tensor[] inputs, int key) -> Tensor[]"); }
TORCH_LIBRARY_IMPL(rbdgen, CPU, m) { m.impl("evaluate", &evaluate); }
TORCH_LIBRARY_IMPL(rbdgen, Autograd, m) { m.impl("evaluate", &differentiable); }
