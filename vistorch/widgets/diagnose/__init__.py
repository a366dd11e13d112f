"""The view of what is wrong with a training: findings, each with its line and its proof.

Invariant: the picture and the page show the same findings in the same order.
"""
