"""
Parquet files larger than memory
================================

``fit`` takes a ``pyarrow.dataset`` and reads it a batch at a time. Of named columns one is the
target. The files may have any size; here they are small, so that the example is quick.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import pandas
import pyarrow
import pyarrow.dataset
import pyarrow.parquet
from sklearn.linear_model import Ridge

from kernelsieve import ComponentPathCV, SparseMaximalAlignment
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
# The pool of candidates is screened on samples drawn from all files. Then one pass over the files
# gathers what is needed to choose the number of landmarks and the penalty by cross-validation, and to
# fit the final model, head included. At no time are all samples, or their features, in memory.

extractor = SparseMaximalAlignment(60, random_state=0)
search = ComponentPathCV(extractor, Ridge(), param_grid={"head__alpha": [1e-3, 0.1]})
search.fit(rows, "yield")
print(f"inputs: {', '.join(search.feature_names_in_)}")
print(f"{search.reason_} Passes over the files: {search.n_passes_}.")

# %%
# A data frame of new samples is predicted at once. ``transform_to`` writes the features of any number
# of samples to a file, a block at a time.

X_new, y_new = make_interactions(2_000, 6, random_state=99)
new = pandas.DataFrame(X_new, columns=names)
predicted = search.predict(new)
print(f"R2 of new samples: {search.score(new, y_new):.3f}")

search.best_estimator_.extractor.transform_to(rows, f"{folder.name}/features.parquet")
written = pyarrow.parquet.ParquetFile(f"{folder.name}/features.parquet").metadata
print(f"features: {written.num_rows:,} rows, {written.num_columns} columns")

# %%

figure, panel = plt.subplots(figsize=(5, 4.6), layout="constrained")
panel.plot(y_new, predicted, ".", markersize=3, alpha=0.5)
panel.axline((0, 0), slope=1, color="0.5", linewidth=1)
panel.set(xlabel="measured", ylabel="predicted", title="new samples")
plt.show()
folder.cleanup()
