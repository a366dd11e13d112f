"""Airy's function to the last digits, where PyTorch has fewer."""

import numpy as np

from vistorch.engine.kernels.airy import airy_ai

# by arithmetic of 30 digits
EXACT = {
    -500.0: 0.07259012010404114,
    -20.0: -0.1764061270779847,
    -9.0: -0.022133721547341403,
    -3.01: -0.3819030899627158,
    -3.0: -0.37881429367765806,
    -1.0: 0.5355608832923521,
    0.0: 0.3550280538878172,
    2.0: 0.03492413042327438,
    2.99: 0.006711262668201689,
    3.01: 0.006472993418105543,
    6.0: 9.947694360252889e-06,
    25.0: 8.116026824691387e-38,
    100.0: 2.6344821520881846e-291,
}


def test_digits():
    np.testing.assert_allclose(airy_ai(np, np.array(list(EXACT))), list(EXACT.values()), rtol=1e-12)
