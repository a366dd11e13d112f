# Made by `make generated` from the tables of vistorch/_lazy.py and vistorch/torch_api/unbuilt.py.
"""Features from inside a network, by a graph of it: named, not built."""

from typing import Any, NoReturn

def create_feature_extractor(*args: Any, **kwargs: Any) -> NoReturn: ...
def get_graph_node_names(*args: Any, **kwargs: Any) -> NoReturn: ...
