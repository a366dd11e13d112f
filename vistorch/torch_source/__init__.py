"""The real PyTorch under the same pages: graphs, passes and values of a program that runs on torch.

This package is loaded when something of the real torch is first asked about, never before, and never loads torch
itself. What is private in torch stands in `private.py` alone.

| file | what it holds |
|---|---|
| `real.py` | torch itself, which versions are supported, the rule for the alias |
| `private.py` | every name of torch that is not public |
| `values.py` | a tensor as an array: dtypes, layouts, what has no values |
| `nodes.py` | how nodes are read, and the order in which a pass runs them |
| `notes.py`, `listening.py` | the line and the module of each node, and when they are noted |
| `arguments.py`, `rows.py` | what a node's inputs are called, and our row for it |
| `graph.py`, `forward.py` | a graph as a record; what forward computed |
| `tracing.py` | the first bad value of what runs |
| `recording.py` | every value of a run, to be compared with another |
| `watching.py`, `losses.py` | a training loop as it runs; what its losses compare |
| `memory.py` | what nodes keep for backward, over time |
| `stepper.py`, `replayed.py` | a pass walked both ways; one that torch ran, stepped through afterwards |
| `threads.py` | threads that begin while something looks |
| `passes.py`, `norms.py` | passes as they begin; norms of what flowed |
| `check.py` | a node against finite differences and against our own row |

Invariant: nothing of a program's graph, gradients or modes is changed by being looked at.
"""

from .source import SOURCE

__all__ = ["SOURCE"]
