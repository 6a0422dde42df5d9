"""Small models of Hugging Face's transformers for networks_pytorch.py, from their configurations."""

import torch, transformers as H

TEXT = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48, vocab_size=99)
LONG = dict(TEXT, max_position_embeddings=64)
KV = dict(LONG, num_key_value_heads=2, head_dim=8)
ENCDEC = dict(d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=48, decoder_ffn_dim=48,
              vocab_size=99, max_position_embeddings=64)
ENDS = dict(pad_token_id=0, bos_token_id=1, eos_token_id=2)


def ids(b, s, mask=True, **more):
    g = torch.Generator().manual_seed(b * 100 + s)
    x = {"input_ids": torch.randint(3, 99, (b, s), generator=g)}
    if mask:
        x["attention_mask"] = torch.ones(b, s, dtype=torch.int64)
        x["attention_mask"][0, s - 2 :] = 0
        if mask == "left":
            x["attention_mask"] = x["attention_mask"].flip(1)
    return dict(x, **more)


# Encoders: class, configuration.
ENCODERS = {
    "bert": ("BertModel", "BertConfig", LONG),
    "bert_mlm": ("BertForMaskedLM", "BertConfig", LONG),
    "bert_qa": ("BertForQuestionAnswering", "BertConfig", LONG),
    "roberta": ("RobertaForSequenceClassification", "RobertaConfig", LONG),
    "xlm_roberta": ("XLMRobertaForTokenClassification", "XLMRobertaConfig", LONG),
    "distilbert": ("DistilBertForSequenceClassification", "DistilBertConfig", dict(dim=32, n_layers=2, n_heads=4, hidden_dim=48, vocab_size=99, max_position_embeddings=64)),
    "albert": ("AlbertForMaskedLM", "AlbertConfig", dict(LONG, embedding_size=16)),
    "electra": ("ElectraForPreTraining", "ElectraConfig", dict(LONG, embedding_size=16)),
    "deberta": ("DebertaModel", "DebertaConfig", dict(LONG, relative_attention=True, pos_att_type=["c2p", "p2c"])),
    "deberta_v2": ("DebertaV2ForSequenceClassification", "DebertaV2Config",
                   dict(LONG, relative_attention=True, pos_att_type=["c2p", "p2c"], position_buckets=16, norm_rel_ebd="layer_norm", share_att_key=True, conv_kernel_size=3, conv_act="gelu")),
    "mpnet": ("MPNetModel", "MPNetConfig", LONG),
    "xlnet": ("XLNetModel", "XLNetConfig", dict(d_model=32, n_layer=2, n_head=4, d_inner=48, vocab_size=99)),
    "xlm": ("XLMModel", "XLMConfig", dict(emb_dim=32, n_layers=2, n_heads=4, vocab_size=99, max_position_embeddings=64)),
    "flaubert": ("FlaubertModel", "FlaubertConfig", dict(emb_dim=32, n_layers=2, n_heads=4, vocab_size=99, max_position_embeddings=64)),
    "camembert": ("CamembertModel", "CamembertConfig", LONG),
    "convbert": ("ConvBertModel", "ConvBertConfig", dict(LONG, embedding_size=16)),
    "squeezebert": ("SqueezeBertModel", "SqueezeBertConfig", dict(LONG, embedding_size=32, q_groups=2, k_groups=2, v_groups=2, post_attention_groups=1, intermediate_groups=2, output_groups=2)),
    "mobilebert": ("MobileBertModel", "MobileBertConfig", dict(LONG, embedding_size=16, intra_bottleneck_size=16, num_feedforward_networks=2)),
    "funnel": ("FunnelModel", "FunnelConfig", dict(vocab_size=99, block_sizes=[1, 1], d_model=32, n_head=4, d_head=8, d_inner=48)),
    "fnet": ("FNetModel", "FNetConfig", dict(LONG)),
    "longformer": ("LongformerModel", "LongformerConfig", dict(LONG, attention_window=4)),
    "bigbird": ("BigBirdModel", "BigBirdConfig", dict(LONG, attention_type="original_full")),
    "nystromformer": ("NystromformerModel", "NystromformerConfig", dict(LONG, segment_means_seq_len=12, num_landmarks=4)),
    "yoso": ("YosoModel", "YosoConfig", dict(LONG, use_expectation=True)),
    "rembert": ("RemBertModel", "RemBertConfig", dict(LONG, input_embedding_size=16)),
    "roformer": ("RoFormerModel", "RoFormerConfig", dict(LONG, embedding_size=32)),
    "ibert": ("IBertModel", "IBertConfig", LONG),
    "esm": ("EsmModel", "EsmConfig", dict(LONG, position_embedding_type="rotary", pad_token_id=1, mask_token_id=2)),
    "modernbert": ("ModernBertModel", "ModernBertConfig", dict(LONG, local_attention=8, global_attn_every_n_layers=2, pad_token_id=0, bos_token_id=1, eos_token_id=2, cls_token_id=1, sep_token_id=2)),
    "ernie": ("ErnieModel", "ErnieConfig", LONG),
    "canine": ("CanineModel", "CanineConfig", dict(LONG, num_hash_functions=4, num_hash_buckets=32, local_transformer_stride=16)),
    "perceiver": ("PerceiverForMaskedLM", "PerceiverConfig", dict(num_latents=8, d_latents=32, d_model=32, num_blocks=1, num_self_attends_per_block=2, num_self_attention_heads=4, num_cross_attention_heads=4, vocab_size=99, max_position_embeddings=64, qk_channels=32, v_channels=32)),
    "t5_encoder": ("T5EncoderModel", "T5Config", dict(d_model=32, d_kv=8, d_ff=48, num_layers=2, num_heads=4, vocab_size=99)),
    "layoutlm": ("LayoutLMModel", "LayoutLMConfig", LONG),
}

