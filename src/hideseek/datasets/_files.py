"""Find the published files: in a folder of the user, else in the cache, else at the public address."""

from __future__ import annotations

import hashlib
import logging
import os
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path

from hideseek.errors import DataError
from hideseek.extras import import_extra

__all__ = ["PublishedFile", "read_published"]

_VARIABLE = "HIDESEEK_DATA"
_RETRIES = 3
_TIMEOUT_SECONDS = 30.0


@dataclass(frozen=True)
class PublishedFile:
    """A published file, identified by its checksum.

    Attributes:
        path: Its path within the user's folder and within the cache.
        sha256: Checksum of the file itself.
        url: Its public address, or that of the archive it is in.
        member: Its name inside the archive; empty if it is not in an archive.
        archive_sha256: Checksum of the archive.
    """

    path: str
    sha256: str
    url: str
    member: str = ""
    archive_sha256: str = ""


def read_published(file: PublishedFile) -> bytes:
    """Return the content of a published file, with its checksum verified.

    If the environment variable HIDESEEK_DATA names a folder, only that folder is searched. Otherwise the file comes
    from the user's cache, and is downloaded if it is missing or damaged there.
    """
    folder = os.environ.get(_VARIABLE)
    path = _provided(file, Path(folder).expanduser()) if folder else _downloaded(file)
    content = path.read_bytes() if folder or not file.member else _unpacked(path, file.member)
    if hashlib.sha256(content).hexdigest() != file.sha256:
        raise DataError(
            f"{path} is not the published file, whose sha256 is {file.sha256}: replace it with the one from {file.url}"
        )
    return content


def _provided(file: PublishedFile, folder: Path) -> Path:
    path = folder / file.path
    if not path.is_file():
        raise DataError(
            f"{_VARIABLE} is {folder}, which does not contain {file.path}: put the file from {file.url} there, "
            f"or unset {_VARIABLE} to download it"
        )
    return path


def _downloaded(file: PublishedFile) -> Path:
    """Return the path of the download in the cache; an incomplete or wrong file never gets this name."""
    otherwise = f", or set {_VARIABLE} to a folder that has the file"
    pooch = import_extra("pooch", "data", f"downloading {file.path} needs pooch", otherwise=otherwise)
    name = f"{file.path}.tgz" if file.member else file.path
    cache = pooch.create(
        path=pooch.os_cache("hideseek"),
        base_url="",
        registry={name: f"sha256:{file.archive_sha256 or file.sha256}"},
        urls={name: file.url},
        retry_if_failed=_RETRIES,
    )
    logger = pooch.get_logger()
    level = logger.level
    logger.setLevel(logging.WARNING)  # a terminal shows a progress bar; elsewhere nothing is printed
    try:
        downloader = pooch.HTTPDownloader(progressbar=sys.stderr.isatty(), timeout=_TIMEOUT_SECONDS)
        return Path(cache.fetch(name, downloader=downloader))
    except (OSError, ValueError) as error:
        raise DataError(
            f"{file.path} could not be downloaded from {file.url} ({type(error).__name__}): connect to the network and "
            f"try again, or set {_VARIABLE} to a folder that has {file.path}"
        ) from error
    finally:
        logger.setLevel(level)


def _unpacked(path: Path, member: str) -> bytes:
    with tarfile.open(path) as archive:
        stream = archive.extractfile(member)
        return stream.read() if stream else b""
