"""The search space of a sweep: ranges and lists of values that Optuna samples from."""

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

DIGITS = 3
"""Significant digits of a number sampled from a range, few enough for the name of a run to hold all of its settings."""


class Range(NamedTuple):
    """Hold the ends of a range, both included: of integers if they are; on a logarithmic scale if they are above 0."""

    low: float
    high: float

    def __contains__(self, value: object) -> bool:
        return type(value) is type(self.low) and bool(self.low <= value <= self.high)

    def __str__(self) -> str:
        return f"{self.low}..{self.high}"


def sample(
    space: Mapping[str, Range | Sequence[Any]], tried: Iterable[tuple[Mapping[str, Any], float]], seed: int
) -> Iterator[dict[str, Any]]:
    """Yield settings that Optuna samples in view of the objectives of those tried; small ones are better."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.filterwarnings("ignore", "Choices for a categorical", UserWarning)  # a tuple could not be in its database
    kinds = optuna.distributions
    distributions = {}
    for name, values in space.items():
        if not isinstance(values, Range):
            distributions[name] = kinds.CategoricalDistribution(values)
        elif isinstance(values.low, int):
            distributions[name] = kinds.IntDistribution(*values, log=values.low > 0)
        else:
            distributions[name] = kinds.FloatDistribution(*values, log=values.low > 0)
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
    for settings, objective in tried:
        study.add_trial(optuna.create_trial(params=dict(settings), distributions=distributions, value=objective))
    while True:
        settings = study.ask(distributions).params
        for name, values in distributions.items():
            if isinstance(values, kinds.FloatDistribution):
                rounded = float(f"{settings[name]:.{DIGITS}g}")
                settings[name] = min(max(rounded, values.low), values.high)
        yield settings