DECODERS = {
    "gpt2": ("GPT2LMHeadModel", "GPT2Config", dict(n_embd=32, n_layer=2, n_head=4, vocab_size=99, n_positions=64)),
    "openai_gpt": ("OpenAIGPTLMHeadModel", "OpenAIGPTConfig", dict(n_embd=32, n_layer=2, n_head=4, vocab_size=99, n_positions=64)),
    "gpt_neo": ("GPTNeoForCausalLM", "GPTNeoConfig", dict(hidden_size=32, num_layers=2, num_heads=4, vocab_size=99, max_position_embeddings=64, attention_types=[[["global", "local"], 1]], window_size=4)),
    "gpt_neox": ("GPTNeoXForCausalLM", "GPTNeoXConfig", LONG),
    "gptj": ("GPTJForCausalLM", "GPTJConfig", dict(n_embd=32, n_layer=2, n_head=4, vocab_size=99, n_positions=64, rotary_dim=4)),
    "codegen": ("CodeGenForCausalLM", "CodeGenConfig", dict(n_embd=32, n_layer=2, n_head=4, vocab_size=99, n_positions=64, rotary_dim=4)),
    "gpt_bigcode": ("GPTBigCodeForCausalLM", "GPTBigCodeConfig", dict(n_embd=32, n_layer=2, n_head=4, vocab_size=99, n_positions=64)),
    "opt": ("OPTForCausalLM", "OPTConfig", dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, ffn_dim=48, vocab_size=99, max_position_embeddings=64, word_embed_proj_dim=32)),
    "bloom": ("BloomForCausalLM", "BloomConfig", dict(hidden_size=32, n_layer=2, n_head=4, vocab_size=99)),
    "falcon": ("FalconForCausalLM", "FalconConfig", dict(TEXT, alibi=False, multi_query=True)),
    "mpt": ("MptForCausalLM", "MptConfig", dict(d_model=32, n_heads=4, n_layers=2, vocab_size=99, max_seq_len=64)),
    "llama": ("LlamaForCausalLM", "LlamaConfig", KV),
    "llama3_rope": ("LlamaForCausalLM", "LlamaConfig", dict(KV, rope_parameters=dict(rope_type="llama3", rope_theta=10000.0, factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0, original_max_position_embeddings=32))),
    "llama_eager": ("LlamaForCausalLM", "LlamaConfig", dict(KV, attn_implementation="eager")),
    "mistral": ("MistralForCausalLM", "MistralConfig", dict(KV, sliding_window=4)),
    "mixtral": ("MixtralForCausalLM", "MixtralConfig", dict(KV, num_local_experts=4, num_experts_per_tok=2)),
    "qwen2": ("Qwen2ForCausalLM", "Qwen2Config", KV),
    "qwen2_moe": ("Qwen2MoeForCausalLM", "Qwen2MoeConfig", dict(KV, num_experts=4, num_experts_per_tok=2, moe_intermediate_size=24, shared_expert_intermediate_size=24)),
    "qwen3": ("Qwen3ForCausalLM", "Qwen3Config", KV),
    "qwen3_moe": ("Qwen3MoeForCausalLM", "Qwen3MoeConfig", dict(KV, num_experts=4, num_experts_per_tok=2, moe_intermediate_size=24)),
    "gemma": ("GemmaForCausalLM", "GemmaConfig", KV),
    "gemma2": ("Gemma2ForCausalLM", "Gemma2Config", dict(KV, sliding_window=4, query_pre_attn_scalar=8)),
    "gemma3": ("Gemma3ForCausalLM", "Gemma3TextConfig", dict(KV, sliding_window=4, query_pre_attn_scalar=8)),
    "phi": ("PhiForCausalLM", "PhiConfig", dict(LONG, partial_rotary_factor=0.5)),
    "phi3": ("Phi3ForCausalLM", "Phi3Config", dict(KV, **ENDS)),
    "stablelm": ("StableLmForCausalLM", "StableLmConfig", dict(LONG, num_key_value_heads=4)),
    "starcoder2": ("Starcoder2ForCausalLM", "Starcoder2Config", dict(LONG, num_key_value_heads=2)),
    "cohere": ("CohereForCausalLM", "CohereConfig", dict(LONG, num_key_value_heads=2)),
    "olmo2": ("Olmo2ForCausalLM", "Olmo2Config", dict(LONG, num_key_value_heads=2)),
    "granite": ("GraniteForCausalLM", "GraniteConfig", dict(LONG, num_key_value_heads=2)),
    "smollm3": ("SmolLM3ForCausalLM", "SmolLM3Config", dict(LONG, num_key_value_heads=2, **ENDS)),
    "deepseek_v3": ("DeepseekV3ForCausalLM", "DeepseekV3Config", dict(LONG, n_routed_experts=4, num_experts_per_tok=2, n_group=2, topk_group=1, first_k_dense_replace=1, moe_intermediate_size=24,
                    q_lora_rank=16, kv_lora_rank=16, qk_rope_head_dim=8, qk_nope_head_dim=8, v_head_dim=8, num_key_value_heads=4)),
    "gpt_oss": ("GptOssForCausalLM", "GptOssConfig", dict(KV, num_local_experts=4, num_experts_per_tok=2, sliding_window=4)),
    "mamba": ("MambaForCausalLM", "MambaConfig", dict(hidden_size=32, num_hidden_layers=2, vocab_size=99, state_size=8)),
    "mamba2": ("Mamba2ForCausalLM", "Mamba2Config", dict(hidden_size=32, num_hidden_layers=2, vocab_size=99, state_size=8, num_heads=8, head_dim=8, n_groups=2, chunk_size=8)),
    "rwkv": ("RwkvForCausalLM", "RwkvConfig", dict(hidden_size=32, num_hidden_layers=2, vocab_size=99, attention_hidden_size=32)),
    "recurrent_gemma": ("RecurrentGemmaForCausalLM", "RecurrentGemmaConfig", dict(TEXT, num_key_value_heads=1, lru_width=32, attention_window_size=8)),
    "jamba": ("JambaForCausalLM", "JambaConfig", dict(TEXT, num_key_value_heads=2, num_experts=2, attn_layer_period=2, attn_layer_offset=1, expert_layer_period=2, expert_layer_offset=1, mamba_d_state=8, use_mamba_kernels=False)),
    "xglm": ("XGLMForCausalLM", "XGLMConfig", dict(d_model=32, num_layers=2, attention_heads=4, ffn_dim=48, vocab_size=99, max_position_embeddings=64)),
    "biogpt": ("BioGptForCausalLM", "BioGptConfig", LONG),
    "nemotron": ("NemotronForCausalLM", "NemotronConfig", dict(LONG, num_key_value_heads=2)),
}

