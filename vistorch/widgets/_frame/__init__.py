"""What all views share: the way of a record to the screen, the drawing of text and signs, the parts of a command.

Invariant: nothing here knows one kind of view from another, and nothing here imports one.
"""
