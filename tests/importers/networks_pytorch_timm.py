"""timm's models for networks_pytorch.py: one or two small ones of each of its modules."""

import torch, timm

MODELS = """beit_base_patch16_224:224:depth=2 halonet26t:256 lambda_resnet26t:128 botnet26t_256:256 eca_botnext26ts_256:256 gernet_s:64 repvgg_a0:64 mobileone_s0:64 test_byobnet:64
fastvit_mci0:64 cait_xxs24_224:224:depth=2 coat_lite_tiny:224 coat_tiny:224 convit_tiny:224:depth=2 convmixer_768_32:64 convnext_atto:64
convnextv2_atto:64 convnext_atto_rms:64 cpubone_nano:64 crossvit_9_240:240 csatv2:512 cspdarknet53:64 darknet17:64 cspresnet50:64 cspnext_tiny:64 davit_tiny:64 deepseek_vit_412m:224:depth=2
deit_tiny_distilled_patch16_224:224:depth=2 deit3_small_patch16_224:224:depth=2 densenet121:64 dla34:64 dla46x_c:64 dpn68:64 edgenext_xx_small:64 efficientformer_l1:224
efficientformerv2_s0:224 mnasnet_small:64 test_efficientnet:64 mixnet_s:64 test_efficientnet_evos:64 test_efficientnet_gn:64 tinynet_e:64 efficientnet_lite0:64 efficientvim_m1:224
efficientvit_b0:64 efficientvit_m0:224 eva02_tiny_patch14_224:224:depth=2 vit_pe_core_tiny_patch16_384:384:depth=2 fasternet_t0:64 fastvit_t8:64 focalnet_tiny_srf:64 gcvit_xxtiny:224
ghostnet_050:64 ghostnetv2_100:64 ghostnetv3_050:64 hardcorenas_a:64 hgnet_tiny:64 hgnetv2_b0:64 hiera_tiny_224:224 sam2_hiera_tiny:224 hrnet_w18_small:64 iformer_t:64 inception_next_atto:64 inception_resnet_v2:96 inception_v3:96
inception_v4:96 lcnetv2_small:64 levit_128s:224 levit_conv_128s:224 lowformer_b0:64 mambaout_femto:64 test_mambaout:64 test_maxvit:160 coatnet_pico_rw_224:224 maxxvit_rmlp_nano_rw_256:256 poolformer_s12:64
caformer_s18:64 convformer_s18:64 mixer_s32_224:224 gmlp_ti16_224:224:num_blocks=2 resmlp_12_224:224:num_blocks=2 mobilenetv3_small_050:64 fbnetv3_b:64 lcnet_050:64 mobilenetv4_conv_small_035:64 mobilenetv4_hybrid_medium:64
mobilevit_xxs:64 mobilevitv2_050:64 mvitv2_tiny:224 nasnetalarge:96 nest_tiny:224 nextvit_small:64 test_nfnet:64 nf_regnet_b0:64 pit_ti_224:224 pnasnet5large:96 pvt_v2_b0:64
rdnet_tiny:64 regnetx_002:64 regnety_002:64 regnetv_040:64 repghostnet_050:64 repvit_m1:64 res2net50_14w_8s:64 res2next50:64 resnest14d:64 test_resnet:64 seresnext26d_32x4d:64 ecaresnet26t:64
resnetblur18:64 resnetaa34d:64 skresnet18:64 resnetv2_18:64 resnetv2_50x1_bit:64 rexnet_100:64 selecsls42:64 legacy_seresnet18:64 sequencer2d_s:224 shvit_s1:64 starnet_s050:64 swiftformer_xs:224
swin_tiny_patch4_window7_224:224 swin_s3_tiny_224:224 swinv2_tiny_window8_256:256 swinv2_cr_tiny_ns_224:224 tiny_vit_5m_224:224 tnt_s_legacy_patch16_224:224:depth=2 tresnet_m:64 twins_pcpvt_small:64 twins_svt_small:64 vgg11_bn:64
visformer_tiny:224 test_vit:160 test_vit2:160 test_vit3:160 test_vit4:160 vit_base_patch16_siglip_224:224:depth=2 vit_base_patch16_reg4_gap_256:256:depth=2 vit_tiny_r_s16_p8_224:224:depth=2 test_vit_relpos:160 vit_base_mci_224:224:depth=2
vitamin_small_224:224 volo_d1_224:224 vovnet39a:64 ese_vovnet19b_dw:64 legacy_xception:96 xception41:96 xcit_nano_12_p16_224:224:depth=2 naflexvit_base_patch16_gap:224:depth=2 flexivit_small:240:depth=2"""


def add(case):
    for text in MODELS.split():
        name, size, *rest = text.split(":")
        options = {k: int(v) for k, v in (r.split("=") for r in rest)}
        make = lambda name=name, options=options: timm.create_model(name, pretrained=False, num_classes=10, **options)
        size = int(size)
        image = lambda n, size=size: (torch.randn(n, 3, size, size),)
        case("timm", name, make, lambda i=image: i(2), ways="te", more=lambda i=image: i(3))
