"""The records of all distributions.

Invariant: `LAWS` names every class of `torch.distributions` but the bases.
"""

from tests.distributions.laws import composed, counts, numbers, positives, vectors

LAWS = [*numbers.LAWS, *positives.LAWS, *counts.LAWS, *vectors.LAWS, *composed.LAWS]
