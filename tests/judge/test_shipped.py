"""What is a path for?"""

import pytest

from watcher.judge.shipped import Role, Scope, concerns, is_shipped, role, variant_of

SOURCE, BUILD, TEST, DOCS, TOOLING, VENDORED = Role


@pytest.mark.parametrize(
    ("path", "answer"),
    [
        ("csrc/core.cpp", SOURCE),
        ("csrc/kernels/pool.cu", SOURCE),
        ("csrc/kernels/pool.cuh", SOURCE),
        ("src/lib.rs", SOURCE),
        ("python/project/__init__.py", SOURCE),
        ("project/ops/attention.py", SOURCE),
        ("include/pool.h", SOURCE),
        ("core.go", SOURCE),
        ("project/testing_tools.py", SOURCE),
        ("project/latest.py", SOURCE),
        ("project/contest.py", SOURCE),
        ("project/security.py", SOURCE),
        ("src/history.c", SOURCE),
        ("src/news/feed.py", SOURCE),
        ("src/tools/convert.py", SOURCE),
        ("src/latest/convert.py", SOURCE),
        ("lib/mock/agent.js", SOURCE),
        ("src/examples.py", SOURCE),
        ("documentation.py", SOURCE),
        ("setup.py", BUILD),
        ("pyproject.toml", BUILD),
        ("python/pyproject.toml", BUILD),
        ("CMakeLists.txt", BUILD),
        ("csrc/CMakeLists.txt", BUILD),
        ("cmake/FindCUDA.cmake", BUILD),
        (".gitmodules", BUILD),
        ("requirements.txt", BUILD),
        ("tests/test_pool.py", TEST),
        ("tests/data/pool.bin", TEST),
        ("tests/CMakeLists.txt", TEST),
        ("tests/requirements.txt", TEST),
        ("csrc/test/pool.cpp", TEST),
        ("project/test_pool.py", TEST),
        ("project/pool_test.go", TEST),
        ("project/pool.test.ts", TEST),
        ("project/pool.spec.ts", TEST),
        ("packages/pool/src/__tests__/pool.ts", TEST),
        ("packages/pool/src/__mocks__/net.ts", TEST),
        ("packages/pool/e2e/start.ts", TEST),
        ("packages/integration-tests/run.ts", TEST),
        ("src/ast/fixtures/list.ts", TEST),
        ("pkg/testutil/assert.go", TEST),
        ("conftest.py", TEST),
        ("fuzz/fuzz_targets/a.rs", TEST),
        ("docs/index.md", DOCS),
        ("docs/conf.py", DOCS),
        ("docs/requirements.txt", DOCS),
        ("README.md", DOCS),
        ("README", DOCS),
        ("LICENSE", DOCS),
        ("LICENSE-MIT", DOCS),
        ("COPYING.LESSER", DOCS),
        ("Changes", DOCS),
        ("CHANGES/12.bugfix.rst", DOCS),
        ("news/12.bugfix", DOCS),
        ("SECURITY.md", DOCS),
        ("assets/logo.png", DOCS),
        (".github/workflows/test.yml", TOOLING),
        (".claude/settings.json", TOOLING),
        (".claude/skills/src/run.py", TOOLING),
        (".pre-commit-config.yaml", TOOLING),
        (".clang-format", TOOLING),
        ("Makefile", TOOLING),
        ("Dockerfile", TOOLING),
        ("Dockerfile.rocm", TOOLING),
        ("docker/Dockerfile", TOOLING),
        ("docker/patch/pool.py", TOOLING),
        ("scripts/release.sh", TOOLING),
        ("benchmarks/pool.py", TOOLING),
        ("examples/setup.py", TOOLING),
        ("playground/app/index.js", TOOLING),
        ("uv.lock", TOOLING),
        ("CODEOWNERS", TOOLING),
        ("third_party/cutlass", VENDORED),
        ("third_party/cutlass/include/a.h", VENDORED),
        ("csrc/3rdparty/a.c", VENDORED),
        ("third_party/x/CMakeLists.txt", VENDORED),
        ("vendor/github.com/a/b.go", VENDORED),
    ],
)
def test_roles(path, answer):
    """A path's role is told by its folders, then by its name."""
    assert answer is role(path)
    assert (answer in {SOURCE, BUILD}) is is_shipped(path)


