"""What is left out of every source by itself: hidden, noisy, temporary and secret files and folders."""

import re

HIDDEN = b"."

_NOISY_FOLDERS = frozenset(
    {
        # dependencies
        b"node_modules",
        b"bower_components",
        b"jspm_packages",
        b"site-packages",
        b"dist-packages",
        b"venv",
        b"virtualenv",
        b"pods",
        b"carthage",
        # caches and what tools generate
        b"__pycache__",
        b"__pypackages__",
        b"__macosx",
        b"deriveddata",
        b"xcuserdata",
        b"cmakefiles",
        # systems
        b"appdata",
        b"lost+found",
        b"$recycle.bin",
        b"system volume information",
    }
)
_BUILD_FOLDERS = frozenset({b"build", b"dist"})
"""Compared with case: `Build` is more likely a person's own folder."""

_PROJECT_FOLDERS = frozenset({b"target", b"out", b"bin", b"obj", b"vendor", b"coverage", b"htmlcov", b"env", b"deps"})
"""Ordinary words that mean generated or foreign files only beside one of `_PROJECT_FILES`."""

_PROJECT_FILES = frozenset(
    {
        b"package.json",
        b"pyproject.toml",
        b"setup.py",
        b"Cargo.toml",
        b"go.mod",
        b"pom.xml",
        b"build.gradle",
        b"build.gradle.kts",
        b"CMakeLists.txt",
        b"Makefile",
        b"composer.json",
        b"Gemfile",
        b"mix.exs",
    }
)

_BUNDLE_FOLDERS = (
    b".app",
    b".appex",
    b".bundle",
    b".framework",
    b".plugin",
    b".kext",
    b".xcassets",
    b".xcodeproj",
    b".xcworkspace",
    b".photoslibrary",
    b".photolibrary",
    b".musiclibrary",
    b".tvlibrary",
    b".imovielibrary",
    b".aplibrary",
    b".fcpbundle",
    b".lrdata",
    b".egg-info",
    b".dist-info",
    b".sparsebundle",
    b".backupdb",
)

_MARKERS = frozenset(
    {
        b".openmind-home",  # OpenMind's own folder
        b"CACHEDIR.TAG",
        b"pyvenv.cfg",
        # browser profiles
        b"places.sqlite",
        b"cookies.sqlite",
        b"key4.db",
        b"Login Data",
    }
)
"""A folder that holds one of these is never a person's own."""

_ACCOUNT_LIBRARY = frozenset({b"Keychains/", b"Application Support/"})
"""The `Library` of a macOS account holds these: keychains, browser profiles, caches."""

_TEMPORARY = re.compile(
    rb"~\$.*|\._.*|\.~lock\..*|~.*\.tmp|.*\.(tmp|temp|part|partial|crdownload|download|swp|swo)|.*~", re.S
)

_SECRET_FOLDERS = frozenset(
    {
        b".ssh",
        b".gnupg",
        b".aws",
        b".azure",
        b".kube",
        b".docker",
        b".password-store",
        b".gcloud",
        b".mozilla",
        b".thunderbird",
        b"keychains",
        b"keyrings",
    }
)
_SECRET_FILES = re.compile(
    rb".*\.(pem|key|p12|pfx|jks|keystore|kdbx?|ppk|keychain|keychain-db)"
    rb"|id_(rsa|dsa|ecdsa|ed25519|xmss)([._-].*)?|\.env.*|\.netrc|_netrc|\.pgpass|\.git-credentials|\.htpasswd",
    re.S,
)


def is_secret(name: bytes, *, folder: bool) -> bool:
    """Whether a name belongs to keys and passwords: only the configuration can bring it back."""
    name = name.lower()
    return name in _SECRET_FOLDERS if folder else _SECRET_FILES.fullmatch(name) is not None


def is_noise(name: bytes, *, folder: bool) -> bool:
    """Whether a name is hidden, temporary, or one that machines give to what they generate."""
    if name.startswith(HIDDEN):
        return True
    if not folder:
        return _TEMPORARY.fullmatch(name.lower()) is not None
    return name in _BUILD_FOLDERS or name.lower() in _NOISY_FOLDERS or name.lower().endswith(_BUNDLE_FOLDERS)


def generated_folders(names: list[bytes]) -> frozenset[bytes]:
    """Say which folder names mean generated files in a folder that holds `names`: none unless it is a project."""
    return frozenset() if _PROJECT_FILES.isdisjoint(names) else _PROJECT_FOLDERS


def is_foreign(names: list[bytes]) -> bool:
    """Whether a folder that holds `names` is a cache, a browser's profile, a `Library` or OpenMind's own home."""
    return not _MARKERS.isdisjoint(names) or _ACCOUNT_LIBRARY.issubset(names)
