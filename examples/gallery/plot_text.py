"""
Text
====

Sparse input stays sparse, landmarks included. The texts here are on every machine that has scipy: the
docstrings of its functions. The task is to say which of four packages a function belongs to.
"""

import inspect
import re

import matplotlib.pyplot as plt
import scipy.ndimage
import scipy.signal
import scipy.special
import scipy.stats
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

from kernelsieve import ComponentPathCV, ComponentPathDisplay, SparseMaximalAlignment

packages = (scipy.ndimage, scipy.signal, scipy.special, scipy.stats)
texts, labels = [], []
for package in packages:
    name = package.__name__.removeprefix("scipy.")
    for member in sorted(set(package.__all__)):
        text = inspect.getdoc(getattr(package, member)) or ""
        if len(text) > 200:
            texts.append(re.sub(rf"\b({name}|{member}|scipy)\b", " ", text))  # that would be too easy
            labels.append(name)
print(
    f"{len(texts)} texts: " + ", ".join(f"{labels.count(name)} {name}" for name in sorted(set(labels)))
)

# %%
# A pipeline from texts to labels: words, 60 landmarks with the cosine kernel, logistic regression. X
# is a CSR matrix and is never made dense.

train, test, y, y_test = train_test_split(texts, labels, stratify=labels, random_state=0)
words = TfidfVectorizer(sublinear_tf=True, min_df=2, stop_words="english")
X, X_test = words.fit_transform(train), words.transform(test)
search = ComponentPathCV(
    SparseMaximalAlignment(60, kernel="cosine"),
    LogisticRegression(C=10.0),
    n_components=[5, 10, 20, 40, 60],
).fit(X, y)
print(search.reason_)
print(f"accuracy on new texts: {search.score(X_test, y_test):.3f}, {X.shape[1]} words")

# %%

ComponentPathDisplay.from_estimator(search)
plt.show()

# %%
# The landmarks are texts, and can be read: the first five, by their first lines.

sieve = SparseMaximalAlignment(5, kernel="cosine").fit(X, y)
for row in sieve.landmark_indices_:
    lines = [line for line in train[row].splitlines() if line.endswith(".") and "(" not in line]
    print(f"{y[row]:<8} {' '.join(lines[0].split())}")

# %%
# As one pipeline, which takes texts:

model = make_pipeline(words, SparseMaximalAlignment(40, kernel="cosine"), LogisticRegression(C=10.0))
model.fit(train, y).predict(["Eigenvalues of a random variable's distribution", "Rotate an image"])
