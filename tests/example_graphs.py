"""Small weighted graphs with every awkward feature: isolated nodes, several components, one node, no edge."""

import torch
from torch_geometric.utils import to_undirected

from chebnet2d.graph import SparseOperator, adjacency, shifted_laplacian


def weighted(seed: int = 0, nodes: int = 17, connected_part: int = 12, edges: int = 20) -> tuple[torch.Tensor, torch.Tensor, int]:
    """Edges, weights, N: two components (split at node 7) and isolated nodes at the end."""
    generator = torch.Generator().manual_seed(seed)
    left = torch.randint(0, 7, (2, edges), generator=generator)
    right = torch.randint(7, connected_part, (2, edges), generator=generator)
    edge_index = torch.cat([left, right], dim=1)
    return edge_index, 0.1 + torch.rand(2 * edges, generator=generator, dtype=torch.float64), nodes


def l_hat(seed: int = 0, dtype: torch.dtype = torch.float64) -> SparseOperator:
    edge_index, weight, nodes = weighted(seed)
    return shifted_laplacian(adjacency(edge_index, weight, nodes), dtype=dtype)


def graph(seed: int = 0) -> tuple[torch.Tensor, torch.Tensor, int, torch.Tensor]:
    """Edges in both directions, weights, N and random features in float64; two components and isolated nodes."""
    edge_index, weight, nodes = weighted(seed)
    kept = edge_index[0] != edge_index[1]
    edge_index, weight = to_undirected(edge_index[:, kept], weight[kept], num_nodes=nodes, reduce="add")
    generator = torch.Generator().manual_seed(seed + 100)
    return edge_index, weight, nodes, torch.randn(nodes, 6, generator=generator, dtype=torch.float64)
