"""The process in which `selfplay course --check` runs a student's code, so nothing that comes from it is trusted.

It reads a job from its input and writes one line to its output, both JSON. It is told no right answer.
"""

import json
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

if sys.platform != "win32":
    import resource

MEMORY = 4 << 30
"""Bytes of address space for a student's code, besides those that libraries take. macOS has no such limit."""


def limit_this_process() -> None:
    """Set limits on this process that only root can lift again."""
    for name in ("RLIMIT_FSIZE", "RLIMIT_NPROC", "RLIMIT_CORE"):  # bytes written to a file, new processes and threads
        resource.setrlimit(getattr(resource, name), (0, 0))
    if sys.platform == "linux":
        memory = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize() + MEMORY
        _, most = resource.getrlimit(resource.RLIMIT_AS)
        if most != resource.RLIM_INFINITY:
            memory = min(memory, most)
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))


def reply(job: Mapping[str, Any], limit: Callable[[], None] = limit_this_process) -> dict[str, Any]:
    """Run a student's blank between our own cells, and return the values of expressions, up to the first error."""
    names: dict[str, Any] = {"__name__": "__main__"}
    answers: list[Any] = []
    error = ""
    exec(job["before"], names)  # noqa: S102 (our cells)
    limit()
    try:
        exec(job["blank"], names)  # noqa: S102 (a student's cell, which is what this process is for)
        exec(job["after"], names)  # noqa: S102 (ours)
        for expression in job["expressions"]:
            answer = eval(expression, names)  # noqa: S307 (ours)
            answers.append(json.loads(json.dumps(answer, default=_to_list)))
    except Exception as raised:
        error = f"{type(raised).__name__}: {raised}"
    return {"answers": answers, "error": error}


def main() -> None:
    """Reply to the job, and keep what the student prints out of the reply."""
    output = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    print(json.dumps(reply(json.load(sys.stdin))), file=output, flush=True)


def _to_list(value: Any) -> Any:
    """Return a number or an array of NumPy or PyTorch as JSON can hold it."""
    return value.tolist()


if __name__ == "__main__":
    main()
