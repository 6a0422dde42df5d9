// The functions of oneDNN's C API, version 2, that the provider uses (onednn_v2.cc), as F(name).
// dnnl_version stands apart: it says whether these may be asked for.
#pragma once

#define ONEDNN_V2_FUNCTIONS(F)                    \
  F(dnnl_engine_create)                           \
  F(dnnl_stream_create)                           \
  F(dnnl_stream_destroy)                          \
  F(dnnl_memory_create)                           \
  F(dnnl_memory_destroy)                          \
  F(dnnl_memory_set_data_handle)                  \
  F(dnnl_memory_desc_init_by_strides)             \
  F(dnnl_memory_desc_init_by_tag)                 \
  F(dnnl_memory_desc_reshape)                     \
  F(dnnl_memory_desc_permute_axes)                \
  F(dnnl_memory_desc_equal)                       \
  F(dnnl_memory_desc_get_size)                    \
  F(dnnl_data_type_size)                          \
  F(dnnl_primitive_attr_create)                   \
  F(dnnl_primitive_attr_destroy)                  \
  F(dnnl_primitive_attr_set_scratchpad_mode)      \
  F(dnnl_primitive_attr_set_zero_points)          \
  F(dnnl_primitive_attr_set_post_ops)             \
  F(dnnl_post_ops_create)                         \
  F(dnnl_post_ops_destroy)                        \
  F(dnnl_post_ops_append_sum)                     \
  F(dnnl_post_ops_append_eltwise)                 \
  F(dnnl_post_ops_append_binary)                  \
  F(dnnl_primitive_desc_create)                   \
  F(dnnl_primitive_desc_destroy)                  \
  F(dnnl_primitive_desc_query)                    \
  F(dnnl_primitive_desc_query_md)                 \
  F(dnnl_primitive_create)                        \
  F(dnnl_primitive_destroy)                       \
  F(dnnl_primitive_execute)                       \
  F(dnnl_dilated_convolution_forward_desc_init)   \
  F(dnnl_dilated_deconvolution_forward_desc_init) \
  F(dnnl_inner_product_forward_desc_init)         \
  F(dnnl_matmul_desc_init)                        \
  F(dnnl_pooling_v2_forward_desc_init)            \
  F(dnnl_eltwise_forward_desc_init)               \
  F(dnnl_binary_desc_init)                        \
  F(dnnl_softmax_v2_forward_desc_init)            \
  F(dnnl_batch_normalization_forward_desc_init)   \
  F(dnnl_layer_normalization_forward_desc_init)   \
  F(dnnl_lrn_forward_desc_init)                   \
  F(dnnl_prelu_forward_desc_init)                 \
  F(dnnl_reduction_desc_init)                     \
  F(dnnl_resampling_forward_desc_init)            \
  F(dnnl_concat_primitive_desc_create)            \
  F(dnnl_reorder_primitive_desc_create)           \
  F(dnnl_vanilla_rnn_forward_desc_init)           \
  F(dnnl_lstm_forward_desc_init)                  \
  F(dnnl_gru_forward_desc_init)                   \
  F(dnnl_lbr_gru_forward_desc_init)               \
  F(dnnl_get_effective_cpu_isa)
