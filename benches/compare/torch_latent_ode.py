"""One training update of ODE-RNN and Latent-ODE in PyTorch, eager, on one thread, at the paper's sizes.

Rows are taken in one after another by a gated unit behind an Euler step, as in the program of Rubanova et al.; the Latent-ODE is solved by
torchdiffeq's dopri5 with its tolerances, all solutions of a batch with the same steps, and its gradient goes through them. The optimiser is
PyTorch's Adamax.
"""

import time

import torch
from torch import nn

torch.set_num_threads(1)

RTOL, ATOL = 1e-3, 1e-4


def net(*widths):
    """Linear layers with tanh between them, weights with a standard deviation of 0.1."""
    layers = []
    for i, o in zip(widths, widths[1:]):
        layers += [nn.Linear(i, o), nn.Tanh()]
        nn.init.normal_(layers[-2].weight, 0.0, 0.1)
        nn.init.zeros_(layers[-2].bias)
    return nn.Sequential(*layers[:-1])


class Unit(nn.Module):
    """The flow between rows and the gated unit at rows."""

    def __init__(self, d, gates, layers, units, channels):
        super().__init__()
        seen = 2 * d + 2 * channels
        self.d = d
        self.flow = net(d, *[units] * layers, d)
        self.update, self.reset, self.new = net(seen, gates, d), net(seen, gates, d), net(seen, gates, 2 * d)

    def forward(self, rows, h):
        """Means behind every row, and the last deviations; rows × batch × (values, mask)."""
        m = s = rows.new_zeros(rows.shape[1], self.d)
        means = []
        for row in rows:
            m = m + h * self.flow(m)
            seen = torch.cat([m, s, row], -1)
            u, r = torch.sigmoid(self.update(seen)), torch.sigmoid(self.reset(seen))
            new = self.new(torch.cat([m * r, s * r, row], -1))
            taken = (row[:, row.shape[1] // 2 :].sum(-1, keepdim=True) > 0).to(row.dtype)
            m_new, s_new = (1 - u) * new[:, : self.d] + u * m, (1 - u) * new[:, self.d :].abs() + u * s
            m, s = taken * m_new + (1 - taken) * m, taken * s_new + (1 - taken) * s
            means.append(m)
        return torch.stack(means), s


class OdeRnn(nn.Module):
    """Its loss is the mean squared error of all forecasts."""

    def __init__(self, channels):
        super().__init__()
        self.unit, self.decoder = Unit(9, 8, 2, 44, channels), net(9, 100, channels)

    def forward(self, x):
        rows = torch.cat([x[:-1], torch.ones_like(x[:-1])], -1)
        return nn.functional.mse_loss(self.decoder(self.unit(rows, 0.01)[0]), x[1:])


class LatentOde(nn.Module):
    """Its loss is minus the logarithm of the sum over solutions of exp(mean log-density of the batch), without a divergence."""

    def __init__(self, channels, samples, sigma):
        super().__init__()
        self.unit = Unit(15, 20, 2, 20, channels)
        self.transform, self.flow, self.decoder = net(30, 100, 16), net(8, 20, 20, 8), net(8, channels)
        self.samples, self.sigma = samples, sigma

    def forward(self, x):
        from torchdiffeq import odeint

        rows = torch.cat([x, torch.ones_like(x)], -1).flip(0)
        means, s = self.unit(rows, -0.01)
        mean, spread = self.transform(torch.cat([means[-1], s], -1)).chunk(2, -1)
        z = mean + spread.abs() * torch.randn(self.samples, *mean.shape)
        times = 0.01 * torch.arange(len(x), dtype=x.dtype)
        states = odeint(lambda _, z: self.flow(z), z, times, rtol=RTOL, atol=ATOL, method="dopri5")
        squares = ((self.decoder(states) - x[:, None]) ** 2).mean((0, 3))
        return -torch.logsumexp((-squares / (2 * self.sigma**2)).mean(-1), 0)


def trainer(kind, shape, updates, samples, sigma):
    """A call that makes so many updates, and gives its seconds per update; `shape` is rows, windows and channels of a batch."""
    rows, batch, channels = shape
    torch.manual_seed(0)
    model = OdeRnn(channels) if kind == "ode-rnn" else LatentOde(channels, samples, sigma)
    optimiser = torch.optim.Adamax(model.parameters(), lr=1e-3)
    series = torch.cumsum(torch.randn(10_000, channels), 0) / 50

    def update():
        starts = torch.randint(0, 9000, (batch,))
        x = series[starts[None, :] + torch.arange(rows)[:, None]]
        optimiser.zero_grad()
        model(x).backward()
        optimiser.step()

    def block():
        begun = time.perf_counter()
        for _ in range(updates):
            update()
        return (time.perf_counter() - begun) / updates

    update()
    return block