SEQ2SEQ = {
    "t5": ("T5ForConditionalGeneration", "T5Config", dict(d_model=32, d_kv=8, d_ff=48, num_layers=2, num_heads=4, vocab_size=99, decoder_start_token_id=0)),
    "mt5": ("MT5ForConditionalGeneration", "MT5Config", dict(d_model=32, d_kv=8, d_ff=48, num_layers=2, num_heads=4, vocab_size=99, decoder_start_token_id=0)),
    "bart": ("BartForConditionalGeneration", "BartConfig", ENCDEC),
    "mbart": ("MBartForConditionalGeneration", "MBartConfig", ENCDEC),
    "marian": ("MarianMTModel", "MarianConfig", dict(ENCDEC, pad_token_id=0, decoder_start_token_id=0)),
    "pegasus": ("PegasusForConditionalGeneration", "PegasusConfig", ENCDEC),
    "blenderbot": ("BlenderbotForConditionalGeneration", "BlenderbotConfig", ENCDEC),
    "m2m100": ("M2M100ForConditionalGeneration", "M2M100Config", ENCDEC),
    "prophetnet": ("ProphetNetForConditionalGeneration", "ProphetNetConfig", dict(hidden_size=32, num_encoder_layers=2, num_decoder_layers=2, num_encoder_attention_heads=4, num_decoder_attention_heads=4, encoder_ffn_dim=48, decoder_ffn_dim=48, vocab_size=99, max_position_embeddings=64)),
    "led": ("LEDForConditionalGeneration", "LEDConfig", dict(d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=48, decoder_ffn_dim=48, vocab_size=99, attention_window=4, max_encoder_position_embeddings=64, max_decoder_position_embeddings=64)),
}

