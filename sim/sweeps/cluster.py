"""Points on a Dask cluster: the same chunks, sent to a scheduler; a trace is made on one worker, and again if that one dies."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from isa.errors import UserError
from sim.gpus.model import Gpu
from sim.sweeps.driver import Group
from sim.sweeps.keys import sources
from sim.sweeps.work import Failure, Job, Row, evaluated, executed
from sim.traces.trace import Trace

CONNECT_SECONDS = 10


class Cluster:
    """A client of a Dask scheduler at `address`; a context manager. Raises UserError without scheduler, workers, or `distributed`."""

    def __init__(self, address: str, gpus: Mapping[str, Gpu]) -> None:
        try:
            import distributed
        except ImportError:
            raise UserError("a cluster needs Dask, which is not installed", hint="pip install 'simtlab[cluster]'") from None
        start = "start one with `dask scheduler`, and workers with `dask worker ADDRESS --nthreads 1`"
        try:
            self.client: Any = distributed.Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
        except (OSError, ValueError) as error:
            raise UserError(f"no Dask scheduler answers at {address}: {error or type(error).__name__}", hint=start) from None
        try:
            self.client.wait_for_workers(1, timeout=CONNECT_SECONDS)
        except TimeoutError:
            self.client.close()
            raise UserError(f"the Dask scheduler at {address} has no workers", hint=start) from None
        self.gpus = dict(gpus)
        self.depth = 3 * max(1, sum(self.client.nthreads().values()))

    def __enter__(self) -> "Cluster":
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()

    def begin(self, group: Group, jobs: list[Job]) -> Any:
        group.handle = self.client.submit(executed, group.build(), pure=False)
        return self.go_on(group, jobs)

    def go_on(self, group: Group, jobs: list[Job]) -> Any:
        return self.client.submit(checked, sources(), group.handle, self.gpus, jobs, pure=False)

    def wait(self, futures: Iterable[Any]) -> Iterable[Any]:
        import distributed

        with self.client.as_current():
            return distributed.wait(list(futures), return_when="FIRST_COMPLETED").done

    def result(self, future: Any) -> tuple[list[Row], float]:
        try:
            return future.result()
        except UserError:
            raise
        except Exception as error:  # whatever went wrong on another machine: no simtlab there, a worker that died again and again
            message = f"the cluster failed: {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
            raise UserError(message, hint="what is in the output is kept; every worker needs this version of simtlab") from None

    def end(self, group: Group) -> None:
        group.handle = None  # the scheduler forgets what nobody refers to


def checked(version: bytes, trace: Trace | Failure, gpus: Mapping[str, Gpu], jobs: Sequence[Job]) -> tuple[list[Row], float]:
    """Return the rows, as `evaluated`. Raises UserError on a worker with other sources of the simulator than the one who asks."""
    if sources() != version:
        raise UserError("a worker of the cluster has another version of simtlab: install the same one everywhere")
    return evaluated(trace, gpus, jobs)
