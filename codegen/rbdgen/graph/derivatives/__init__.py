"""Derivatives of a graph as other graphs, by reverse and forward differentiation.

Griewank and Walther, Evaluating Derivatives, 2008, chapters 2 and 3.
"""
