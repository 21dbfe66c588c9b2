# Golden values of sparse kernel feature analysis from kernlab's kfa:
#
#     Rscript tests/golden/kernlab_kfa.R > tests/golden/kernlab_kfa.json
#
# kfa draws `randomindex <- sample(1:m, subset)`, makes K of the drawn rows against all rows, and then
# takes columns of K by the places of chosen rows among the drawn ones: `K[, idx]` and `K[idx, idx]`.
# These are the right columns only if the draw is the identity. A shuffled draw, even of all rows, gives
# directions that are not orthogonal. So the function runs here, unchanged, in an environment where
# `sample` returns 1, 2, 3, ... . The same environment has a `which.max` that keeps what it is given: kfa
# forgets the standard deviations by which it chooses. The method that dispatch finds is a shell around a
# function that has an environment of its own, so it is that function which is moved; the script stops if
# `sample` was not the one given here.
#
# predict() for kfa is not used: it multiplies by alpha where features need its transpose.

suppressPackageStartupMessages(library(kernlab))

kfa_of_all_rows <- function(x, kernel, kpar, features) {
  scores <- list()
  draws <- 0
  room <- new.env(parent = asNamespace("kernlab"))
  room$sample <- function(x, size) {
    draws <<- draws + 1
    seq_len(size)
  }
  room$which.max <- function(x) {
    scores[[length(scores) + 1]] <<- x
    base::which.max(x)
  }
  method <- body(selectMethod("kfa", "matrix")@.Data)[[2]][[3]]  # {.local <- this; .local(x, ...)}
  environment(method) <- room
  model <- method(x, kernel = kernel, kpar = kpar, features = features, subset = nrow(x))
  stopifnot(draws == 1, length(scores) == features)
  list(
    kernel = kernel,
    parameters = kpar,
    # 0-based rows of X in the order of choice
    indices = alphaindex(model) - 1,
    # row i: the i-th direction's coefficients on the images of the rows `indices`; absolute sum 1
    alpha = alpha(model),
    # row i: for every row of X the standard deviation (of n - 1) at step i; 0 where already chosen
    sd = do.call(rbind, scores)
  )
}

rows <- round(seq(1, 150, length.out = 60))
X <- round(unname(scale(as.matrix(iris[rows, 1:4]))[, ]), 6)  # so that the fixture has every digit

golden <- list(
  made_by = "Rscript tests/golden/kernlab_kfa.R > tests/golden/kernlab_kfa.json",
  versions = paste0(R.version.string, "; kernlab ", packageVersion("kernlab")),
  data = "60 rows of R's iris, evenly spaced; columns with mean 0 and standard deviation 1, rounded",
  conventions = paste(
    "rbfdot is exp(-sigma |x - z|^2), polydot is (scale x'z + offset)^degree; indices are 0-based;",
    "alpha[i] has absolute sum 1; sd[i] is what step i compares, 0 where already chosen"
  ),
  X = X,
  cases = list(
    narrow = kfa_of_all_rows(X, "rbfdot", list(sigma = 0.5), 15),
    wide = kfa_of_all_rows(X, "rbfdot", list(sigma = 0.05), 12),
    polynomial = kfa_of_all_rows(X, "polydot", list(degree = 2, scale = 0.5, offset = 1), 10)
  )
)
cat(jsonlite::toJSON(golden, auto_unbox = TRUE, digits = I(17)), "\n")
