"""The configuration: its defaults are its documentation."""

from attrs import field, frozen, validators

from openmind.domain.plugins import names_blocked

Section = dict[str, object]


@frozen(kw_only=True)
class ModelsConfig:
    """`[models]`: which models are used."""

    chat_model: str | None = None
    """Key of the chat model; without one, `ask` shows excerpts."""
    embedding_model: str = field(default="builtin", validator=validators.min_len(1))
    """Key of the embedding model; `builtin` is the embedder that comes with OpenMind."""


@frozen(kw_only=True)
class IndexingConfig:
    """`[indexing]`: how files become memory."""

    auto_start_after_setup: bool = True
    """Whether `openmind setup` starts indexing."""
    background: bool = True
    """Whether it does so in the background."""
    max_file_mb: int = field(default=100, validator=[validators.ge(1), validators.le(4_096)])
    """Larger files are skipped with a reason."""
    workers: int = field(default=0, validator=[validators.ge(0), validators.le(64)])
    """Worker processes; 0 takes as many as there are processors, at most 4."""
    ignore: tuple[str, ...] = ()
    """More patterns, as in `.gitignore`, that are left out of every source."""


@frozen(kw_only=True)
class OcrConfig:
    """`[extraction.ocr]`: reading scanned pages and pictures."""

    enabled: bool = True
    backend: str = "rapidocr"
    """`rapidocr` or `ocrmypdf`, or the name of an engine from a plugin."""
    min_text_chars_per_page: int = field(default=80, validator=[validators.ge(0), validators.le(10_000)])
    """A PDF page with less text than this is read by OCR."""


@frozen(kw_only=True)
class ImagesConfig:
    """`[extraction.images]`: pictures."""

    enabled: bool = True
    model: str | None = None
    """Key of a model that sees; without one, pictures keep OCR text and metadata."""
    ocr_enabled: bool = True
    max_new_tokens: int = field(default=220, validator=[validators.ge(16), validators.le(4_096)])
    keep_gps: bool = False
    """Whether the place where a photo was taken is kept."""


@frozen(kw_only=True)
class ExtractionConfig:
    """`[extraction]`."""

    ocr: OcrConfig = OcrConfig()
    images: ImagesConfig = ImagesConfig()


@frozen(kw_only=True)
class StorageConfig:
    """`[storage]`: where memory is kept."""

    name: str = field(default="local", validator=validators.min_len(1))
    """`local`, or the name of a storage from a plugin. Another one begins with an empty memory; what the former one
    holds stays where it is."""


def _with_blocked(plugins: Section) -> Section:
    return {"blocked": [], **plugins}


def _check_plugins(_: object, __: object, plugins: Section) -> None:
    blocked = plugins["blocked"]
    if not isinstance(blocked, list) or not all(isinstance(name, str) for name in blocked):
        raise TypeError(f"plugins.blocked must be a list of names, not {blocked!r}")
    for name, section in plugins.items():
        if name != "blocked" and not isinstance(section, dict):
            raise TypeError(f"plugins.{name} must be a section, not {section!r}")


def _check_provider(_: object, __: object, provider: Section) -> None:
    name = provider.get("name", "builtin")
    if not isinstance(name, str):
        raise TypeError(f"provider.name must be text in quotes, not {name!r}")


@frozen(kw_only=True)
class Config:
    """Everything a person can set in `config.toml`.

    `provider` and `plugins` are kept as they were written: each belongs to the plugin it names, which reads it
    strictly.
    """

    provider: Section = field(factory=lambda: {"name": "builtin"}, validator=_check_provider)
    """`[provider]`: `name`, and what that provider wants to know."""
    models: ModelsConfig = ModelsConfig()
    indexing: IndexingConfig = IndexingConfig()
    extraction: ExtractionConfig = ExtractionConfig()
    storage: StorageConfig = StorageConfig()
    plugins: Section = field(factory=dict, converter=_with_blocked, validator=_check_plugins)
    """`[plugins]`: `blocked`, names of plugins that are left out, and `[plugins.NAME]` for each that has settings."""

    @property
    def provider_name(self) -> str:
        return str(self.provider.get("name", "builtin"))

    @property
    def blocked_plugins(self) -> frozenset[str]:
        """Names of plugins, or of packages, that are left out."""
        return names_blocked(self.plugins)

    @property
    def provider_settings(self) -> Section:
        return {key: value for key, value in self.provider.items() if key != "name"}