@pytest.mark.parametrize(
    ("path", "globs", "answer"),
    [
        ("csrc/core.cpp", ("csrc/**",), True),
        ("csrc/deep/er/core.cpp", ("csrc/**",), True),
        ("csrc", ("csrc/**",), False),
        ("other/csrc/core.cpp", ("csrc/**",), False),
        ("tests/test_pool.py", ("tests/**",), True),
        ("src/core.cpp", ("csrc/**",), False),
        ("csrc/core.cpp", ("csrc/*",), True),
        ("csrc/deep/core.cpp", ("csrc/*",), False),
        ("setup.py", ("**/setup.py",), True),
        ("python/setup.py", ("**/setup.py",), True),
        ("python/a/b.pyi", ("*.py", "python/**/*.pyi"), True),
        ("setup.py", ("setup?py",), True),
        ("setuppy", ("setup.py",), False),
        ("csrc/a.cu", ("csrc/*.[ch]u",), True),
    ],
)
def test_configured_globs_alone_decide(path, globs, answer):
    """Where globs are configured, they say what is shipped, tests and docs included."""
    assert answer is is_shipped(path, Scope(paths=globs))


@pytest.mark.parametrize(
    ("path", "answer"),
    [
        ("csrc/hardware_amd_support.cpp", "rocm"),
        ("csrc/hip/pool.cpp", "rocm"),
        ("csrc/pool.hip", "rocm"),
        ("csrc/pool_hip.cpp", "rocm"),
        ("csrc/HipPool.cpp", "rocm"),
        ("csrc/hipGraphPool.h", "rocm"),
        ("csrc/ROCmPool.cpp", "rocm"),
        ("csrc/ROCM_pool.cpp", "rocm"),
        ("project/rocm.py", "rocm"),
        ("csrc/cuda/pool.cpp", "cuda"),
        ("csrc/CUDAGraph.cpp", "cuda"),
        ("csrc/cuda12/pool.cpp", "cuda"),
        ("project/nvidia_pool.py", "cuda"),
        ("project/npu/pool.py", "npu"),
        ("project/ascend.py", "npu"),
        ("project/xpu_pool.cpp", "xpu"),
        ("csrc/core.cpp", None),
        ("csrc/pool.cu", None),
        ("csrc/chip.cpp", None),
        ("csrc/ship.cpp", None),
        ("csrc/Relationship.h", None),
        ("csrc/chipset/whip.py", None),
        ("csrc/CHIP.h", None),
        ("build/amd64/pool.s", None),
        ("build/AMD64.s", None),
        ("linux-amd64.mk", None),
        ("csrc/cpu_backup.h", None),
        ("csrc/hip_and_cuda.h", None),
        ("csrc/cuda/hip_compat.h", None),
        ("csrc/barracuda.h", None),
        ("csrc/scanner.c", None),
        ("", None),
    ],
)
def test_variants(path, answer):
    """A path is for one variant where a whole word of it says so, and shared where two do or none."""
    assert answer == variant_of(path)


@pytest.mark.parametrize(
    ("path", "variants"),
    [
        ("csrc/core.cpp", {"any", "cuda", "rocm", "npu", "cpu", "our own"}),
        ("csrc/cpu_backup.h", {"any", "cuda", "rocm", "npu", "cpu", "our own"}),
        ("csrc/hip/core.cpp", {"any", "rocm"}),
        ("csrc/cuda/core.cpp", {"any", "cuda", "rocm"}),
        ("csrc/npu/core.cpp", {"any", "npu"}),
    ],
)
def test_which_pins_a_path_concerns(path, variants):
    """A variant's file concerns its own pins and those of no variant; CUDA code may be translated for ROCm."""
    every = {"any", "cuda", "rocm", "npu", "cpu", "our own"}
    assert variants == {variant for variant in every if concerns(path, variant)}


@pytest.mark.parametrize(
    ("path", "answer"),
    [
        ("backend/amd/lower.cpp", None),
        ("lib/gfx/lower.cpp", "rocm"),
        ("csrc/cuda/core.cpp", "cuda"),
        ("csrc/core.cpp", None),
    ],
)
def test_configured_variants_come_before_names(path, answer):
    """Where globs say whose a path is, its name does not matter; `any` makes it everybody's."""
    scope = Scope(variants={"rocm": ("lib/gfx/**",), "any": ("backend/**",)})
    assert answer == variant_of(path, scope)
    assert (answer in {None, "rocm", "cuda"}) is concerns(path, "rocm", scope)
    assert (answer != "rocm") is concerns(path, "cuda", scope)
