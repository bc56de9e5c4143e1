"""Samples of what steps took."""

from planner_executor.graph.record.sample import Sample, latest


def test_the_latest_samples_are_kept() -> None:
    samples = [Sample(float(at), 1.0) for at in (*range(0, 50, 2), *range(1, 50, 2))]

    assert [sample.at for sample in latest(samples)] == [float(at) for at in range(49, 9, -1)]


def test_a_sample_is_read_again_to_the_millisecond() -> None:
    kept = Sample(1_000.12345, 2.98765, {"m": (10, 2)}).to_json()

    assert kept == [1_000.123, 2.988, {"m": [10, 2]}]
    assert Sample.from_json(kept) == Sample(1_000.123, 2.988, {"m": (10, 2)})
