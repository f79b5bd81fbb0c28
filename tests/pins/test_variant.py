"""The accelerator that names tell."""

import pytest

from watcher.pins.variant import variant_in, variant_of


@pytest.mark.parametrize(
    ("name", "variant"),
    [
        ("Dockerfile.rocm_base", "rocm"),
        ("cu130-x86_64", "cuda"),
        ("attn_commit_rocm", "rocm"),
        ("gfx950", "rocm"),
        ("NVTE_USE_HIP", "rocm"),
        ("Ascend910", "npu"),
        ("gaudi2", "hpu"),
        ("requirements-xpu.txt", "xpu"),
        ("Dockerfile", "any"),
        ("ship", "any"),
        ("chip_set", "any"),
        ("cuda_and_rocm", "any"),
        ("amd64", "any"),
    ],
)
def test_a_name(name, variant):
    """Only a word of its own tells, and only one that no other contradicts."""
    assert variant == variant_in(name)


def test_the_nearest_name_wins():
    """A condition says more than the file, the file more than its folders."""
    assert "rocm" == variant_of(["$GPU = rocm"], "docker/Dockerfile.cuda")
    assert "cuda" == variant_of(["$A = 1"], "rocm/Dockerfile.cuda")
    assert "rocm" == variant_of([], "rocm/Dockerfile")
