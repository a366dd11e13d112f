"""What is done to the parameters of a network, and packed sequences."""

from . import rnn
