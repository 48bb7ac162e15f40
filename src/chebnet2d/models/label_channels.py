"""Known labels of neighbours as input channels, so that no node learns from its own."""

import torch
from torch import Tensor, nn

from chebnet2d._checks import InputError, integer, real
from chebnet2d.kernels import keep_mask
from chebnet2d.nn import Dropout


class LabelChannels(nn.Module):
    """N x C numbers: 1 in the column of the class of each node whose label is known and shown, else 0.

    In training a fresh random part of the nodes is hidden, and only hidden nodes are learned from (``hide_shown``); those that
    are shown count 1 / (1 - hidden), so that the sums over neighbours keep their mean. A node that is learned from is in no
    channel, neither as itself nor at the end of a walk that comes back. In evaluation all training nodes are shown, which for all
    other nodes is what they saw in training. Training nodes then see their own label: accuracy on them says nothing.

    ``known`` (N, -1 where there is none) belongs to the model; ``predict`` puts it where these nodes are in another graph.

    Args:
        hidden: the part of the nodes that is hidden in each epoch.
    """

    known: Tensor

    def __init__(self, owner: str, num_nodes: int, classes: int, hidden: float = 0.5) -> None:
        super().__init__()
        self.owner, self.classes = owner, classes
        integer(owner, "num_nodes", num_nodes, 1)
        self.hide = Dropout(real(owner, "hidden_labels", hidden, 0.05, 0.95))
        self.register_buffer("known", torch.full((num_nodes,), -1))

    def forward(self, like: Tensor) -> tuple[Tensor, Tensor | None]:
        """(channels, which nodes are shown) with the dtype of ``like``, which has N rows; None in evaluation: all are."""
        if like.shape[0] != self.known.shape[0]:
            hint = "Labels are known by the number of their node: it serves the graph it was built for."
            rule = f"num_nodes = {self.known.shape[0]} rows"
            raise InputError(self.owner, "x", rule, got=str(like.shape[0]), hint=hint, verb="have")
        one_hot = (self.known.unsqueeze(1) == torch.arange(self.classes, device=like.device)).to(like.dtype)
        if not self.training:
            return one_hot, None
        mask = keep_mask((self.known.shape[0],), self.hide.p, like)
        return one_hot * mask.unsqueeze(1), (mask > 0) & (self.known >= 0)

    def hide_shown(self, logits: Tensor, shown: Tensor | None) -> Tensor:
        """Zeros for nodes that are shown: their loss is the constant log C. The gradient of the others is scaled by 1 / hidden,
        so that it is that of the mean over hidden nodes."""
        if shown is None:
            return logits
        fixed = logits.detach()
        scaled = fixed + (logits - fixed) / self.hide.p.to(logits.dtype)
        return torch.where(shown.unsqueeze(1), torch.zeros_like(logits), scaled)
