"""The settings of a DQN: one dataclass with its defaults and presets. It imports no torch.

To add a setting, write a field of `DQNConfig` with a docstring, and with a type that has bounds, such as `Count`: it is
a flag, a keyword argument and a line of config.json. Older runs get its default, which must be what was done before.
What the loop of training reads has to be a property of `RunSettings` too. If it changes what a saved player does,
`PlayerModule`, `web/player_data.py` and the page have to do the same: the page's values are in `web/page/network.js`,
its moves in `players.js`. Tests to extend: `test_settings.py`, `runs/test_loop.py`, `dqn/test_player.py`, `OTHERS` in
`runs/test_checkpoint.py` and `DQNS` in `web/test_twin.py`.
"""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Literal, TypeAlias

from pydantic import BeforeValidator, Field

from selfplay.settings import (
    Count,
    CountOrZero,
    Fraction,
    Integer,
    RunSettings,
    SettingsError,
    StepSize,
    Stop,
    check_known_rules,
    checked,
    require,
    with_board,
)
from tictactoe import Rewards, Rules
from tictactoe.names import unknown
from tictactoe.rewards import PRESETS as NAMED_REWARDS, named_rewards
from tictactoe.rules import WORD_BITS
from tictactoe.tree import SOLVABLE_CELLS

Symmetry: TypeAlias = Literal["canonical", "augment", "none"]
Target: TypeAlias = Literal["negamax", "independent", "article"]

WIDEST = 1_000_000
"""Units of a layer; more would overflow the sizes that PyTorch counts in."""
SMALL_CELLS = 10
"""Cells of the largest board that takes the default settings unless another is named."""
LARGEST_FLOAT = 3.4e38
"""Largest value of PyTorch's 32-bit numbers."""


def widths(value: Any) -> Any:
    """Return one width, or widths in a text such as 64x32, as a tuple, and anything else as it is."""
    if isinstance(value, str) and re.fullmatch(r"\d+([x,]\d+)*|\[\]", value):
        return tuple(int(width) for width in re.findall(r"\d+", value))
    return value if isinstance(value, tuple) else (value,)


def known_rewards(value: Any) -> str | Rewards:
    """Return the name of rewards if they are a preset, else the rewards; they may be written as allow=0:loss=-1.

    Raises:
        ValueError: it names no rewards, or a reward is not a finite number.
    """
    if isinstance(value, str) and "=" in value:
        words = (word.partition("=") for word in value.split(":"))
        value = {name: float(number) for name, _, number in words}
    elif isinstance(value, str) and value not in NAMED_REWARDS:
        raise ValueError(unknown("rewards", value, NAMED_REWARDS, ", or name numbers as in illegal=-5:draw=0.5"))
    try:
        rewards = named_rewards(value)
    except TypeError as error:
        raise ValueError(str(error)) from None
    return next((name for name, preset in NAMED_REWARDS.items() if preset == rewards), rewards)


Width: TypeAlias = Annotated[Integer, Field(ge=1, le=WIDEST)]
Layers: TypeAlias = Annotated[tuple[Width, ...], Field(max_length=100), BeforeValidator(widths)]
Device: TypeAlias = Annotated[
    Literal["auto", "cpu", "cuda", "mps"], BeforeValidator(lambda device: str(device).removesuffix(":0"))
]
"""The name of a device, which may be given as a `torch.device`."""
RewardsOrName: TypeAlias = Annotated[Literal["shaped", "article", "sparse"] | Rewards, BeforeValidator(known_rewards)]


