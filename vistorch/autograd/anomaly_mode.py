"""PyTorch's file of anomaly detection."""

from ..engine.backward.anomaly import detect_anomaly, set_detect_anomaly

__all__ = ["detect_anomaly", "set_detect_anomaly"]
