"""The numbers that the paper prints, apart from ours."""

from __future__ import annotations

SIZES = (500, 1000, 1500, 2000, 2500, 3000, 3500)

# Table 1: seconds, by number of points
SECONDS = {
    "KPCA": (4.69, 42.68, 138.31, 352.28, 621.65, 1184.8, 1668.2),
    "ACKFA": (0.08, 0.46, 0.95, 1.94, 2.78, 4.35, 5.69),
    "AKFA": (0.21, 0.95, 1.98, 3.80, 5.69, 10.34, 11.31),
    "SKFA": (16.82, 67.57, 152.02, 269.91, 420.33, 643.07, 890.25),
}
# section 5.1: slopes of log10(seconds) against log10(points)
EXPONENTS = {"KPCA": 3.03, "ACKFA": 2.01, "AKFA": 2.00, "SKFA": 2.05}

# Table 2: mean squared reconstruction error in feature space
ERRORS = {
    "KPCA": (0.0525, 0.0584, 0.0553, 0.0567, 0.0564, 0.0569, 0.0553),
    "ACKFA": (0.0950, 0.0996, 0.0849, 0.0866, 0.0837, 0.0853, 0.0825),
    "AKFA": (0.0702, 0.0789, 0.0773, 0.0763, 0.0772, 0.0781, 0.0743),
    "SKFA": (0.1193, 0.1305, 0.1201, 0.1307, 0.1433, 0.1328, 0.1309),
}

# Section 5.2: AKFA with 20 features of 1,000 points
ERROR_WITHOUT_CUTOFF = 0.025

# Table 3: per cent of 165 faces, by width of the kernel
WIDTHS = (14, 20, 24, 34)
ACCURACIES = {
    "KPCA": (76.36, 75.76, 76.36, 75.15),
    "ACKFA": (72.12, 76.36, 75.15, 64.24),
    "AKFA": (72.12, 75.15, 76.97, 75.76),
    "SKFA": (68.48, 74.55, 76.36, 73.33),
}
FACE_SECONDS = {"KPCA": 0.185, "ACKFA": 0.085, "AKFA": 0.135, "SKFA": 15.705}
LINEAR_ACCURACY = 60.61  # section 5.5: linear PCA, 50 features, 5 neighbours

# Table 4: of the faces of person i (row), how many were taken for person j (column); the diagonal
CORRECT = (10, 9, 7, 9, 9, 9, 9, 6, 8, 8, 10, 7, 9, 9, 8)
TAKEN_FOR_THE_FIRST = 24  # faces of others
