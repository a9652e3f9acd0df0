"""What beats a player: the states in which its move is wrong, and the game lines that it loses."""

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from selfplay.agent import Player
    from selfplay.proof.judge import Asked


class Findings(NamedTuple):
    wrong: dict[str, Any]
    lost: dict[str, Any]


def findings(judge: "Asked", player: "Player | None") -> Findings:
    return Findings({}, {})


def wrong_states(found: Findings) -> Any:
    return found.wrong


def lost_games(found: Findings) -> Any:
    return found.lost
