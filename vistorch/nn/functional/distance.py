"""How near two vectors are."""

from ...engine.core.registry import FUNCTIONS

__all__ = ["cosine_similarity", "pairwise_distance", "pdist"]

cosine_similarity = FUNCTIONS["cosine_similarity"]
pairwise_distance = FUNCTIONS["pairwise_distance"]
pdist = FUNCTIONS["pdist"]
