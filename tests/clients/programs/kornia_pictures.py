"""Pictures filtered, warped, augmented and compared, with gradients through all of it."""

import kornia as K
import torch
from kornia import augmentation as A
from reporting import report

torch.manual_seed(0)
picture = torch.rand(2, 3, 24, 24, requires_grad=True)
angle = torch.tensor([30.0, -45.0], requires_grad=True)
matrix = K.geometry.transform.get_rotation_matrix2d(torch.tensor([[11.3, 11.3]] * 2), angle, torch.ones(2, 2))
square = torch.tensor([[[0.0, 0.0], [23.0, 0.0], [23.0, 23.0], [0.0, 23.0]]])
for name, do in {
    "blur": lambda x: K.filters.gaussian_blur2d(x, (5, 5), (1.5, 1.5)),
    "median": lambda x: K.filters.median_blur(x, 3),
    "sobel": lambda x: K.filters.sobel(x),
    "laplacian": lambda x: K.filters.laplacian(x, 3),
    "bilateral": lambda x: K.filters.bilateral_blur(x, (3, 3), 0.1, (1.0, 1.0)),
    "canny": lambda x: K.filters.canny(x)[0],
    "unsharp": lambda x: K.filters.unsharp_mask(x, (3, 3), (1.0, 1.0)),
    "hsv": lambda x: K.color.rgb_to_hsv(x),
    "lab": lambda x: K.color.rgb_to_lab(x),
    "gray": lambda x: K.color.rgb_to_grayscale(x),
    "contrast": lambda x: K.enhance.adjust_contrast(x, 0.7),
    "equalize": lambda x: K.enhance.equalize_clahe(x),
    "affine": lambda x: K.geometry.warp_affine(x, matrix, (24, 24)),
    "perspective": lambda x: K.geometry.warp_perspective(
        x, K.geometry.get_perspective_transform(square, square * 0.8 + 1).expand(2, 3, 3), (24, 24)
    ),
    "rotate": lambda x: K.geometry.rotate(x, angle),
    "elastic": lambda x: K.geometry.elastic_transform2d(
        x, torch.zeros(2, 2, 24, 24) + 0.3, (5, 5), (2.0, 2.0)
    ),
    "pyramid": lambda x: K.geometry.pyrdown(x),
    "resize": lambda x: K.geometry.resize(x, 17, antialias=True),
    "dilation": lambda x: K.morphology.dilation(x, torch.ones(3, 3)),
    "harris": lambda x: K.feature.harris_response(x),
    "sift": lambda x: K.feature.SIFTDescriptor(24)(x[:, :1]),
    "dct": lambda x: K.enhance.normalize_min_max(x),
    "histogram": lambda x: K.enhance.histogram(x.flatten(1), torch.linspace(0, 1, 8), torch.tensor(0.1)),
    "ssim": lambda x: K.losses.ssim_loss(x, x.detach().flip(3), 5),
    "total variation": lambda x: K.losses.total_variation(x),
    "focal": lambda x: K.losses.focal_loss(x, torch.zeros(2, 24, 24).long(), 0.5, reduction="mean"),
}.items():
    try:
        out = do(picture)
        report(name, out)
        if out.requires_grad:
            picture.grad = None
            (out * torch.linspace(-1, 2, out.numel()).view_as(out)).sum().backward()
            report(f"{name}: gradient", picture.grad)
    except Exception as error:
        report(name, f"{type(error).__name__}: {error}")
report("angle", angle.grad)

torch.manual_seed(1)
change = A.AugmentationSequential(
    A.RandomHorizontalFlip(p=0.5),
    A.ColorJitter(0.2, 0.2, 0.2, 0.1, p=1.0),
    A.RandomAffine(20.0, translate=(0.1, 0.1), p=1.0),
    A.RandomPerspective(0.2, p=1.0),
    A.RandomErasing(p=0.5),
    A.RandomGaussianBlur((3, 3), (0.1, 2.0), p=0.5),
    data_keys=["input", "mask", "keypoints"],
)
masks, points = (torch.rand(2, 1, 24, 24) > 0.5).float(), torch.rand(2, 4, 2) * 24
report("augmentation", str(change))
for name, value in zip(("picture", "mask", "points"), change(picture.detach(), masks, points)):
    report(f"augmented {name}", value)
report("undone", change.inverse(picture.detach(), masks, points)[2])
a = torch.rand(1, 8, 2)
report("homography", K.geometry.find_homography_dlt(a, a * 2 + 1))
q = K.geometry.Quaternion.from_axis_angle(torch.tensor([[0.1, 0.2, 0.3]]))
report("quaternion", q.matrix())
report("pinhole", K.geometry.project_points(torch.tensor([[0.5, 0.2, 2.0]]), torch.eye(3)[None]))