@checked
class DQNConfig(RunSettings):
    """Train a DQN by interleaved self-play until it is proved unbeatable.

    Source: Mnih et al. (2015), doi:10.1038/nature14236, with the targets for two players of
        `selfplay.dqn.dqn`.

    Raises:
        SettingsError: a value is not allowed, by itself or together with the others.
    """

    algorithm: ClassVar[str] = "dqn"
    unit: ClassVar[str] = "plies"
    length_setting: ClassVar[str] = "total_steps"
    preset: Literal["default", "large", "5x5", "article"] = "default"
    """Defaults of the other flags. Unless you name one, the board chooses it: "5x5" for 5,5,4, "large" for others of
    more than 10 cells. "large" without a board is 4,4,4. "article" is the published DQN."""
    device: Device = "auto"
    """Device of networks and replay memory; "auto" is CUDA if PyTorch finds it. "mps" (Apple) is not tested."""

    rules: Rules = Rules()
    """The board."""
    rewards: RewardsOrName = "shaped"
    """Rewards: a preset, or your own numbers, as in illegal=-5 or allow=0:loss=-1; the others are those of "shaped"."""
    perspective: Literal["mover", "absolute"] = "mover"
    """Planes that the network sees: mine and theirs ("mover"), or X and O ("absolute")."""

    networks: Literal["shared", "separate"] = "shared"
    """One network for both seats, or one per seat."""
    target: Target = "negamax"
    """The value added to a move's reward: minus the opponent's value of the next position ("negamax"), the value of the
    agent's own next turn ("independent"), or the opponent's turn with a plus sign ("article": the
    one-player formula, wrong here)."""
    mask: bool = False
    """Bar illegal actions from acting and from targets, instead of learning from the illegal reward."""
    explore: Literal["legal", "any"] = "legal"
    """Cells that a random move is sampled from."""
    take_wins: bool = False
    """Let the player complete a line where it can, whatever its values are. With "negamax" a sure win is worth more the
    later it comes. Taken at once, it leaves far fewer positions to be followed: on 5,5,4 one in hundreds."""
    hidden: Layers = (256,)
    """Widths of the hidden layers, as in 64x32 on a command line; [] is none."""
    message_rounds: Annotated[Integer, Field(ge=0, le=100)] = 0
    """Rounds of messages: in each, every line sums up the features of its cells, and every cell those of its lines.
    Then the same hidden layers value each cell, so that what is learned in one place holds on the whole board, and
    larger boards need far fewer plies. 0: the hidden layers see the whole board."""
    message_width: Width = 32
    """Numbers that a line or a cell passes on in a round of messages; unused without message_rounds."""
    double: bool = False
    """Choose the next action with the online network and value it with the target network (double DQN, van Hasselt et
    al. 2016)."""
    opponents: Literal["self", "snapshots"] = "self"
    """Against whom the agent plays: itself ("self"), or in 30% of the games one of four earlier snapshots of its
    player ("snapshots"). With the other defaults we saw no clear difference."""
    gamma: Fraction = 0.99
    """Discount per ply (per own turn with the independent target)."""
    loss: Literal["huber", "mse"] = "huber"
    """Loss of an update: Huber's, which is linear in errors above 1, like clipping the error in Mnih et al. (2015); or
    the mean squared error."""
    optimizer: Literal["adam", "muon"] = "adam"
    """Optimizer of the weights; "muon" is Muon for matrices of at least 4 rows and columns, and Adam for all others. On
    5,5,4 it came nearer to the targets in the same time."""
    learning_rate: Annotated[float, Field(gt=0, le=LARGEST_FLOAT)] = 1.2e-2
    """Learning rate at the start."""
    learning_rate_hold: CountOrZero = 600
    """Updates during which the learning rate is constant; after them it falls in proportion to 1 / updates. 0: it never
    falls."""
    batch_size: Count = 192
    """Transitions per update."""
    memory_size: Count = 10_000
    """Capacity of the replay memory of each agent, in transitions."""
    warmup: CountOrZero = 1_024
    """Plies before the first update."""
    updates_per_step: Count = 2
    """Updates after each step of all boards."""
    soft_update: StepSize = 0.06
    """Fraction of the way that the target network moves towards the network at each update."""
    hard_update: CountOrZero = 0
    """Updates between copies of the network to the target network. 0: soft updates instead."""
    average_power: Count = 1
    """Power in the average of the network that plays: in it the n-th update counts n to this power. A higher power
    forgets early updates sooner, which a long run needs."""
    symmetry: Symmetry = "canonical"
    """Show the network the same image of all turned and reflected positions ("canonical"), turn and reflect sampled
    transitions at random ("augment"), or do neither ("none")."""
    epsilon_start: Fraction = 0.5
    """Probability of a random move at the start."""
    epsilon_end: Fraction = 0.9
    """Probability of a random move at the end. It rises, because the player first learns good play, and then the
    unusual positions that only random moves lead to."""
    epsilon_plies: CountOrZero = 1_500_000
    """Plies over which epsilon changes linearly from start to end."""

    counterexamples: Fraction = 0.9
    """Fraction of the new games that begin at a counterexample: a position from which the last exact evaluation found
    the player beaten, or, with "--stop optimal", in which its move was not optimal. 0: all games begin on the empty
    board."""
    counterexamples_kept: Count = 256
    """Positions of earlier evaluations that are remembered. They start some of these games if the last evaluation found
    fewer than a quarter of this number."""
    counterexample_margin: Annotated[float, Field(ge=0, le=LARGEST_FLOAT)] = 0.4
    """Moves that the player values at most this much less than its best one are followed too when counterexamples are
    looked for, since it may prefer them after the next updates. 0: only its best moves."""
    num_envs: Count = 256
    """Boards played side by side."""
    total_steps: Count = 10_000_000
    """Largest number of plies (moves), rounded up to whole steps of all boards."""
    eval_every: Count = 3_200
    """Plies between exact evaluations. On boards of more than 12 cells an evaluation may take a few seconds."""
    stop: Stop = "unbeatable"
    """The proof, by three evaluations in a row, that ends the run early. On a board that one seat wins with best play,
    nobody is unbeatable in the other seat; there exploitability 0 ends the run. "optimal" needs a board of at most 16
    cells; above 12 cells each evaluation then takes up to a minute."""

    def __post_init__(self) -> None:
        for name, least in (("memory_size", "num_envs"), ("memory_size", "batch_size"), ("total_steps", "warmup")):
            wanted = f"at least `{least}` ({getattr(self, least)})"
            require(getattr(self, name) >= getattr(self, least), name, wanted, getattr(self, name))
        if self.rules.cells > WORD_BITS:
            cells = f"{self.rules} has {self.rules.cells} cells"
            raise SettingsError(f"{cells}: choose `rows` and `cols` with at most {WORD_BITS}")
        if self.mask or self.take_wins or self.explore == "legal":
            check_known_rules(self.rules, "a network that knows the empty cells")
        solvable = self.rules.cells <= SOLVABLE_CELLS
        wanted = f"unbeatable or never on a board of more than {SOLVABLE_CELLS} cells"
        require(self.stop != "optimal" or solvable, "stop", wanted, self.stop)

    @classmethod
    def completed(cls, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Return the settings that were given, the board, and those of the preset that is named or suits the board."""
        named = PRESETS.get(str(settings.get("preset")), {})
        given = with_board(settings, named.get("rules", Rules()))
        if given.get("preset") is None:
            given["preset"] = preset_for(given["rules"])
        return {**PRESETS.get(str(given["preset"]), {}), **given}


def preset_for(rules: Rules) -> Literal["default", "large", "5x5"]:
    """Return the name of the preset that a board takes unless another is named."""
    if rules == PRESETS["5x5"]["rules"]:
        return "5x5"
    return "large" if rules.cells > SMALL_CELLS else "default"


PRESETS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "default": {},
        "large": {
            "rules": Rules(4, 4, 4),
            "hidden": (32,),
            "message_rounds": 1,
            "learning_rate": 6e-3,
            "memory_size": 50_000,
            "counterexample_margin": 0.05,
            "eval_every": 12_800,
        },
        "5x5": {
            "rules": Rules(5, 5, 4),
            "mask": True,
            "take_wins": True,
            "hidden": (48, 48),
            "message_rounds": 2,
            "message_width": 48,
            "optimizer": "muon",
            "learning_rate_hold": 3_000,
            "memory_size": 100_000,
            "average_power": 7,
            "counterexamples_kept": 8_192,
            "counterexample_margin": 0.05,
            "eval_every": 19_200,
            "total_steps": 100_000_000,
        },
        "article": {
            "rewards": "article",
            "perspective": "absolute",
            "target": "article",
            "explore": "any",
            "hidden": (27, 27, 27),
            "double": True,
            "loss": "mse",
            "learning_rate": 1e-3,
            "learning_rate_hold": 0,
            "batch_size": 32,
            "memory_size": 50_000,
            "warmup": 100,
            "updates_per_step": 1,
            "soft_update": 1e-2,
            "symmetry": "none",
            "counterexamples": 0.0,
            "epsilon_start": 0.2,
            "epsilon_end": 0.2,
            "num_envs": 1,
            "total_steps": 100_000,
            "eval_every": 5_000,
            "stop": "never",
        },
    }
)
"""The settings of each preset that differ from the defaults of the fields."""
