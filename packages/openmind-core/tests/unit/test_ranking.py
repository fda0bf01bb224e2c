from hypothesis import given, settings
from hypothesis import strategies as st
from openmind.domain.chunks import ChunkKey
from openmind.domain.ids import FileId, Generation
from openmind.domain.ranking import Ranked, arrange


def ranked(file: str, index: int, score: float, passage: int) -> Ranked:
    key = ChunkKey(generation=Generation(1), file_id=FileId(file), index=index)
    return Ranked(key=key, score=score, path=f"/{file}.txt", passage=passage)


def shown(chosen: tuple[Ranked, ...]) -> list[tuple[str, int]]:
    return [(one.path, one.key.index) for one in chosen]


def test_the_best_come_first_and_equal_ones_by_path_and_place() -> None:
    one, two, three = ranked("b", 1, 0.5, 1), ranked("b", 0, 0.5, 2), ranked("a", 9, 0.5, 3)

    chosen = arrange([one, two, three, ranked("c", 0, 0.9, 4)], limit=10, per_file=0)

    assert shown(chosen) == [("/c.txt", 0), ("/a.txt", 9), ("/b.txt", 0), ("/b.txt", 1)]


def test_equal_passages_are_one_hit_that_names_the_other_places() -> None:
    twin = [ranked("a", 0, 0.9, 7), ranked("b", 0, 0.8, 7), ranked("c", 3, 0.7, 7), ranked("d", 0, 0.6, 8)]

    chosen = arrange(twin, limit=2, per_file=3)

    assert shown(chosen) == [("/a.txt", 0), ("/d.txt", 0)]
    assert chosen[0].also_at == ("/b.txt", "/c.txt")
    assert chosen[1].also_at == ()


def test_other_places_of_a_passage_begin_with_those_in_the_fewest_folders() -> None:
    twins = [ranked(name, 0, score, 7) for name, score in (("z", 0.9), ("deep/er/a", 0.8), ("b", 0.5), ("sub/a", 0.7))]

    [hit] = arrange(twins, limit=5, per_file=3)

    assert (hit.path, hit.also_at) == ("/z.txt", ("/b.txt", "/sub/a.txt", "/deep/er/a.txt"))


def test_a_passage_that_a_file_repeats_names_no_other_place() -> None:
    [only] = arrange([ranked("a", 0, 0.9, 7), ranked("a", 4, 0.8, 7)], limit=5, per_file=3)

    assert only.also_at == ()


def test_one_file_gives_only_so_many_hits() -> None:
    crowd = [ranked("a", index, 0.9, index) for index in range(9)]

    assert shown(arrange([*crowd, ranked("b", 0, 0.1, 99)], limit=5, per_file=2)) == [
        ("/a.txt", 0),
        ("/a.txt", 1),
        ("/b.txt", 0),
    ]
    assert len(arrange(crowd, limit=5, per_file=0)) == 5


@settings(deadline=None, max_examples=100)
@given(
    st.lists(
        st.builds(
            ranked, st.sampled_from("abc"), st.integers(0, 5), st.sampled_from([0.1, 0.5, 0.9]), st.integers(0, 4)
        ),
        unique_by=lambda one: one.key,
    ),
    st.integers(1, 6),
    st.integers(0, 3),
    st.randoms(use_true_random=False),
)
def test_the_order_of_the_candidates_does_not_matter(scored, limit, per_file, random) -> None:  # type: ignore[no-untyped-def]
    chosen = arrange(scored, limit=limit, per_file=per_file)
    shuffled = random.sample(scored, len(scored))

    assert arrange(shuffled, limit=limit, per_file=per_file) == chosen
    assert len(chosen) <= limit
    assert len({one.passage for one in chosen}) == len(chosen)
