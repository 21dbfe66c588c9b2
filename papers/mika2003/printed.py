"""The numbers that the paper prints, apart from ours."""

from __future__ import annotations

# Table 1: per cent of test errors, standard error of that mean, per cent of coefficients that are zero
TABLE1: dict[str, dict[str, tuple[float, float, float]]] = {
    "banana": {
        "SVM": (11.5, 0.07, 78),
        "KFD": (10.8, 0.05, 0),
        "SKFD": (11.2, 0.48, 86),
        "LSKFD": (10.6, 0.04, 92),
    },
    "breast-cancer": {
        "SVM": (26.0, 0.47, 42),
        "KFD": (25.8, 0.46, 0),
        "SKFD": (25.2, 0.44, 88),
        "LSKFD": (25.8, 0.47, 88),
    },
    "diabetis": {
        "SVM": (23.5, 0.17, 57),
        "KFD": (23.2, 0.16, 0),
        "SKFD": (23.1, 0.18, 97),
        "LSKFD": (23.6, 0.18, 97),
    },
    "german": {
        "SVM": (23.6, 0.21, 58),
        "KFD": (23.7, 0.22, 0),
        "SKFD": (23.6, 0.23, 96),
        "LSKFD": (24.1, 0.23, 98),
    },
    "heart": {
        "SVM": (16.0, 0.33, 51),
        "KFD": (16.1, 0.34, 0),
        "SKFD": (16.4, 0.31, 88),
        "LSKFD": (16.0, 0.36, 96),
    },
    "ringnorm": {
        "SVM": (1.7, 0.01, 62),
        "KFD": (1.5, 0.01, 0),
        "SKFD": (1.6, 0.01, 85),
        "LSKFD": (1.5, 0.01, 94),
    },
    "flare-solar": {  # printed as "F.Sonar"
        "SVM": (32.4, 0.18, 9),
        "KFD": (33.2, 0.17, 0),
        "SKFD": (33.4, 0.17, 67),
        "LSKFD": (34.4, 0.23, 99),
    },
    "thyroid": {
        "SVM": (4.8, 0.22, 79),
        "KFD": (4.2, 0.21, 0),
        "SKFD": (4.3, 0.18, 88),
        "LSKFD": (4.7, 0.22, 89),
    },
    "titanic": {
        "SVM": (22.4, 0.10, 10),
        "KFD": (23.2, 0.20, 0),
        "SKFD": (22.6, 0.17, 8),
        "LSKFD": (22.5, 0.20, 95),
    },
    "waveform": {
        "SVM": (9.9, 0.04, 60),
        "KFD": (9.9, 0.04, 0),
        "SKFD": (10.1, 0.04, 81),
        "LSKFD": (10.2, 0.04, 96),
    },
}

# Section 5.1: per cent of the 2,007 test digits
DIGITS = {
    "SVM": 4.2,
    "KFD": 3.7,
    "KFD, invariances": 3.6,
    "KFD, invariances, virtual examples": 3.1,
}