VIT = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48, image_size=32, patch_size=8)
SWIN = dict(image_size=32, patch_size=2, embed_dim=16, depths=[2, 2], num_heads=[2, 4], window_size=4)
IMAGES = {
    "vit": ("ViTForImageClassification", "ViTConfig", VIT, 32),
    "vit_mae": ("ViTModel", "ViTConfig", dict(VIT, qkv_bias=False), 32),
    "deit": ("DeiTForImageClassificationWithTeacher", "DeiTConfig", VIT, 32),
    "beit": ("BeitForImageClassification", "BeitConfig", dict(VIT, use_relative_position_bias=True, use_mean_pooling=True, vocab_size=99), 32),
    "data2vec_vision": ("Data2VecVisionModel", "Data2VecVisionConfig", dict(VIT, use_shared_relative_position_bias=True), 32),
    "dinov2": ("Dinov2Model", "Dinov2Config", VIT, 32),
    "dinov2_registers": ("Dinov2WithRegistersModel", "Dinov2WithRegistersConfig", VIT, 32),
    "dinov3": ("DINOv3ViTModel", "DINOv3ViTConfig", VIT, 32),
    "swin": ("SwinForImageClassification", "SwinConfig", SWIN, 32),
    "swinv2": ("Swinv2Model", "Swinv2Config", SWIN, 32),
    "swin2sr": ("Swin2SRForImageSuperResolution", "Swin2SRConfig", dict(SWIN, patch_size=1, image_size=16, num_heads=[2, 2], upscale=2), 16),
    "donut_swin": ("DonutSwinModel", "DonutSwinConfig", SWIN, 32),
    "convnext": ("ConvNextForImageClassification", "ConvNextConfig", dict(hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 2, 1]), 64),
    "convnextv2": ("ConvNextV2ForImageClassification", "ConvNextV2Config", dict(hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 2, 1]), 64),
    "segformer": ("SegformerForSemanticSegmentation", "SegformerConfig", dict(depths=[1, 1, 1, 1], hidden_sizes=[8, 16, 16, 32], num_attention_heads=[1, 2, 2, 4], decoder_hidden_size=16), 64),
    "resnet": ("ResNetForImageClassification", "ResNetConfig", dict(hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 2, 1], embedding_size=8), 64),
    "regnet": ("RegNetForImageClassification", "RegNetConfig", dict(hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 2, 1], embedding_size=8, groups_width=8), 64),
    "mobilenet_v1": ("MobileNetV1ForImageClassification", "MobileNetV1Config", dict(depth_multiplier=0.25), 64),
    "mobilenet_v2": ("MobileNetV2ForSemanticSegmentation", "MobileNetV2Config", dict(depth_multiplier=0.35), 64),
    "mobilevit": ("MobileViTForSemanticSegmentation", "MobileViTConfig", dict(hidden_sizes=[16, 24, 32], neck_hidden_sizes=[8, 8, 16, 24, 32, 32, 64], image_size=64), 64),
    "mobilevitv2": ("MobileViTV2ForImageClassification", "MobileViTV2Config", dict(width_multiplier=0.5, image_size=64), 64),
    "efficientnet": ("EfficientNetForImageClassification", "EfficientNetConfig", dict(width_coefficient=0.25, depth_coefficient=0.5, hidden_dim=320), 64),
    "poolformer": ("PoolFormerForImageClassification", "PoolFormerConfig", dict(hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 1, 1]), 64),
    "pvt": ("PvtForImageClassification", "PvtConfig", dict(image_size=64, hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 1, 1], num_attention_heads=[1, 2, 2, 4]), 64),
    "pvt_v2": ("PvtV2ForImageClassification", "PvtV2Config", dict(image_size=64, hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 1, 1], num_attention_heads=[1, 2, 2, 4]), 64),
    "cvt": ("CvtForImageClassification", "CvtConfig", dict(embed_dim=[16, 24, 32], depth=[1, 1, 2], num_heads=[1, 2, 4]), 64),
    "levit": ("LevitForImageClassificationWithTeacher", "LevitConfig", dict(image_size=64, hidden_sizes=[16, 32, 48], num_attention_heads=[1, 2, 3], depths=[1, 1, 1], key_dim=[8, 8, 8]), 64),
    "focalnet": ("FocalNetForImageClassification", "FocalNetConfig", dict(image_size=32, patch_size=2, embed_dim=16, hidden_sizes=[16, 32, 32, 64], depths=[1, 1, 1, 1]), 32),
    "bit": ("BitForImageClassification", "BitConfig", dict(hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 2, 1], embedding_size=8, num_groups=2), 64),
    "dpt": ("DPTForDepthEstimation", "DPTConfig", dict(VIT, backbone_out_indices=[0, 0, 1, 1], neck_hidden_sizes=[8, 8, 16, 16], fusion_hidden_size=16, is_hybrid=False, num_hidden_layers=4), 32),
    "glpn": ("GLPNForDepthEstimation", "GLPNConfig", dict(depths=[1, 1, 1, 1], hidden_sizes=[8, 16, 16, 32], num_attention_heads=[1, 2, 2, 4], decoder_hidden_size=16), 64),
    "yolos": ("YolosForObjectDetection", "YolosConfig", dict(VIT, image_size=[32, 32], num_detection_tokens=5), 32),
    "detr": ("DetrForObjectDetection", "DetrConfig", dict(d_model=32, encoder_layers=1, decoder_layers=1, encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=48, decoder_ffn_dim=48, num_queries=5, use_timm_backbone=False, use_pretrained_backbone=False, backbone=None,
             backbone_config="resnet"), 64),
    "conditional_detr": ("ConditionalDetrForObjectDetection", "ConditionalDetrConfig", dict(d_model=32, encoder_layers=1, decoder_layers=1, encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=48, decoder_ffn_dim=48, num_queries=5, use_timm_backbone=False, backbone=None,
             use_pretrained_backbone=False, backbone_config="resnet"), 64),
    "deformable_detr": ("DeformableDetrForObjectDetection", "DeformableDetrConfig", dict(d_model=32, encoder_layers=1, decoder_layers=1, encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=48, decoder_ffn_dim=48, num_queries=5, use_timm_backbone=False, backbone=None,
             use_pretrained_backbone=False, backbone_config="resnet3", num_feature_levels=3), 64),
    "rt_detr": ("RTDetrForObjectDetection", "RTDetrConfig", dict(d_model=32, encoder_hidden_dim=32, encoder_layers=1, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=48, decoder_ffn_dim=48, num_queries=8, num_feature_levels=3, encoder_in_channels=[16, 24, 32], feat_strides=[8, 16, 32], decoder_in_channels=[32, 32, 32],
             use_timm_backbone=False, backbone=None, use_pretrained_backbone=False, backbone_config="rtresnet", num_denoising=0), 64),
    "upernet": ("UperNetForSemanticSegmentation", "UperNetConfig", dict(hidden_size=16, pool_scales=[1, 2, 3, 6], backbone_config="convnext", use_auxiliary_head=False), 64),
    "vit_msn": ("ViTMSNModel", "ViTMSNConfig", VIT, 32),
    "hiera": ("HieraModel", "HieraConfig", dict(image_size=[64, 64], embed_dim=8, depths=[1, 1, 2, 1], num_heads=[1, 1, 2, 4]), 64),
    "superpoint": ("SuperPointForKeypointDetection", "SuperPointConfig", dict(encoder_hidden_sizes=[8, 8, 16, 16], decoder_hidden_size=16, keypoint_decoder_dim=65, descriptor_decoder_dim=16), 32),
    "vit_eager": ("ViTModel", "ViTConfig", dict(VIT, attn_implementation="eager"), 32),
    "sam_vision": ("SamVisionModel", "SamVisionConfig", dict(VIT, output_channels=16, num_pos_feats=8, mlp_dim=48, window_size=2, global_attn_indexes=[1]), 32),
    "clip_vision": ("CLIPVisionModelWithProjection", "CLIPVisionConfig", dict(VIT, projection_dim=16), 32),
    "siglip_vision": ("SiglipVisionModel", "SiglipVisionConfig", VIT, 32),
}

