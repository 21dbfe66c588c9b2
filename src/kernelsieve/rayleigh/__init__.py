"""Rayleigh coefficients in kernel space: Fisher discriminants, oriented kernel PCA, invariances."""
