"""One training update in PyTorch, eager, on one thread.

States are batch × feature. The parameters are views of one flat vector, so that RAdam is a handful of operations.
`torch.compile` is not tried: it would unroll all steps of the window.
"""

import math

import torch

from workload import BATCH, BETA1, BETA2, EPSILON, LEARNING_RATE, RHO_INFINITY, RHO_THRESHOLD

torch.set_num_threads(1)


def loss(alpha, p, x):
    """ℒ of the windows `x`, T+1 × S × N."""
    b = p["B"]
    b_pinv = torch.linalg.inv(b) if b.shape[0] == b.shape[1] else torch.linalg.solve(b.T @ b, b.T)
    teacher = (alpha * (x[1:] @ b_pinv.detach().T)).unbind()
    w1, w2 = p["W1"].T, p["W2"].T
    z, states = x[0] @ b_pinv.T, []
    for target in teacher:
        u = z @ w2
        z = torch.addmm(torch.addcmul(p["h1"], p["A"], z), torch.relu(u + p["h2"]) - torch.relu(u), w1)
        states.append(z)
        z = torch.add(target, z, alpha=1 - alpha)
    return torch.nn.functional.mse_loss(torch.stack(states) @ b.T, x[1:])


def step_size(t):
    """RAdam's factors at update t: that of m, and that of √v or None while the second moment is not to be trusted."""
    decay = BETA2**t
    rho = RHO_INFINITY - 2 * t * decay / (1 - decay)
    size = LEARNING_RATE / (1 - BETA1**t)
    if rho <= RHO_THRESHOLD:
        return size, None
    ratio = (rho - 4) * (rho - 2) * RHO_INFINITY / ((RHO_INFINITY - 4) * (RHO_INFINITY - 2) * rho)
    return size * math.sqrt(ratio), 1 / math.sqrt(1 - decay)


def gradient_of(workload, parameters, windows):
    """The flat gradient for given windows (S × T+1 × N), to compare programs by."""
    p = {name: torch.tensor(value, requires_grad=True) for name, value in parameters.items()}
    loss(workload.alpha, p, torch.tensor(windows).transpose(0, 1)).backward()
    return torch.cat([p[name].grad.ravel() for name in workload.shapes()]).numpy()


class Trainer:
    """Parameters, moments and data; `run` makes `updates` updates."""

    updates = 1

    def __init__(self, workload, series, parameters):
        self.workload, self.t = workload, 0
        self.series = torch.tensor(series)
        self.rows = torch.arange(workload.window + 1)[:, None]
        values = [torch.tensor(parameters[name]) for name in workload.shapes()]
        self.theta = torch.cat([value.ravel() for value in values])
        self.m, self.v = torch.zeros_like(self.theta), torch.zeros_like(self.theta)
        pieces = self.theta.split([value.numel() for value in values])
        self.p = {
            name: piece.view(shape).detach().requires_grad_()
            for (name, shape), piece in zip(workload.shapes().items(), pieces)
        }

    def run(self):
        """One update."""
        starts = torch.randint(0, len(self.series) - self.workload.window - 1, (BATCH,))
        value = loss(self.workload.alpha, self.p, self.series[starts + self.rows])
        gradients = torch.autograd.grad(value, list(self.p.values()))
        self.radam(torch.cat([gradient.ravel() for gradient in gradients]))

    @torch.no_grad()
    def radam(self, g):
        """One step of RAdam with the threshold ρ > 4; writes through to the parameters."""
        self.t += 1
        self.m.lerp_(g, 1 - BETA1)
        self.v.mul_(BETA2).addcmul_(g, g, value=1 - BETA2)
        size, scale = step_size(self.t)
        if scale is None:
            self.theta.add_(self.m, alpha=-size)
        else:
            self.theta.addcdiv_(self.m, (self.v.sqrt() * scale).add_(EPSILON), value=-size)
