"""Ranks in the notebook: `%vt ranks` starts them, `%%vt ranks` runs a cell on all of them."""