WAVES = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48, vocab_size=40, conv_dim=[16, 16, 16], conv_stride=[5, 4, 2], conv_kernel=[10, 4, 2],
             num_conv_pos_embeddings=16, num_conv_pos_embedding_groups=2)
SOUNDS = {
    "wav2vec2": ("Wav2Vec2ForCTC", "Wav2Vec2Config", WAVES),
    "wav2vec2_stable": ("Wav2Vec2Model", "Wav2Vec2Config", dict(WAVES, feat_extract_norm="layer", do_stable_layer_norm=True)),
    "wav2vec2_conformer": ("Wav2Vec2ConformerModel", "Wav2Vec2ConformerConfig", WAVES),
    "hubert": ("HubertForCTC", "HubertConfig", WAVES),
    "wavlm": ("WavLMModel", "WavLMConfig", WAVES),
    "unispeech": ("UniSpeechModel", "UniSpeechConfig", WAVES),
    "sew": ("SEWModel", "SEWConfig", dict(WAVES, squeeze_factor=2)),
    "data2vec_audio": ("Data2VecAudioModel", "Data2VecAudioConfig", WAVES),
}

BACKBONES = {
    "resnet": lambda: H.ResNetConfig(hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 1, 1], embedding_size=8, out_features=["stage4"]),
    "resnet3": lambda: H.ResNetConfig(hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 1, 1], embedding_size=8, out_features=["stage2", "stage3", "stage4"]),
    "rtresnet": lambda: H.RTDetrResNetConfig(hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 1, 1], embedding_size=8, layer_type="basic", out_features=["stage2", "stage3", "stage4"]),
    "convnext": lambda: H.ConvNextConfig(hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 1, 1], out_features=["stage1", "stage2", "stage3", "stage4"]),
}


