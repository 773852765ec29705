"""One file through the commits of a branch, read from git and nothing else.

git is run with a list of arguments and no shell, pager or lock, its pathspecs are literal, and
nothing that the configuration of a repository names (a text conversion, an external diff, a
signature check, a fetch of what is missing) is run.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from memeval.errors import MemevalError, RunFileError, said

MOST_BYTES = 64 << 20
# What a hook sets for its own repository, and would send git to another one than that of the file.
_LOCAL = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR")
_QUIET = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
_OPTIONS = ("--no-pager", "-c", "core.quotepath=off", "-c", "core.fsmonitor=false")
# Also what a configuration would have changed: merges shown otherwise, no first commit.
_LOG = (
    "-c", "log.diffMerges=first-parent", "-c", "log.showRoot=true",
    "log", "--raw", "--no-abbrev", "--no-color", "--no-ext-diff", "--no-show-signature",
    "--format=%H %cI", "-m", "--first-parent",
)  # fmt: skip
_HEADER = re.compile(rb"([0-9a-f]{40,64}) (\S*)")
_FILES = ("100644", "100755")


@dataclass(frozen=True, slots=True)
class Tracked:
    """A file and the repository around it.

    Attributes
    ----------
    file : Path
        The file itself, links followed.
    top : Path
        Folder of the working tree.
    name : str
        Path of the file within it, with forward slashes.
    """

    file: Path
    top: Path
    name: str


@dataclass(frozen=True, slots=True)
class Version:
    """The file as one commit left it.

    Attributes
    ----------
    commit, at : str
        Full id, and time of the commit in UTC, ISO 8601; empty where git has none that is real.
    blob : str or None
        Id of the content; None where the commit removed it.
    mode : str
        As git has it: a file, a link, another repository.
    """

    commit: str
    at: str
    blob: str | None
    mode: str

    @property
    def is_file(self) -> bool:
        """Whether it is a file, not a link or a repository within."""
        return self.mode in _FILES


def tracked(
    path: str | os.PathLike[str], repository: str | os.PathLike[str] | None = None
) -> Tracked:
    """Find the repository of a file, which need not be there any more.

    Parameters
    ----------
    path : str or path-like
        The file, relative to `repository` where that is given.
    repository : str or path-like, optional
        A folder of the repository; by default the one that the file lies in.

    Returns
    -------
    Tracked
        Where it stands.

    Raises
    ------
    MemevalError
        If git is not installed, there is no repository, or the file lies outside of it.
    """
    shown = os.fsdecode(path)
    try:
        file = Path(os.path.realpath(Path(repository or ".", path)))
    except ValueError as error:
        raise MemevalError(f"{shown!r} is no path ({error}); name a file") from error
    folder = Path(repository) if repository is not None else file.parent
    if not folder.is_dir() and repository is not None:
        raise MemevalError(f"{folder}: found no folder, wanted one of a git repository; name it")
    while not folder.is_dir():
        folder = folder.parent
    try:
        top = Path(os.fsdecode(_git(folder, "rev-parse", "--show-toplevel").removesuffix(b"\n")))
    except RunFileError as error:
        raise MemevalError(
            f"{shown}: found no git repository around {folder} ({error}), wanted one, for the "
            "history is that of the commits; name a file of a working tree"
        ) from error
    top = Path(os.path.realpath(top))
    if top not in file.parents:
        raise MemevalError(
            f"{shown}: lies outside of the repository {top}; name a file in it, or another "
            "repository"
        )
    return Tracked(file, top, file.relative_to(top).as_posix())


def versions(found: Tracked, *, most: int | None = None, since: str | None = None) -> list[Version]:
    """Commits of the present branch that touched the file, newest first.

    Parameters
    ----------
    found : Tracked
        Which file.
    most : int, optional
        The newest so many.
    since : str, optional
        Only commits after this one.

    Returns
    -------
    list of Version
        Along first parents: what a merge brought counts at the merge, as the branch saw it.
        Renames are followed; a copy is where a file begins. Empty on a branch without commits.

    Raises
    ------
    MemevalError
        If git cannot walk them.
    """
    if not _has_commits(found.top):
        return []
    limit = [] if most is None else [f"--max-count={most}"]
    walk = "HEAD" if since is None else f"{since}..HEAD"
    try:
        out = _git(found.top, *_LOG, "--follow", *limit, walk, "--", found.name)
    except RunFileError as error:
        raise MemevalError(
            f"{found.name}: git could not walk its commits ({error}); see what git fsck says, "
            "and whether the clone is complete"
        ) from error
    return list(_parsed(out))


def _parsed(out: bytes) -> Iterator[Version]:
    commit, at = "", ""
    for line in out.split(b"\n"):
        header = _HEADER.fullmatch(line)
        if header:
            commit, at = header[1].decode(), _utc(header[2].decode("ascii", "replace"))
        elif line.startswith(b":"):
            _, mode, _, blob, what = line.partition(b"\t")[0].decode("ascii").split(" ")
            yield Version(commit, at, None if what == "D" else blob, mode)
            if what.startswith("C"):  # what follows is the history of another file
                return


def _utc(moment: str) -> str:
    try:
        return datetime.fromisoformat(moment).astimezone(UTC).isoformat()
    except (ValueError, OverflowError):
        return ""


def is_shallow(found: Tracked) -> bool:
    """Whether the clone lacks commits that the repository has."""
    return _git(found.top, "rev-parse", "--is-shallow-repository").strip() == b"true"


def _has_commits(top: Path) -> bool:
    try:
        _git(top, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
    except RunFileError:
        return False
    return True


@contextmanager
def contents(found: Tracked) -> Iterator[Callable[[Version], bytes]]:
    """Give a reader of versions; one git process reads them all.

    The reader raises `RunFileError` with the cause where a version cannot be had.
    """
    command = ["git", "-C", os.fspath(found.top), *_OPTIONS, "cat-file", "--batch"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        env=_environment(),
    ) as process:  # fmt: skip
        yield lambda version: _content(process, version)


def _content(process: subprocess.Popen[bytes], version: Version) -> bytes:
    if process.stdin is None or process.stdout is None or version.blob is None:
        raise RunFileError("the commit removed it")
    if not version.is_file:
        raise RunFileError("is no file there, but a link or another repository")
    try:
        process.stdin.write(version.blob.encode() + b"\n")
        process.stdin.flush()
    except OSError as error:
        raise RunFileError("git has ended before it could be read") from error
    fields = process.stdout.readline().split()
    if len(fields) != 3:
        raise RunFileError("git does not have its content here; fetch the repository in full")
    size = int(fields[2])
    if size > MOST_BYTES:
        left = size + 1
        while left and (read := len(process.stdout.read(min(left, 1 << 20)))):
            left -= read
        raise RunFileError(f"has {size >> 20} MB, wanted a results file")
    return process.stdout.read(size + 1)[:size]


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name not in _LOCAL} | _QUIET


def _git(folder: Path, *arguments: str) -> bytes:
    """Output of one git command; RunFileError in git's words where it fails."""
    command = ["git", "-C", os.fspath(folder), *_OPTIONS, *arguments]
    try:
        done = subprocess.run(
            command, capture_output=True, check=False, stdin=subprocess.DEVNULL, env=_environment()
        )
    except OSError as error:
        raise MemevalError(
            f"git could not be started ({said(error)}), wanted it for the history of a file; "
            "install git, and see that it is on the PATH"
        ) from error
    if done.returncode:
        words = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise RunFileError(words[0] if words else f"git ended with {done.returncode}")
    return done.stdout
