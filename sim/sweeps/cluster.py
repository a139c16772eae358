"""Points on a Dask cluster: the same chunks, sent to a scheduler; a trace is made on one worker, and again if that one dies."""

from collections.abc import Iterable, Mapping
from typing import Any

from isa.errors import UserError
from sim.gpus.model import Gpu
from sim.sweeps.driver import Group
from sim.sweeps.work import Job, Row, evaluated, executed

CONNECT_SECONDS = 5


class Cluster:
    """A client of a Dask scheduler at `address`; a context manager. Raises UserError when there is none, or no `distributed`."""

    def __init__(self, address: str, gpus: Mapping[str, Gpu]) -> None:
        try:
            import distributed
        except ImportError:
            raise UserError("a cluster needs Dask, which is not installed", hint="pip install 'simtlab[cluster]'") from None
        try:
            self.client: Any = distributed.Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
        except (OSError, ValueError) as error:
            message = f"no Dask scheduler answers at {address}: {error or type(error).__name__}"
            raise UserError(message, hint="start one with `dask scheduler`, workers with `dask worker ADDRESS`") from None
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
        return self.client.submit(evaluated, group.handle, self.gpus, jobs, pure=False)

    def wait(self, futures: Iterable[Any]) -> Iterable[Any]:
        import distributed

        with self.client.as_current():
            return distributed.wait(list(futures), return_when="FIRST_COMPLETED").done

    def result(self, future: Any) -> tuple[list[Row], float]:
        import distributed

        try:
            return future.result()
        except (distributed.scheduler.KilledWorker, OSError) as error:
            raise UserError(f"the cluster lost points: {error}", hint="run again: what is in the output is kept") from None

    def end(self, group: Group) -> None:
        group.handle = None  # the scheduler forgets what nobody refers to
