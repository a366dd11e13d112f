"""What PyTorch programs import and vistorch itself hardly needs.

A file `x.py` here is the module `vistorch.x` (`vistorch/_lazy.py` says which are), so it imports the rest of the
package by absolute names: relative ones would count from `vistorch`. `vistorch.torch_api.x` is the same module.

Invariant: `import vistorch` loads nothing of this folder.
"""
