"""Autograd functions written by hand, each with its rule for stacks of runs."""
