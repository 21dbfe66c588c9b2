# Kernel features of kernlab (kpca, kfa). Three calls:
#   Rscript kernlab.R check    # prints its version
#   Rscript kernlab.R fit kfa|kpca X.csv gamma k model.rds features.csv seconds.csv
#   Rscript kernlab.R transform X.csv model.rds features.csv seconds.csv
suppressMessages(library(kernlab))
given <- commandArgs(trailingOnly = TRUE)
if (given[1] == "check") cat(as.character(packageVersion("kernlab")))

write_features <- function(features, seconds, paths) {
  write.table(features, paths[1], sep = ",", row.names = FALSE, col.names = FALSE)
  write(seconds, paths[2])
}

if (given[1] == "fit") {
  X <- as.matrix(read.csv(given[3], header = FALSE))
  gamma <- as.numeric(given[4])
  k <- as.integer(given[5])
  set.seed(0)
  method <- if (given[2] == "kfa") kfa else kpca
  spent <- system.time(model <- method(X, kernel = "rbfdot", kpar = list(sigma = gamma), features = k))
  saveRDS(model, given[6])
  write_features(predict(model, X), sum(spent[1:2]), given[7:8])
} else if (given[1] == "transform") {
  X <- as.matrix(read.csv(given[2], header = FALSE))
  model <- readRDS(given[3])
  spent <- system.time(features <- predict(model, X))
  write_features(features, sum(spent[1:2]), given[4:5])
}
