"""Tables and figures of five papers, printed and ours: one folder a paper, one declaration a table.

``python -m papers list`` names them, ``python -m papers run all --quick`` computes them, and
``python -m papers page`` writes ``docs/papers.md``.
"""
