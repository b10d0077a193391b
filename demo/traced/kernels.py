"""Which kernel of a GPU computes what an operator does, by the names that torch gives them."""

from __future__ import annotations

#: By the last part of a functor's name, kernels that go over all elements.
_ELEMENTWISE = {
    "aten::add": "CUDAFunctor_add<float>",
    "aten::add_": "CUDAFunctor_add<float>",
    "aten::mul": "BinaryFunctor<float, float, float, binary_internal::MulFunctor<float> >",
    "aten::mul_": "BinaryFunctor<float, float, float, binary_internal::MulFunctor<float> >",
    "aten::div": "BinaryFunctor<float, float, float, binary_internal::DivFunctor<float> >",
    "aten::div_": "BinaryFunctor<float, float, float, binary_internal::DivFunctor<float> >",
    "aten::sqrt": "sqrt_kernel_cuda",
    "aten::lerp_": "lerp_scalar_kernel",
    "aten::addcmul_": "addcmul_cuda_scalar_kernel",
    "aten::addcdiv_": "addcdiv_cuda_kernel",
    "aten::clamp_min": "launch_clamp_scalar",
    "aten::threshold_backward": "threshold_kernel_impl<float>",
    "aten::fill_": "FillFunctor<float>",
    "aten::copy_": "direct_copy_kernel_cuda",
    "aten::eq": "compare_scalar_kernel<float>",
}
_OTHERS = {
    "aten::mkldnn_convolution": "implicit_convolve_sgemm<float, float, 1024, 5, 5, 3, 3, 3, 1>",
    "aten::_slow_conv2d_forward": "implicit_convolve_sgemm<float, float, 128, 5, 5, 3, 3, 3, 1>",
    "aten::convolution_backward": "cudnn::cnn::wgrad_alg0_engine<float, 512, 6, 5, 3, 3, 3>",
    "aten::addmm": "ampere_sgemm_32x32_sliced1x4_tn",
    "aten::mm": "ampere_sgemm_32x32_sliced1x4_nn",
    "aten::native_batch_norm": "batch_norm_collect_statistics_channels_last_kernel",
    "aten::native_batch_norm_backward": "batch_norm_backward_reduce_channels_last_kernel",
    "aten::max_pool2d_with_indices": "max_pool_forward_nchw<float, int>",
    "aten::max_pool2d_with_indices_backward": "max_pool_backward_nchw<float, float>",
    "aten::_log_softmax": "cunn_SoftMaxForward<4, float, float, float, LogSoftMaxForwardEpilogue>",
    "aten::_log_softmax_backward_data": "cunn_SoftMaxBackward<4, float, float, float>",
    "aten::nll_loss_forward": "nll_loss_forward_reduce_cuda_kernel_2d<float, float, long>",
    "aten::nll_loss_backward": "nll_loss_backward_reduce_cuda_kernel_2d<float, long>",
    "aten::sum": "reduce_kernel<512, 1, ReduceOp<float, func_wrapper_t<float, sum_functor> > >",
    "aten::mean": "reduce_kernel<512, 1, ReduceOp<float, MeanOps<float, float, float, float> > >",
    "aten::argmax": "reduce_kernel<512, 1, ReduceOp<float, ArgMaxOps<float> > >",
    "aten::normal_": "distribution_elementwise_grid_stride_kernel<float, 4, normal_kernel>",
    "aten::random_": "distribution_elementwise_grid_stride_kernel<long, 2, random_from_to_kernel>",
    "aten::index": "index_elementwise_kernel<128, 4, gpu_index_kernel<OpaqueType<4> > >",
}
_OF_LIBRARIES = ("ampere_", "cudnn::", "implicit_")


def kernel_of(operator: str) -> str | None:
    """The kernel's name; None for what computes nothing, or what is inside of it does."""
    if operator in _ELEMENTWISE:
        functor = f"at::native::{_ELEMENTWISE[operator]}"
        return (
            f"void at::native::vectorized_elementwise_kernel<4, {functor}, std::array<char*, 2ul> >"
            f"(int, {functor}, std::array<char*, 2ul>)"
        )
    name = _OTHERS.get(operator)
    return name if name is None or name.startswith(_OF_LIBRARIES) else f"void at::native::{name}"
