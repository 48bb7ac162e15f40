"""Who holds the parameters and takes the steps: a stack of runs in this process, or one run shared out to several."""

from chebnet2d.training.learners.distributed import DistributedLearner
from chebnet2d.training.learners.stack_learner import StackLearner

__all__ = ["DistributedLearner", "StackLearner"]
