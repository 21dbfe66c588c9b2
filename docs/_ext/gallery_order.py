"""Examples in the order in which a newcomer would look at them."""

ORDER = [
    "methods",
    "table",
    "pandas_pipeline",
    "choose_k",
    "spectra",
    "genes",
    "text",
    "invariances",
    "time_series",
    "metric",
    "explain",
    "intervals",
    "million",
    "parquet",
    "dask",
    "hospitals",
    "files",
    "criterion",
    "kernel",
]


class ReadingOrder:
    """Sort key of sphinx-gallery; examples that are not named come last."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __call__(self, filename: str) -> tuple[int, str]:
        name = filename.removeprefix("plot_").removesuffix(".py")
        return (ORDER.index(name) if name in ORDER else len(ORDER), name)
