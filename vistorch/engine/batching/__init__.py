"""Arrays with batch dims that nobody sees, and what each row does with them: what `func.vmap` runs on.

Invariant: outside a call of `vmap` nothing here is asked; an op finds out by the place of its tensors.
"""
