import pytest
from openmind.domain.errors import StoreDamaged, StoreError, StoreFull, StoreReadOnly
from openmind_stores.lance.errors import is_from_lance, is_lost_file, reading, translate, writing


class PanicException(BaseException):  # as pyo3 names it
    pass


SAYINGS = [
    ("LanceError(IO): No space left on device (os error 28), /home/runner/x.rs:1:2", StoreFull),
    ("LanceError(IO): File too large (os error 27), /home/runner/x.rs:1:2", StoreFull),
    ("Disk quota exceeded (os error 122)", StoreFull),
    ("Generic LocalFileSystem error: There is not enough space on the disk. (os error 112)", StoreFull),
    ('LanceError(IO): Permission denied (os error 13) at path "/x/.tmp1", /home/runner/x.rs:1:2', StoreReadOnly),
    ("Read-only file system (os error 30)", StoreReadOnly),
    ("Access is denied. (os error 5)", StoreReadOnly),
    ("Not found: /x/chunks.lance/data/0101.lance", StoreDamaged),
    ("Encountered corrupt file binary mini-block", StoreDamaged),
    ("Invalid user input: file does not appear to be a Lance file (invalid magic: [76])", StoreDamaged),
    ("Too many concurrent writers", StoreError),
]


@pytest.mark.parametrize(("said", "expected"), SAYINGS)
def test_what_fails_while_writing_is_told_by_its_text(said: str, expected: type[StoreError]) -> None:
    with pytest.raises(StoreError) as caught, writing("chunks"):
        raise RuntimeError(said)

    assert type(caught.value) is expected
    assert "chunks" in caught.value.message
    assert caught.value.hint
    assert isinstance(caught.value.__cause__, RuntimeError)


@pytest.mark.parametrize("said", ["anything at all", "LanceError(Arrow): Io error", ""])
def test_what_fails_while_reading_is_damage(said: str) -> None:
    with pytest.raises(StoreDamaged), reading("chunks"):
        raise OSError(said)


def test_a_panic_in_rust_is_damage() -> None:
    with pytest.raises(StoreDamaged), writing("chunks"):
        raise PanicException("called `Option::unwrap()` on a `None` value")


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(), MemoryError(), AssertionError(), TypeError()])
def test_what_does_not_come_from_lance_passes_through(error: BaseException) -> None:
    with pytest.raises(type(error)), reading("chunks"), writing("chunks"):
        raise error


@pytest.mark.parametrize(
    "said", ["External error: KeyboardInterrupt: ", "Detail: Traceback\n  raise\nKeyboardInterrupt\n"]
)
def test_ctrl_c_is_no_failure_of_lance_whatever_it_looks_like(said: str) -> None:
    assert not is_from_lance(ValueError(said))

    with pytest.raises(KeyboardInterrupt), reading("chunks"):
        raise ValueError(said)

    with pytest.raises(KeyboardInterrupt), writing("chunks"):
        raise OSError(said)


def test_our_own_errors_pass_through() -> None:
    with pytest.raises(StoreFull, match="As it was"), reading("chunks"), writing("chunks"):
        raise StoreFull("as it was")


def test_the_position_in_lances_sources_is_left_out() -> None:
    error = OSError("LanceError(IO): file size is too small, /home/runner/work/lance/rust/x.rs:190:9\nsecond line")

    assert translate("chunks", error, otherwise=StoreDamaged).message.endswith("file size is too small")


def test_a_lost_file_is_told_by_its_text_or_its_class() -> None:
    assert is_lost_file(OSError("Not found: chunks.lance/data/0.lance"))
    assert is_lost_file(FileNotFoundError())
    assert not is_lost_file(OSError("failed to fill whole buffer"))
