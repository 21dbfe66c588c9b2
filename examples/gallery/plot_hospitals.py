"""
Parts from three hospitals
==========================

Records may not leave a hospital, but sums over many of them may. ``prepare`` makes a plan with the
kernel and the candidates, ``statistic`` sums up the records of a hospital, ``merge`` adds the sums of
all hospitals, and ``finish`` fits. The result is the model that a fit to all records would give.
"""

import tempfile

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler
from sklearn.utils import shuffle

from kernelsieve import KernelPLSClassifier, StatisticPart, StatisticPlan

data = load_breast_cancer()
X, y = shuffle(data.data, data.target_names[data.target], random_state=0)
hospitals = {"A": slice(40, 200), "B": slice(200, 350), "C": slice(350, 400)}

# %%
# The first 40 records are public, and everything that must be the same in all hospitals comes from
# them. A model contains its candidates as they are, so only public records are candidates. The
# scaler is fitted to public records, too, and every hospital scales its own records by it. The plan
# is a small file.

scaler = StandardScaler().fit(X[:40])
public = scaler.transform(X[:40])
model = KernelPLSClassifier(5, gamma="median", candidates=public)
plan = model.prepare(public, y[:40])
folder = tempfile.TemporaryDirectory()
plan.save(f"{folder.name}/plan")

# %%
# This happens in each hospital. The size of the file that it sends depends on the number of
# candidates, not on the number of records. Sums over few records would say much about each of them:
# with real patients, sum up many more records than there are candidates.

for name, records in hospitals.items():
    here = scaler.transform(X[records])
    part = StatisticPlan.load(f"{folder.name}/plan").statistic(here, y[records])
    part.save(f"{folder.name}/part-{name}")
    print(f"hospital {name}: {len(here)} records summed up")

# %%
# Where the files arrive, they are merged, and the model is fitted. A fit to all records in one place
# gives the same model.

parts = {name: StatisticPart.load(f"{folder.name}/part-{name}") for name in hospitals}
merged = parts["A"].merge(parts["B"]).merge(parts["C"])
model.finish(plan, merged)
folder.cleanup()

together = KernelPLSClassifier(5, gamma=model.gamma_, candidates=public)
together.fit(scaler.transform(X[40:400]), y[40:400])
X_test, y_test = scaler.transform(X[400:]), y[400:]
same = np.allclose(model.decision_function(X_test), together.decision_function(X_test), atol=1e-6)
print("the same model as from all records in one place:", same)

# %%
# The errors of models from the records of one hospital, and of all. Hospital C, which has the fewest
# records, gains most; a difference of one or two patients of the test set is chance. A hospital may
# also withdraw its records: ``subtract`` removes them from the sums.

without = merged.subtract(parts["C"])
errors = {}
for name, part in {**parts, "all": merged, "all but C": without}.items():
    finished = KernelPLSClassifier(5, gamma="median", candidates=public).finish(plan, part)
    errors[name] = 1 - finished.score(X_test, y_test)
    print(f"{name:<10} error on new patients {errors[name]:.3f}")

figure, panel = plt.subplots(figsize=(7, 3.6), layout="constrained")
panel.bar(list(errors), list(errors.values()), color=["0.6"] * 3 + ["#0072B2", "#56B4E9"])
panel.set(xlabel="records of hospital", ylabel="error rate on new patients")
plt.show()
