"""Work on a Ray cluster (the extra ``cluster``): tasks go out, results come back once, and the driver alone keeps the books."""

from chebnet2d.cluster.precompute import precompute_on_ray
from chebnet2d.cluster.tasks import connected, run_tasks

__all__ = ["connected", "precompute_on_ray", "run_tasks"]
