# Made by `make generated` from the tables of vistorch/_lazy.py and vistorch/torch_api/unbuilt.py.
"""PyTorch's older name of `hub.load_state_dict_from_url`; vistorch fetches nothing."""

from typing import Any, NoReturn

def load_url(*args: Any, **kwargs: Any) -> NoReturn: ...
