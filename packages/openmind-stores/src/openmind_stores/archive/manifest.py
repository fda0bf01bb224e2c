"""The manifest of an archive: what wrote it, in which layout, and how much is in it."""

import json
from collections.abc import Mapping
from typing import Any, Final

from openmind.domain.archives import FORMAT, VERSION, Manifest
from openmind.domain.errors import ArchiveDamaged
from openmind.domain.index import IndexIdentity
from openmind.domain.models import EmbedderIdentity

MOST_DIMENSIONS: Final = 65_536


def manifest_to_json(manifest: Manifest) -> str:
    """Write a manifest."""
    identity = manifest.identity
    return json.dumps(
        {
            "format": FORMAT,
            "version": VERSION,
            "written_by": manifest.written_by,
            "created_at": manifest.created_at,
            "index": identity
            and {
                "embedder": {
                    "provider": identity.embedder.provider,
                    "model": identity.embedder.model,
                    "revision": identity.embedder.revision,
                    "dimension": identity.embedder.dimension,
                    "prompt_version": identity.embedder.prompt_version,
                },
                "chunking": identity.chunking,
                "analyser": identity.analyser,
            },
            "counts": {
                "sources": manifest.sources,
                "files": manifest.files,
                "texts": manifest.texts,
                "passages": manifest.passages,
            },
        },
        indent=2,
    )


def manifest_from_json(text: bytes) -> Manifest:
    """Read a manifest.

    Raises:
        ArchiveDamaged: it is none, or a newer OpenMind's.
    """
    try:
        found = json.loads(text)
        if found["format"] != FORMAT:
            raise ArchiveDamaged("The file is no archive of OpenMind", hint="Choose one that `openmind export` wrote.")
        if found["version"] != VERSION:
            raise ArchiveDamaged(
                f"The archive was written by OpenMind {found['written_by']}, in a layout this version does not know",
                hint="Update OpenMind.",
            )
        index, counts = found["index"], found["counts"]
        return Manifest(
            written_by=str(found["written_by"]),
            created_at=str(found["created_at"]),
            identity=index and _identity(index),
            sources=int(counts["sources"]),
            files=int(counts["files"]),
            texts=int(counts["texts"]),
            passages=int(counts["passages"]),
        )
    except (ValueError, KeyError, TypeError) as error:
        raise ArchiveDamaged("The manifest of the archive makes no sense", hint="Export it once more.") from error


def _identity(index: Mapping[str, Any]) -> IndexIdentity:
    embedder = index["embedder"]
    if not 0 < int(embedder["dimension"]) <= MOST_DIMENSIONS:
        raise ValueError("no model makes such vectors")
    return IndexIdentity(
        embedder=EmbedderIdentity(
            provider=str(embedder["provider"]),
            model=str(embedder["model"]),
            revision=str(embedder["revision"]),
            dimension=int(embedder["dimension"]),
            prompt_version=int(embedder["prompt_version"]),
        ),
        chunking=int(index["chunking"]),
        analyser=int(index["analyser"]),
    )
