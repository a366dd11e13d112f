"""Writing what a training run does for TensorBoard, by the package tensorboard itself."""

from .writer import FileWriter, SummaryWriter

__all__ = ["FileWriter", "SummaryWriter"]
