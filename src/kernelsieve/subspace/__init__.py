"""Subspace kernels: orthogonal centroids, KDA/QR, the learned subspace."""
