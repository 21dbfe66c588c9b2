"""C. Dhanjal, S. R. Gunn, J. Shawe-Taylor: Efficient sparse kernel feature extraction based on PLS.

IEEE Transactions on Pattern Analysis and Machine Intelligence 31(8), 2009.
"""

TABLES = ("table3", "table4", "table5")
