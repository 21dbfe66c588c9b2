"""
pandas in, pandas out
=====================

The estimators are transformers of scikit-learn: names of columns go through pipelines, ``set_output``
gives data frames, and the representation of a pipeline in a notebook links to these pages.
"""

import matplotlib.pyplot as plt
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_diabetes
from sklearn.impute import SimpleImputer
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from kernelsieve import SparseMaximalAlignment

data = load_diabetes(as_frame=True, scaled=False)
table = data.data.assign(sex=data.data["sex"].map({1.0: "f", 2.0: "m"}))
table, new, y, y_new = train_test_split(table, data.target, random_state=0)

# %%
# Numbers and categories in, named features out.

numbers = table.columns.drop("sex")
prepare = make_column_transformer(
    (make_pipeline(SimpleImputer(), StandardScaler()), numbers),
    (OneHotEncoder(sparse_output=False), ["sex"]),
)
features = make_pipeline(prepare, SparseMaximalAlignment(12)).set_output(transform="pandas")
print(features.fit_transform(table, y).head(3).round(2))

# %%
# A head on top.

model = make_pipeline(features, RidgeCV())
model.fit(table, y)

# %%
# How well twelve landmarks do, and who they are.

print(f"R2 of new patients: {model.score(new, y_new):.2f}")
chosen = table.iloc[features[-1].landmark_indices_]
print(chosen.head(4).round(1))
figure, panel = plt.subplots(figsize=(7, 4.4), layout="constrained")
panel.scatter(table["bmi"], table["bp"], c=y, s=14, cmap="viridis")
panel.scatter(
    chosen["bmi"], chosen["bp"], s=90, facecolors="none", edgecolors="black", label="landmarks"
)
panel.set(xlabel="body mass index", ylabel="blood pressure")
panel.legend()
plt.show()
