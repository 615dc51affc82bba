"""Writes state.pt, the state_dict of a dendritic PLRNN, with PyTorch, and prints the state and what is seen of it after three steps
of F(z) = A z + W Σ_b α_b φ(z + θ_b) + h, φ = max(0, ·), as the formula has it: the content of state.txt.

    python3 state.py state.pt > state.txt
"""

import sys

import torch
from torch import nn


class Step(nn.Module):
    """The parameters of the map, under the names of the authors' program; A is the diagonal of AW, W the rest."""

    def __init__(self, dim, bases):
        super().__init__()
        # Transposed in memory, which the file keeps.
        self.AW = nn.Parameter((0.4 * torch.randn(dim, dim)).T)
        self.h = nn.Parameter(0.1 * torch.randn(dim))
        self.alphas = nn.Parameter(0.3 * torch.randn(bases))
        self.thetas = nn.Parameter(torch.randn(dim, bases))

    def forward(self, z):
        basis = (self.alphas * torch.relu(z[:, None] + self.thetas)).sum(1)
        a = torch.diag(self.AW)
        return a * z + (self.AW - torch.diag(a)) @ basis + self.h


class Model(nn.Module):
    """The map, and a linear observation of its state."""

    def __init__(self):
        super().__init__()
        self.latent_step = Step(3, 4)
        self.output_layer = nn.Linear(3, 2, bias=False)


torch.manual_seed(3)
model = Model()
torch.save(model.state_dict(), sys.argv[1])
model = model.double()
z = torch.tensor([0.3, -0.2, 0.5], dtype=torch.float64)
for _ in range(3):
    z = model.latent_step(z)
print(*z.tolist(), *model.output_layer(z).tolist())
