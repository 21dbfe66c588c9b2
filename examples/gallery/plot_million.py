"""
A million samples
=================

A fit passes over the samples twice: once for all candidates, and once, which is shorter, for the chosen
landmarks. It never holds more kernel values than those of a block of samples. So the time grows as the
number of samples, and the picture shows that, beside the error on new samples. Where the environment
variable ``KERNELSIEVE_QUICK`` is set, as when this page was made, the example ends at 320,000 samples.
"""

import os
import time

import matplotlib.pyplot as plt
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

from kernelsieve import SparseMaximalAlignment
from kernelsieve.datasets import make_interactions

n_samples = 320_000 if os.environ.get("KERNELSIEVE_QUICK") else 1_000_000
X, y = make_interactions(n_samples + 5_000, 8, random_state=0)
X_test, y_test, X, y = X[:5_000], y[:5_000], X[5_000:], y[5_000:]

# %%
# Fits to more and more samples; the last line is for all of them.

sizes = [n_samples // 8, n_samples // 4, n_samples // 2, n_samples]
seconds, errors = [], []
for size in sizes:
    model = make_pipeline(SparseMaximalAlignment(80, random_state=0), Ridge(1e-3))
    start = time.perf_counter()
    model.fit(X[:size], y[:size])
    seconds.append(time.perf_counter() - start)
    errors.append(1 - model.score(X_test, y_test))
    print(f"{size:>9,} samples: {seconds[-1]:6.2f} s, 1 - R2 of new samples {errors[-1]:.3f}")

# %%

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
left.plot(sizes, seconds, "o-")
left.set(xlabel="samples", ylabel="seconds to fit", xlim=(0, None), ylim=(0, None))
right.plot(sizes, errors, "o-")
right.set(xlabel="samples", ylabel="1 - R2 of new samples", xscale="log")
right.set_xticks(sizes, [f"{size:,}" for size in sizes])
right.minorticks_off()
plt.show()

# %%
# A new sample costs as many kernel evaluations as there are landmarks, whatever the number of
# samples.

chosen = model[0].landmark_indices_
print(f"{len(chosen)} landmarks, the first is sample {chosen[0]:,}")
