"""
Parquet files larger than memory
================================

``fit`` takes a ``pyarrow.dataset`` and reads it a batch at a time. Of named columns one is the
target. The files may have any size; here they are small, so that the example is quick.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas
import pyarrow
import pyarrow.dataset
import pyarrow.parquet
from sklearn.linear_model import Ridge

from kernelsieve import SparseMaximalAlignment
from kernelsieve.datasets import make_interactions

folder = tempfile.TemporaryDirectory()
names = [f"sensor_{i}" for i in range(6)]
(Path(folder.name) / "rows").mkdir()
for part in range(6):
    X, y = make_interactions(3_000, 6, random_state=part)
    columns = {name: X[:, i] for i, name in enumerate(names)} | {"yield": y}
    pyarrow.parquet.write_table(pyarrow.table(columns), f"{folder.name}/rows/part-{part}.parquet")
rows = pyarrow.dataset.dataset(f"{folder.name}/rows", format="parquet")
print(f"{rows.count_rows():,} rows in {len(rows.files)} files")

# %%
# The pool of candidates is screened on samples drawn from all files. Then there are two passes: one for
# all candidates, and one, which is shorter, for the chosen landmarks.

sieve = SparseMaximalAlignment(60, random_state=0).fit(rows, "yield")
print(f"inputs: {', '.join(sieve.feature_names_in_)}")

# %%
# ``transform_to`` writes the features of any number of rows, a block at a time. A head is fitted to
# those.

sieve.transform_to(rows, f"{folder.name}/features.parquet")
features = pyarrow.parquet.read_table(f"{folder.name}/features.parquet").to_pandas().to_numpy()
target = rows.to_table(columns=["yield"])["yield"].to_numpy()
head = Ridge(1e-3).fit(features, target)

X_new, y_new = make_interactions(2_000, 6, random_state=99)
predicted = head.predict(sieve.transform(pandas.DataFrame(X_new, columns=names)))
print(f"R2 of new rows: {1 - np.var(predicted - y_new) / np.var(y_new):.3f}")

# %%

figure, panel = plt.subplots(figsize=(5, 4.6), layout="constrained")
panel.plot(y_new, predicted, ".", markersize=3, alpha=0.5)
panel.axline((0, 0), slope=1, color="0.5", linewidth=1)
panel.set(xlabel="measured", ylabel="predicted", title="new rows")
plt.show()
folder.cleanup()
