"""The demo tells what it promises."""

import re

from watcher.demo.story import play


def test_the_whole_story(tmp_path):
    """Five scenes: a quiet baseline, a fix for both variants, drift, a lost commit, and silence that is no alarm."""
    said: list[str] = []
    play(tmp_path / "demo", say=said.append)
    scenes = re.split(r"\n(?=\d\. )", "".join(said))[1:]
    assert 5 == len(scenes)
    baseline, fix, drift, lost, silent = scenes
    assert "no alert" in baseline
    assert "#12 “Do not release a handle twice when freeing paused memory” repairs what this pin ships" in fix
    assert "where   docker/Dockerfile:2 (cuda)" in fix
    assert "where   docker/Dockerfile.rocm:2 (rocm)" in fix
    assert "HIGH new: gpu-saver: cuda lacks fixes that the other variant has" in drift
    assert re.search(r"do +Bump cuda to [0-9a-f]{40}\.", drift)
    assert re.search(r"sm100 held it until .* then was forced from [0-9a-f]{12} to [0-9a-f]{12}", lost)
    assert "We keep a copy of the commit" in lost
    assert "no alert" in silent
    assert "not observed: https://git.example.org/acme/attn-kernels: the server answered 503" in silent
    assert (tmp_path / "demo" / "state" / "watcher.db").exists()
