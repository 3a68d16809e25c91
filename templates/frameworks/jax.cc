/* One handler of XLA for the functions of all libraries; the attribute `key` selects the function. Python has checked types
   and shapes: all arrays have the same leading axes, which are states. */
#include "functions.h"
#include "xla/ffi/api/ffi.h"

namespace ffi = xla::ffi;

namespace {

ffi::Error Evaluate(ffi::RemainingArgs inputs, ffi::RemainingRets outputs, int64_t key)
{
    const rbdgen::Function *function = rbdgen::find(key);
    if (function == nullptr || inputs.size() != function->inputs || outputs.size() != function->outputs())
        return ffi::Error::InvalidArgument("a compiled program calls a function of rbdgen that this process has not opened");
    void *arrays[rbdgen::kMostArrays];
    void **place = arrays;
    for (size_t i = 0; i < inputs.size(); ++i) {
        const auto input = inputs.get<ffi::AnyBuffer>(i);
        if (input.has_error())
            return input.error();
        *place++ = input->untyped_data();
    }
    size_t count = 0;
    for (size_t i = 0; i < outputs.size(); ++i) {
        auto output = outputs.get<ffi::AnyBuffer>(i);
        if (output.has_error())
            return output.error();
        *place++ = (*output)->untyped_data();
        count = (*output)->element_count() / function->sizes[function->inputs + i];
    }
    function->evaluate(count, arrays);
    return ffi::Error::Success();
}

}  // namespace

XLA_FFI_DEFINE_HANDLER_SYMBOL(rbdgen_evaluate, Evaluate, ffi::Ffi::Bind().RemainingArgs().RemainingRets().Attr<int64_t>("key"));
