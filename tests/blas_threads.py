"""How many threads BLAS has now."""

import threading

from threadpoolctl import threadpool_info, threadpool_limits


def blas_threads() -> list[int]:
    return [lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"]


def set_blas_threads(limits) -> None:
    """Set the numbers from a thread that ends at once.

    threadpoolctl lets only the first thread that sets a limit set others, for as long as it lives;
    were that the thread of the tests, no other thread could be tested.
    """
    thread = threading.Thread(target=threadpool_limits, kwargs={"limits": limits, "user_api": "blas"})
    thread.start()
    thread.join()