def build(name, config, options, **more):
    options = dict(options, **more)
    if isinstance(options.get("backbone_config"), str):
        options["backbone_config"] = BACKBONES[options["backbone_config"]]()
        options.pop("backbone", None)
    implementation = options.pop("attn_implementation", None)
    config = getattr(H, config)(**options)
    if implementation:
        config._attn_implementation = implementation
    model = getattr(H, name)(config).eval()
    if name.startswith("RTDetr"):  # or all scores are the same
        for p in model.parameters():
            p.data.mul_(8 if p.dim() == 2 else 1)
    return model


class Cached(torch.nn.Module):
    """A step of a decoder: keys and values in, logits, keys and values out."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, input_ids, attention_mask, past):
        cache = H.DynamicCache()
        for i, (k, v) in enumerate(past):
            cache.update(k, v, i)
        out = self.model(input_ids=input_ids, attention_mask=attention_mask, past_key_values=cache, use_cache=True)
        new = out.past_key_values
        return out.logits, tuple((layer.keys, layer.values) for layer in new.layers)


def step(b, past, heads, size=8, layers=2):
    g = torch.Generator().manual_seed(b + past)
    pair = lambda: (torch.randn(b, heads, past, size, generator=g), torch.randn(b, heads, past, size, generator=g))
    mask = torch.ones(b, past + 1, dtype=torch.int64)
    mask[0, :1] = 0
    return (torch.randint(3, 99, (b, 1), generator=g), mask, tuple(pair() for _ in range(layers)))


def text_cases(case):
    for n, (model, config, options) in ENCODERS.items():
        make = lambda m=model, c=config, o=options: build(m, c, o)
        size = (2, 12, 3, 12) if n in ("longformer", "nystromformer") else (2, 12, 3, 17)
        case("transformers", n, make, lambda s=size: ids(*s[:2]), ways="te", more=lambda s=size: ids(*s[2:]))
        if n in ("bert", "distilbert", "roberta", "t5_encoder", "xlnet"):
            case("transformers", n + "_no_mask", make, lambda: ids(2, 12, False), ways="te", more=lambda: ids(3, 17, False))
        if n == "bert":
            case("transformers", n + "_dict", lambda m=model, c=config, o=options: build(m, c, o), lambda: ids(2, 12, token_type_ids=torch.ones(2, 12, dtype=torch.int64)), ways="ed",
                 more=lambda: ids(3, 17, token_type_ids=torch.zeros(3, 17, dtype=torch.int64)))
    for n, (model, config, options) in DECODERS.items():
        make = lambda m=model, c=config, o=options: build(m, c, o, use_cache=False)
        case("transformers", n, make, lambda: ids(2, 8), ways="te", more=lambda: ids(3, 11))
        if n in ("llama", "gpt2", "bloom", "opt"):
            case("transformers", n + "_no_mask", make, lambda: ids(2, 8, False), ways="te", more=lambda: ids(3, 11, False))
            case("transformers", n + "_left", make, lambda: ids(2, 8, "left"), ways="te", more=lambda: ids(3, 11, "left"))
        if n in ("llama", "qwen2", "gemma", "mistral", "gpt2", "opt", "gpt_neox", "phi", "qwen3", "gemma2", "gemma3"):
            heads = options.get("num_key_value_heads", 4)
            cached = lambda m=model, c=config, o=options: Cached(build(m, c, o, use_cache=True))
            case("transformers", n + "_past", cached, lambda h=heads: step(2, 5, h), ways="te", more=lambda h=heads: step(3, 9, h))
        if n in ("llama", "gpt2"):
            case("transformers", n + "_cache_out", lambda m=model, c=config, o=options: build(m, c, o, use_cache=True), lambda: ids(2, 8), ways="e", more=lambda: ids(3, 11))
    for n, (model, config, options) in SEQ2SEQ.items():
        make = lambda m=model, c=config, o=options: build(m, c, o, use_cache=False)
        case("transformers", n, make, lambda: ids(2, 8, decoder_input_ids=torch.randint(3, 99, (2, 6))), ways="te", more=lambda: ids(3, 8 if n == "led" else 11, decoder_input_ids=torch.randint(3, 99, (3, 7))))


def image_cases(case):
    for n, (model, config, options, size) in IMAGES.items():
        make = lambda m=model, c=config, o=options: build(m, c, o)
        pixels = lambda b, s=size,: {"pixel_values": torch.rand(b, 3, s, s)}
        case("transformers", n, make, lambda p=pixels: p(2), ways="te", more=lambda p=pixels: p(3))


def sound_cases(case):
    for n, (model, config, options) in SOUNDS.items():
        make = lambda m=model, c=config, o=options: build(m, c, o)
        case("transformers", n, make, lambda: {"input_values": torch.randn(2, 800)}, ways="te", more=lambda: {"input_values": torch.randn(3, 1000)})
    whisper = dict(ENCDEC, num_mel_bins=16, max_source_positions=20, max_target_positions=24, **ENDS, decoder_start_token_id=3, suppress_tokens=None, begin_suppress_tokens=None)
    whisper.pop("max_position_embeddings")
    case("transformers", "whisper", lambda: build("WhisperForConditionalGeneration", "WhisperConfig", whisper, use_cache=False),
         lambda: {"input_features": torch.randn(2, 16, 40), "decoder_input_ids": torch.randint(3, 99, (2, 5))}, ways="te",
         more=lambda: {"input_features": torch.randn(3, 16, 40), "decoder_input_ids": torch.randint(3, 99, (3, 7))})
    case("transformers", "whisper_encoder", lambda: build("WhisperModel", "WhisperConfig", whisper).encoder, lambda: (torch.randn(2, 16, 40),), ways="te", more=lambda: (torch.randn(3, 16, 40),))
    case("transformers", "ast", lambda: build("ASTModel", "ASTConfig", dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48, patch_size=4, max_length=24, num_mel_bins=16, frequency_stride=4, time_stride=4)),
         lambda: {"input_values": torch.randn(2, 24, 16)}, ways="te", more=lambda: {"input_values": torch.randn(3, 24, 16)})
    case("transformers", "speech_to_text", lambda: build("Speech2TextModel", "Speech2TextConfig", dict(ENCDEC, num_conv_layers=2, conv_channels=16, input_feat_per_channel=8, max_source_positions=64, max_target_positions=24), use_cache=False),
         lambda: {"input_features": torch.randn(2, 24, 8), "decoder_input_ids": torch.randint(3, 99, (2, 5))}, ways="te", more=lambda: {"input_features": torch.randn(3, 32, 8), "decoder_input_ids": torch.randint(3, 99, (3, 7))})
    case("transformers", "encodec", lambda: build("EncodecModel", "EncodecConfig", dict(num_filters=4, hidden_size=16, codebook_size=16, codebook_dim=16, upsampling_ratios=[4, 2], num_residual_layers=1, num_lstm_layers=1)),
         lambda: {"input_values": torch.randn(2, 1, 320)}, ways="te")
    case("transformers", "hifigan", lambda: build("SpeechT5HifiGan", "SpeechT5HifiGanConfig", dict(model_in_dim=8, upsample_initial_channel=16, upsample_rates=[2, 2], upsample_kernel_sizes=[4, 4], resblock_kernel_sizes=[3], resblock_dilation_sizes=[[1, 3]])),
         lambda: (torch.randn(2, 12, 8),), ways="te", more=lambda: (torch.randn(2, 17, 8),))
    case("transformers", "encodec_encoder", lambda: build("EncodecModel", "EncodecConfig", dict(num_filters=4, hidden_size=16, codebook_size=16, codebook_dim=16, upsampling_ratios=[4, 2], num_residual_layers=1, num_lstm_layers=1)).encoder,
         lambda: (torch.randn(2, 1, 320),), ways="te", more=lambda: (torch.randn(3, 1, 480),))


def mixed_cases(case):
    text = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48, vocab_size=99, max_position_embeddings=64)
    both = lambda b, s: dict(ids(b, s), pixel_values=torch.rand(b, 3, 32, 32))
    for n, model, config, options in (
        ("clip", "CLIPModel", "CLIPConfig", dict(text_config=dict(text, eos_token_id=98), vision_config=VIT, projection_dim=16)),
        ("siglip", "SiglipModel", "SiglipConfig", dict(text_config=text, vision_config=VIT)),
        ("siglip2", "Siglip2TextModel", "Siglip2TextConfig", text),
        ("chinese_clip", "ChineseCLIPModel", "ChineseCLIPConfig", dict(text_config=text, vision_config=VIT, projection_dim=16)),
        ("blip", "BlipForImageTextRetrieval", "BlipConfig", dict(text_config=dict(text, encoder_hidden_size=32), vision_config=VIT, projection_dim=16, image_text_hidden_size=16)),
        ("vilt", "ViltModel", "ViltConfig", dict(text, image_size=32, patch_size=8)),
        ("owlvit", "OwlViTModel", "OwlViTConfig", dict(text_config=dict(text, max_position_embeddings=16), vision_config=VIT, projection_dim=16)),
    ):
        inputs = (lambda b, s: ids(b, s)) if n == "siglip2" else both
        case("transformers", n, lambda m=model, c=config, o=options: build(m, c, o), lambda i=inputs: i(2, 12), ways="te", more=lambda i=inputs: i(3, 12))
    sam = dict(vision_config=dict(VIT, output_channels=16, num_pos_feats=8, mlp_dim=48, window_size=2, global_attn_indexes=[1]), prompt_encoder_config=dict(hidden_size=16, image_size=32, patch_size=8, mask_input_channels=4),
               mask_decoder_config=dict(hidden_size=16, mlp_dim=24, num_hidden_layers=2, num_attention_heads=2, iou_head_hidden_dim=16))
    case("transformers", "sam", lambda: build("SamModel", "SamConfig", sam), lambda: {"pixel_values": torch.rand(2, 3, 32, 32), "input_points": torch.rand(2, 1, 2, 2) * 32, "input_labels": torch.ones(2, 1, 2, dtype=torch.int64)}, ways="te",
         more=lambda: {"pixel_values": torch.rand(3, 3, 32, 32), "input_points": torch.rand(3, 1, 2, 2) * 32, "input_labels": torch.ones(3, 1, 2, dtype=torch.int64)})
    llava = dict(vision_config=dict(VIT, model_type="clip_vision_model"), text_config=dict(KV, model_type="llama"), image_token_index=98, image_seq_length=16)
    tokens = torch.cat([torch.full((1, 16), 98), torch.arange(5, 12)[None]], 1)
    case("transformers", "llava", lambda: build("LlavaForConditionalGeneration", "LlavaConfig", llava, use_cache=False), lambda: {"input_ids": tokens, "pixel_values": torch.rand(1, 3, 32, 32)}, ways="te")
    trocr = lambda: H.VisionEncoderDecoderModel(encoder=build("ViTModel", "ViTConfig", VIT), decoder=build("TrOCRForCausalLM", "TrOCRConfig", dict(d_model=32, decoder_layers=2, decoder_attention_heads=4, decoder_ffn_dim=48, vocab_size=99, max_position_embeddings=64, cross_attention_hidden_size=32, use_cache=False)))
    case("transformers", "trocr", trocr, lambda: {"pixel_values": torch.rand(2, 3, 32, 32), "decoder_input_ids": torch.randint(3, 99, (2, 5))}, ways="te", more=lambda: {"pixel_values": torch.rand(3, 3, 32, 32), "decoder_input_ids": torch.randint(3, 99, (3, 7))})
    static(case)
    case("transformers", "patchtst", lambda: build("PatchTSTForPrediction", "PatchTSTConfig", dict(num_input_channels=2, context_length=32, patch_length=8, patch_stride=8, prediction_length=4, d_model=16, num_hidden_layers=2, num_attention_heads=2, ffn_dim=24, scaling="std", loss="mse")),
         lambda: {"past_values": torch.randn(2, 32, 2)}, ways="te", more=lambda: {"past_values": torch.randn(3, 32, 2)})
    case("transformers", "patchtsmixer", lambda: build("PatchTSMixerForPrediction", "PatchTSMixerConfig", dict(num_input_channels=2, context_length=32, patch_length=8, patch_stride=8, prediction_length=4, d_model=8, num_layers=2, loss="mse")),
         lambda: {"past_values": torch.randn(2, 32, 2)}, ways="te", more=lambda: {"past_values": torch.randn(3, 32, 2)})
    case("transformers", "decision", lambda: build("DecisionTransformerModel", "DecisionTransformerConfig", dict(state_dim=3, act_dim=2, hidden_size=32, n_layer=2, n_head=4, max_ep_len=50)),
         lambda: {"states": torch.randn(2, 5, 3), "actions": torch.randn(2, 5, 2), "rewards": torch.randn(2, 5, 1), "returns_to_go": torch.randn(2, 5, 1), "timesteps": torch.arange(5).expand(2, 5).contiguous(), "attention_mask": torch.ones(2, 5)}, ways="te",
         more=lambda: {"states": torch.randn(3, 7, 3), "actions": torch.randn(3, 7, 2), "rewards": torch.randn(3, 7, 1), "returns_to_go": torch.randn(3, 7, 1), "timesteps": torch.arange(7).expand(3, 7).contiguous(), "attention_mask": torch.ones(3, 7)})


def static(case):
    """Decoders with a cache of a fixed size, which is their state: one step."""
    def make(model, config, options):
        from transformers.integrations.executorch import TorchExportableModuleWithStaticCache as Exportable

        m = build(model, config, dict(options, attn_implementation="sdpa"), use_cache=True)
        m.generation_config = H.GenerationConfig(use_cache=True, cache_implementation="static", max_length=32, cache_config={"batch_size": 1, "max_cache_len": 32})
        try:
            return Exportable(m, batch_size=1, max_cache_len=32, device="cpu")
        except TypeError:
            return Exportable(m)

    for n in ("llama", "qwen2", "gemma", "gpt2"):
        model, config, options = DECODERS[n]
        case("transformers", n + "_static", lambda m=model, c=config, o=options: make(m, c, o), lambda: {"input_ids": torch.tensor([[7]]), "cache_position": torch.tensor([0])}, ways="e",
             steps=lambda: [{"input_ids": torch.tensor([[7 + i]]), "cache_position": torch.tensor([i])} for i in range(4)])


def add(case):
    text_cases(case)
    image_cases(case)
    sound_cases(case)
    mixed_cases(case)
