"""PyTorch's older name of `hub.load_state_dict_from_url`; vistorch fetches nothing."""

from ..compat.said import unbuilt
from ..hub import _WHY

globals().update(unbuilt("vistorch.utils.model_zoo", _WHY, "load_url"))
