"""
A table with categories and missing values
==========================================

``SieveClassifier`` takes a data frame as it is: it encodes categories, fills gaps, weights the
columns, chooses kernel and width, and says what it did.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas
from sklearn.model_selection import train_test_split

from kernelsieve import MetricImportanceDisplay, SieveClassifier

# %%
# A table of customers: numbers of very different units, two categories, gaps. Whether a customer
# leaves depends on how long they have been there, on the tariff, and on the price for those who are
# new.

rng = np.random.default_rng(0)
n = 800
table = pandas.DataFrame(
    {
        "months": rng.gamma(2.0, 12.0, n).round(),
        "price": rng.normal(40, 12, n).round(2),
        "calls": rng.poisson(3, n).astype(float),
        "tariff": pandas.Categorical(rng.choice(["basic", "family", "travel"], n)),
        "region": pandas.Categorical(rng.choice(["north", "south", "east", "west"], n)),
    }
)
pull = 3.0 - table["months"] / 7 + (table["tariff"] == "basic") * 3.0
pull += np.where(table["months"] < 20, (table["price"] - 40) / 4, 0)
left = np.where(rng.random(n) < 1 / (1 + np.exp(-pull)), "left", "stayed")
table.loc[rng.random(n) < 0.15, "price"] = np.nan
print(table.head())

# %%
# One line fits. The report says what was tried and chosen; without ``kernel``, four kernels are
# tried.

train, test, y, y_test = train_test_split(table, left, random_state=0)
sieve = SieveClassifier(60, kernel="rbf", random_state=0).fit(train, y)
print(sieve.report_)
print(f"accuracy on new customers: {sieve.score(test, y_test):.2f}")

# %%
# Which columns count, and how well probabilities are calibrated. Indicators of one category share a
# weight.

figure, (left_panel, right_panel) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
MetricImportanceDisplay.from_estimator(sieve, ax=left_panel)
probability = sieve.predict_proba(test)[:, 0]
edges = np.linspace(0, 1, 7)
bins = np.digitize(probability, edges[1:-1])
groups = [b for b in range(6) if (bins == b).any()]
right_panel.plot([0, 1], [0, 1], color="0.6", linewidth=1)
right_panel.plot(
    [probability[bins == b].mean() for b in groups],
    [(y_test[bins == b] == "left").mean() for b in groups],
    "o-",
)
right_panel.set(
    xlabel="predicted probability of leaving", ylabel="share that left", title="Calibration"
)
plt.show()
