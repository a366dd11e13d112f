"""The files of trained weights that torchvision names: which networks they are for, and what pictures they want.

Invariant: nothing is fetched; a file is read where PyTorch keeps it, in the folder of `hub.get_dir()`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import cache, partial
from typing import Any

from ... import hub
from ...serialization import load
from ..transforms import InterpolationMode
from ..transforms._presets import ImageClassification

__all__ = ["Weights", "WeightsEnum", "get_model_weights", "get_weight"]

# The network, the name of its weights (the default with a star), the file, how many parameters, the side that is cut
# out of a picture, its shorter side before that, how it is resized.
FILES = """
AlexNet IMAGENET1K_V1* alexnet-owt-7be5be79.pth 61100840 224 256 bilinear
ConvNeXt_Base IMAGENET1K_V1* convnext_base-6075fbad.pth 88591464 224 232 bilinear
ConvNeXt_Large IMAGENET1K_V1* convnext_large-ea097f82.pth 197767336 224 232 bilinear
ConvNeXt_Small IMAGENET1K_V1* convnext_small-0c510722.pth 50223688 224 230 bilinear
ConvNeXt_Tiny IMAGENET1K_V1* convnext_tiny-983f1562.pth 28589128 224 236 bilinear
DenseNet121 IMAGENET1K_V1* densenet121-a639ec97.pth 7978856 224 256 bilinear
DenseNet161 IMAGENET1K_V1* densenet161-8d451a50.pth 28681000 224 256 bilinear
DenseNet169 IMAGENET1K_V1* densenet169-b2777c0a.pth 14149480 224 256 bilinear
DenseNet201 IMAGENET1K_V1* densenet201-c1103571.pth 20013928 224 256 bilinear
EfficientNet_B0 IMAGENET1K_V1* efficientnet_b0_rwightman-7f5810bc.pth 5288548 224 256 bicubic
EfficientNet_B1 IMAGENET1K_V1 efficientnet_b1_rwightman-bac287d4.pth 7794184 240 256 bicubic
EfficientNet_B1 IMAGENET1K_V2* efficientnet_b1-c27df63c.pth 7794184 240 255 bilinear
EfficientNet_B2 IMAGENET1K_V1* efficientnet_b2_rwightman-c35c1473.pth 9109994 288 288 bicubic
EfficientNet_B3 IMAGENET1K_V1* efficientnet_b3_rwightman-b3899882.pth 12233232 300 320 bicubic
EfficientNet_B4 IMAGENET1K_V1* efficientnet_b4_rwightman-23ab8bcd.pth 19341616 380 384 bicubic
EfficientNet_B5 IMAGENET1K_V1* efficientnet_b5_lukemelas-1a07897c.pth 30389784 456 456 bicubic
EfficientNet_B6 IMAGENET1K_V1* efficientnet_b6_lukemelas-24a108a5.pth 43040704 528 528 bicubic
EfficientNet_B7 IMAGENET1K_V1* efficientnet_b7_lukemelas-c5b4e57e.pth 66347960 600 600 bicubic
EfficientNet_V2_L IMAGENET1K_V1* efficientnet_v2_l-59c71312.pth 118515272 480 480 bicubic
EfficientNet_V2_M IMAGENET1K_V1* efficientnet_v2_m-dc08266a.pth 54139356 480 480 bilinear
EfficientNet_V2_S IMAGENET1K_V1* efficientnet_v2_s-dd5fe13b.pth 21458488 384 384 bilinear
GoogLeNet IMAGENET1K_V1* googlenet-1378be20.pth 6624904 224 256 bilinear
Inception_V3 IMAGENET1K_V1* inception_v3_google-0cc3c7bd.pth 27161264 299 342 bilinear
MNASNet0_5 IMAGENET1K_V1* mnasnet0.5_top1_67.823-3ffadce67e.pth 2218512 224 256 bilinear
MNASNet0_75 IMAGENET1K_V1* mnasnet0_75-7090bc5f.pth 3170208 224 232 bilinear
MNASNet1_0 IMAGENET1K_V1* mnasnet1.0_top1_73.512-f206786ef8.pth 4383312 224 256 bilinear
MNASNet1_3 IMAGENET1K_V1* mnasnet1_3-a4c69d6f.pth 6282256 224 232 bilinear
MaxVit_T IMAGENET1K_V1* maxvit_t-bc5ab103.pth 30919624 224 224 bicubic
MobileNet_V2 IMAGENET1K_V1 mobilenet_v2-b0353104.pth 3504872 224 256 bilinear
MobileNet_V2 IMAGENET1K_V2* mobilenet_v2-7ebf99e0.pth 3504872 224 232 bilinear
MobileNet_V3_Large IMAGENET1K_V1 mobilenet_v3_large-8738ca79.pth 5483032 224 256 bilinear
MobileNet_V3_Large IMAGENET1K_V2* mobilenet_v3_large-5c1a4163.pth 5483032 224 232 bilinear
MobileNet_V3_Small IMAGENET1K_V1* mobilenet_v3_small-047dcff4.pth 2542856 224 256 bilinear
RegNet_X_16GF IMAGENET1K_V1 regnet_x_16gf-2007eb11.pth 54278536 224 256 bilinear
RegNet_X_16GF IMAGENET1K_V2* regnet_x_16gf-ba3796d7.pth 54278536 224 232 bilinear
RegNet_X_1_6GF IMAGENET1K_V1 regnet_x_1_6gf-e3633e7f.pth 9190136 224 256 bilinear
RegNet_X_1_6GF IMAGENET1K_V2* regnet_x_1_6gf-a12f2b72.pth 9190136 224 232 bilinear
RegNet_X_32GF IMAGENET1K_V1 regnet_x_32gf-9d47f8d0.pth 107811560 224 256 bilinear
RegNet_X_32GF IMAGENET1K_V2* regnet_x_32gf-6eb8fdc6.pth 107811560 224 232 bilinear
RegNet_X_3_2GF IMAGENET1K_V1 regnet_x_3_2gf-f342aeae.pth 15296552 224 256 bilinear
RegNet_X_3_2GF IMAGENET1K_V2* regnet_x_3_2gf-7071aa85.pth 15296552 224 232 bilinear
RegNet_X_400MF IMAGENET1K_V1 regnet_x_400mf-adf1edd5.pth 5495976 224 256 bilinear
RegNet_X_400MF IMAGENET1K_V2* regnet_x_400mf-62229a5f.pth 5495976 224 232 bilinear
RegNet_X_800MF IMAGENET1K_V1 regnet_x_800mf-ad17e45c.pth 7259656 224 256 bilinear
RegNet_X_800MF IMAGENET1K_V2* regnet_x_800mf-94a99ebd.pth 7259656 224 232 bilinear
RegNet_X_8GF IMAGENET1K_V1 regnet_x_8gf-03ceed89.pth 39572648 224 256 bilinear
RegNet_X_8GF IMAGENET1K_V2* regnet_x_8gf-2b70d774.pth 39572648 224 232 bilinear
RegNet_Y_128GF IMAGENET1K_SWAG_E2E_V1* regnet_y_128gf_swag-c8ce3e52.pth 644812894 384 384 bicubic
RegNet_Y_128GF IMAGENET1K_SWAG_LINEAR_V1 regnet_y_128gf_lc_swag-cbe8ce12.pth 644812894 224 224 bicubic
RegNet_Y_16GF IMAGENET1K_V1 regnet_y_16gf-9e6ed7dd.pth 83590140 224 256 bilinear
RegNet_Y_16GF IMAGENET1K_V2* regnet_y_16gf-3e4a00f9.pth 83590140 224 232 bilinear
RegNet_Y_16GF IMAGENET1K_SWAG_E2E_V1 regnet_y_16gf_swag-43afe44d.pth 83590140 384 384 bicubic
RegNet_Y_16GF IMAGENET1K_SWAG_LINEAR_V1 regnet_y_16gf_lc_swag-f3ec0043.pth 83590140 224 224 bicubic
RegNet_Y_1_6GF IMAGENET1K_V1 regnet_y_1_6gf-b11a554e.pth 11202430 224 256 bilinear
RegNet_Y_1_6GF IMAGENET1K_V2* regnet_y_1_6gf-0d7bc02a.pth 11202430 224 232 bilinear
RegNet_Y_32GF IMAGENET1K_V1 regnet_y_32gf-4dee3f7a.pth 145046770 224 256 bilinear
RegNet_Y_32GF IMAGENET1K_V2* regnet_y_32gf-8db6d4b5.pth 145046770 224 232 bilinear
RegNet_Y_32GF IMAGENET1K_SWAG_E2E_V1 regnet_y_32gf_swag-04fdfa75.pth 145046770 384 384 bicubic
RegNet_Y_32GF IMAGENET1K_SWAG_LINEAR_V1 regnet_y_32gf_lc_swag-e1583746.pth 145046770 224 224 bicubic
RegNet_Y_3_2GF IMAGENET1K_V1 regnet_y_3_2gf-b5a9779c.pth 19436338 224 256 bilinear
RegNet_Y_3_2GF IMAGENET1K_V2* regnet_y_3_2gf-9180c971.pth 19436338 224 232 bilinear
RegNet_Y_400MF IMAGENET1K_V1 regnet_y_400mf-c65dace8.pth 4344144 224 256 bilinear
RegNet_Y_400MF IMAGENET1K_V2* regnet_y_400mf-e6988f5f.pth 4344144 224 232 bilinear
RegNet_Y_800MF IMAGENET1K_V1 regnet_y_800mf-1b27b58c.pth 6432512 224 256 bilinear
RegNet_Y_800MF IMAGENET1K_V2* regnet_y_800mf-58fc7688.pth 6432512 224 232 bilinear
RegNet_Y_8GF IMAGENET1K_V1 regnet_y_8gf-d0d0e4a8.pth 39381472 224 256 bilinear
RegNet_Y_8GF IMAGENET1K_V2* regnet_y_8gf-dc2b1b54.pth 39381472 224 232 bilinear
ResNeXt101_32X8D IMAGENET1K_V1 resnext101_32x8d-8ba56ff5.pth 88791336 224 256 bilinear
ResNeXt101_32X8D IMAGENET1K_V2* resnext101_32x8d-110c445d.pth 88791336 224 232 bilinear
ResNeXt101_64X4D IMAGENET1K_V1* resnext101_64x4d-173b62eb.pth 83455272 224 232 bilinear
ResNeXt50_32X4D IMAGENET1K_V1 resnext50_32x4d-7cdf4587.pth 25028904 224 256 bilinear
ResNeXt50_32X4D IMAGENET1K_V2* resnext50_32x4d-1a0047aa.pth 25028904 224 232 bilinear
ResNet101 IMAGENET1K_V1 resnet101-63fe2227.pth 44549160 224 256 bilinear
ResNet101 IMAGENET1K_V2* resnet101-cd907fc2.pth 44549160 224 232 bilinear
ResNet152 IMAGENET1K_V1 resnet152-394f9c45.pth 60192808 224 256 bilinear
ResNet152 IMAGENET1K_V2* resnet152-f82ba261.pth 60192808 224 232 bilinear
ResNet18 IMAGENET1K_V1* resnet18-f37072fd.pth 11689512 224 256 bilinear
ResNet34 IMAGENET1K_V1* resnet34-b627a593.pth 21797672 224 256 bilinear
ResNet50 IMAGENET1K_V1 resnet50-0676ba61.pth 25557032 224 256 bilinear
ResNet50 IMAGENET1K_V2* resnet50-11ad3fa6.pth 25557032 224 232 bilinear
ShuffleNet_V2_X0_5 IMAGENET1K_V1* shufflenetv2_x0.5-f707e7126e.pth 1366792 224 256 bilinear
ShuffleNet_V2_X1_0 IMAGENET1K_V1* shufflenetv2_x1-5666bf0f80.pth 2278604 224 256 bilinear
ShuffleNet_V2_X1_5 IMAGENET1K_V1* shufflenetv2_x1_5-3c479a10.pth 3503624 224 232 bilinear
ShuffleNet_V2_X2_0 IMAGENET1K_V1* shufflenetv2_x2_0-8be3c8ee.pth 7393996 224 232 bilinear
SqueezeNet1_0 IMAGENET1K_V1* squeezenet1_0-b66bff10.pth 1248424 224 256 bilinear
SqueezeNet1_1 IMAGENET1K_V1* squeezenet1_1-b8a52dc0.pth 1235496 224 256 bilinear
Swin_B IMAGENET1K_V1* swin_b-68c6b09e.pth 87768224 224 238 bicubic
Swin_S IMAGENET1K_V1* swin_s-5e29d889.pth 49606258 224 246 bicubic
Swin_T IMAGENET1K_V1* swin_t-704ceda3.pth 28288354 224 232 bicubic
Swin_V2_B IMAGENET1K_V1* swin_v2_b-781e5279.pth 87930848 256 272 bicubic
Swin_V2_S IMAGENET1K_V1* swin_v2_s-637d8ceb.pth 49737442 256 260 bicubic
Swin_V2_T IMAGENET1K_V1* swin_v2_t-b137f0e2.pth 28351570 256 260 bicubic
VGG11_BN IMAGENET1K_V1* vgg11_bn-6002323d.pth 132868840 224 256 bilinear
VGG11 IMAGENET1K_V1* vgg11-8a719046.pth 132863336 224 256 bilinear
VGG13_BN IMAGENET1K_V1* vgg13_bn-abd245e5.pth 133053736 224 256 bilinear
VGG13 IMAGENET1K_V1* vgg13-19584684.pth 133047848 224 256 bilinear
VGG16_BN IMAGENET1K_V1* vgg16_bn-6c64b313.pth 138365992 224 256 bilinear
VGG16 IMAGENET1K_V1* vgg16-397923af.pth 138357544 224 256 bilinear
VGG16 IMAGENET1K_FEATURES vgg16_features-amdegroot-88682ab5.pth 138357544 224 256 bilinear
VGG19_BN IMAGENET1K_V1* vgg19_bn-c79401a0.pth 143678248 224 256 bilinear
VGG19 IMAGENET1K_V1* vgg19-dcbb9e9d.pth 143667240 224 256 bilinear
ViT_B_16 IMAGENET1K_V1* vit_b_16-c867db91.pth 86567656 224 256 bilinear
ViT_B_16 IMAGENET1K_SWAG_E2E_V1 vit_b_16_swag-9ac1b537.pth 86859496 384 384 bicubic
ViT_B_16 IMAGENET1K_SWAG_LINEAR_V1 vit_b_16_lc_swag-4e70ced5.pth 86567656 224 224 bicubic
ViT_B_32 IMAGENET1K_V1* vit_b_32-d86f8d99.pth 88224232 224 256 bilinear
ViT_H_14 IMAGENET1K_SWAG_E2E_V1* vit_h_14_swag-80465313.pth 633470440 518 518 bicubic
ViT_H_14 IMAGENET1K_SWAG_LINEAR_V1 vit_h_14_lc_swag-c1eb923e.pth 632045800 224 224 bicubic
ViT_L_16 IMAGENET1K_V1* vit_l_16-852ce7e3.pth 304326632 224 242 bilinear
ViT_L_16 IMAGENET1K_SWAG_E2E_V1 vit_l_16_swag-4f3808c9.pth 305174504 512 512 bicubic
ViT_L_16 IMAGENET1K_SWAG_LINEAR_V1 vit_l_16_lc_swag-4d563306.pth 304326632 224 224 bicubic
ViT_L_32 IMAGENET1K_V1* vit_l_32-c7638314.pth 306535400 224 256 bilinear
Wide_ResNet101_2 IMAGENET1K_V1 wide_resnet101_2-32ee1156.pth 126886696 224 256 bilinear
Wide_ResNet101_2 IMAGENET1K_V2* wide_resnet101_2-d733dc28.pth 126886696 224 232 bilinear
Wide_ResNet50_2 IMAGENET1K_V1 wide_resnet50_2-95faca4d.pth 68883240 224 256 bilinear
Wide_ResNet50_2 IMAGENET1K_V2* wide_resnet50_2-9ba9bcbe.pth 68883240 224 232 bilinear
"""
# Means and deviations of other pictures than ImageNet's.
OTHER_VALUES = {
    "EfficientNet_V2_L.IMAGENET1K_V1": {"mean": (0.5,) * 3, "std": (0.5,) * 3},
    "VGG16.IMAGENET1K_FEATURES": {"mean": (0.48235, 0.45882, 0.40784), "std": (1 / 255,) * 3},
}


@dataclass
class Weights:
    """A file of weights.

    Args:
        url: the name of the file at the end of the address that torchvision has.
        transforms: makes what prepares a picture for the network.
        meta: `num_params`.

    Example:
        >>> from vistorch.vision.models import ResNet18_Weights
        >>> ResNet18_Weights.DEFAULT.value.meta
        {'num_params': 11689512}
    """

    url: str
    transforms: Callable[..., Any]
    meta: dict[str, Any]


class WeightsEnum(Enum):
    """The files of weights for one network.

    Args:
        value: a `Weights`.

    Example:
        >>> from vistorch.vision.models import ResNet50_Weights
        >>> list(ResNet50_Weights)
        [ResNet50_Weights.IMAGENET1K_V1, ResNet50_Weights.IMAGENET1K_V2]
    """

    @classmethod
    def verify(cls, obj: Any) -> Any:
        """The weights of a name; None for None.

        Args:
            obj: the name, with or without that of the class, or the weights.
        """
        if isinstance(obj, str):
            name = obj.replace(f"{cls.__name__}.", "")
            if name not in cls.__members__:
                raise KeyError(f"{cls.__name__} has no {name}; there are {', '.join(cls.__members__)}")
            return cls[name]
        if obj is not None and not isinstance(obj, cls):
            raise TypeError(
                f"Invalid Weight class provided; expected {cls.__name__} but received {obj.__class__.__name__}."
            )
        return obj

    @property
    def path(self) -> str:
        """Where its file is read."""
        return os.path.join(hub.get_dir(), "checkpoints", self.url)

    def get_state_dict(self, progress: bool = True, check_hash: bool = False, **how: Any) -> dict[str, Any]:
        """Read its file.

        Args:
            progress: taken, and not needed: nothing is fetched.
            check_hash: likewise.
            **how: for `vistorch.load`.
        """
        if not os.path.exists(self.path):
            raise FileNotFoundError(
                f"{self!r} is the file {os.path.basename(self.path)}, and vistorch fetches nothing: put it into "
                f"{os.path.dirname(self.path)}"
            )
        return load(self.path, **how)

    def __repr__(self) -> str:
        return f"{self.__class__.__name__}.{self._name_}"

    @property
    def url(self) -> str:
        """The name of its file: vistorch fetches nothing, and knows no address."""
        return self.value.url

    @property
    def transforms(self) -> Callable[..., Any]:
        """Makes what prepares a picture for the network."""
        return self.value.transforms

    @property
    def meta(self) -> dict[str, Any]:
        """How many parameters, as `num_params`."""
        return self.value.meta


@cache
def enums() -> dict[str, type[WeightsEnum]]:
    """The weights of each network, by their name in small letters, without `_weights`."""
    members: dict[str, dict[str, Weights]] = {}
    for line in FILES.split("\n")[1:-1]:
        network, name, file, count, crop, resize, mode = line.split()
        label = name.rstrip("*")
        prepare = partial(
            ImageClassification,
            crop_size=int(crop),
            resize_size=int(resize),
            interpolation=InterpolationMode(mode),
            **OTHER_VALUES.get(f"{network}.{label}", {}),
        )
        one = members.setdefault(network, {})[label] = Weights(file, prepare, {"num_params": int(count)})
        if name.endswith("*"):
            members[network]["DEFAULT"] = one
    made: Any = {
        network.lower(): WeightsEnum(f"{network}_Weights", rows, module=__name__)  # type: ignore[call-arg,arg-type]
        for network, rows in members.items()
    }
    return made


def of_name(name: str) -> type[WeightsEnum] | None:
    """The class of this name, as "ResNet18_Weights"; None where there is none.

    Args:
        name: its name.
    """
    found = enums().get(name.removesuffix("_Weights").lower())
    return found if found is not None and found.__name__ == name else None


def get_weight(name: str) -> WeightsEnum:
    """The weights of a full name.

    Args:
        name: as "ResNet50_Weights.IMAGENET1K_V1".

    Example:
        >>> from vistorch.vision.models import get_weight
        >>> get_weight("ResNet50_Weights.DEFAULT")
        ResNet50_Weights.IMAGENET1K_V2
    """
    if name.count(".") != 1:
        raise ValueError(f"Invalid weight name provided: '{name}'.")
    kind, label = name.split(".")
    found = of_name(kind)
    if found is None:
        raise ValueError(f"The weight enum '{kind}' for the specific method couldn't be retrieved.")
    return found.verify(label)


def get_model_weights(name: Callable[..., Any] | str) -> type[WeightsEnum]:
    """The weights of a network.

    Args:
        name: the network's name, or the function that builds it.

    Example:
        >>> from vistorch.vision.models import get_model_weights
        >>> get_model_weights("resnet18")
        <enum 'ResNet18_Weights'>
    """
    called = name if isinstance(name, str) else name.__name__
    found = enums().get(called.lower())
    if found is None:
        raise ValueError(f"torchvision offers no weights for {called}.")
    return found
