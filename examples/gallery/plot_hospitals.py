"""
Parts from three hospitals
==========================

Records may not leave a hospital, but sums of products may. ``prepare`` settles kernel and candidates,
``statistic`` sums up records where they are, ``merge`` adds the parts, and ``finish`` fits. The
result is the model of all records together.
"""

import tempfile

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler
from sklearn.utils import shuffle

from kernelsieve import KernelPLSClassifier, StatisticPart, StatisticPlan

data = load_breast_cancer()
X, y = shuffle(
    StandardScaler().fit_transform(data.data), data.target_names[data.target], random_state=0
)
public, X_test, y_test = X[:40], X[400:], y[400:]
hospitals = {"A": slice(40, 200), "B": slice(200, 350), "C": slice(350, 400)}

# %%
# Candidates are public records: a model holds candidates, so nobody's record is shown. The plan is a
# small file.

model = KernelPLSClassifier(8, gamma="median", candidates=public)
plan = model.prepare(public, y[:40])
folder = tempfile.TemporaryDirectory()
plan.save(f"{folder.name}/plan")

# %%
# In each hospital. What is sent has the size of the candidates squared, whatever the number of
# records.

for name, records in hospitals.items():
    part = StatisticPlan.load(f"{folder.name}/plan").statistic(X[records], y[records])
    part.save(f"{folder.name}/part-{name}")
    print(f"hospital {name}: {len(X[records])} records summed up")

# %%
# And here: merge what came, and fit.

parts = {name: StatisticPart.load(f"{folder.name}/part-{name}") for name in hospitals}
merged = parts["A"].merge(parts["B"]).merge(parts["C"])
model.finish(plan, merged)
folder.cleanup()

together = KernelPLSClassifier(8, gamma=model.gamma_, candidates=public).fit(X[40:400], y[40:400])
same = np.allclose(model.decision_function(X_test), together.decision_function(X_test), atol=1e-6)
print("the model of all records in one place:", same)

# %%
# What it is worth to each of them. A hospital may also take its records back: ``subtract`` removes
# them.

without = merged.subtract(parts["C"])
errors = {}
for name, part in {**parts, "all": merged, "all but C": without}.items():
    finished = KernelPLSClassifier(8, gamma="median", candidates=public).finish(plan, part)
    errors[name] = 1 - finished.score(X_test, y_test)
    print(f"{name:<10} error on new patients {errors[name]:.3f}")

figure, panel = plt.subplots(figsize=(7, 3.6), layout="constrained")
panel.bar(list(errors), list(errors.values()), color=["0.6"] * 3 + ["#0072B2", "#56B4E9"])
panel.set(xlabel="records of hospital", ylabel="error rate on new patients")
plt.show()
