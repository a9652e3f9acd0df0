"""Write a certificate that a player is unbeatable: `selfplay certify PLAYER`."""

from collections.abc import Sequence
from pathlib import Path

from selfplay.cli.flags import parse
from selfplay.files import check_output, checksum_of_file, write_output, write_whole
from selfplay.judge import certificate, check_certificate
from selfplay.judge.ask import choices_policy
from selfplay.named_players import EvaluatedPlayer, progress_spinner
from selfplay.program import say, shell_line
from selfplay.runs.folder import MODEL
from selfplay.runs.load import SHIPPED_FOLDERS
from selfplay.settings import checked
from tictactoe.opponents import OPPONENTS

NAME = "certificate.txt.gz"
"""Name of the file, in the folder of the run or, for a player without a run, in the current folder."""


@checked
class CertifyConfig(EvaluatedPlayer):
    """Write all positions that an unbeatable player's own play reaches, and its moves there, for others to check."""

    output: Path | None = None
    """The file. Default: certificate.txt.gz in the folder of the run, for other players in the current folder."""


def main(args: Sequence[str], prog: str = "selfplay certify") -> None:
    """Write the certificate of a player, and print how to check it without this program."""
    config = parse(CertifyConfig, args, prog)
    with progress_spinner() as progress:
        named = config.resolve(progress)
        name, rules, policy = named.name, named.rules, named.policy
        if name in OPPONENTS:
            policy = choices_policy(OPPONENTS[name].choices, rules, symmetric=True, progress=progress)
        folder = named.folder if named.folder is not None and name not in SHIPPED_FOLDERS else Path()
        output = config.output or folder / NAME
        check_output(output)
        play = certificate.unbeatable_play(policy, config.positions, name)
        checksum = None if named.folder is None else checksum_of_file(named.folder / MODEL)
        content = certificate.file_content(policy, play, checksum)
    if config.output is None:
        write_whole(output, content)
    else:
        write_output(output, content)
    say(f"CERTIFIED: {name} is unbeatable on {rules}; the certificate is in {output} ({len(content):,} bytes)")
    say("Check it with Python alone (you can copy this program; it imports nothing of ours):")
    print(f"  {shell_line('python', check_certificate.__file__, str(output))}")
