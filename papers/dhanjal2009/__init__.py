"""C. Dhanjal, S. R. Gunn, J. Shawe-Taylor: Efficient sparse kernel feature extraction based on PLS.

IEEE Transactions on Pattern Analysis and Machine Intelligence 31(8), 2009.
"""

TABLES = (
    "table1",
    "fig2",
    "fig3",
    "fig4",
    "table3",
    "table3_pole",
    "table4",
    "table4_sparse",
    "table5",
    "table6",
    "fig6",
)
