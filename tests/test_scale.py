"""Corpora of any size: the same result however it is measured, and nothing lost to what goes wrong."""

from __future__ import annotations

import itertools
import json
import os
import pickle
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import makers
import pytest
import scale_tasks

from corpora import Document
from tokalign.compare import compare, tuned
from tokalign.errors import TokalignError, UsageError
from tokalign.job import Job
from tokalign.result import Result, dumps
from tokalign.scale import TextSample, sample, survey
from tokalign.scale.estimate import Estimate
from tokalign.scale.shards import Shard, shards
from tokalign.scale.workers import Workers, cores

TEXTS = makers.polish_texts(16)
SHARD = 3_000  # bytes


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """cel.json, szkic.json (tokenizers), t.jsonl (16 documents)."""
    made = tmp_path_factory.mktemp("scale")
    makers.saved(makers.trained(TEXTS, 900), made / "cel.json")
    makers.saved(makers.trained(TEXTS, 700, "byte-level"), made / "szkic.json")
    rows = [json.dumps({"text": text}, ensure_ascii=False) for text in TEXTS]
    (made / "t.jsonl").write_text("\n".join(rows), encoding="utf-8")
    return made


@pytest.fixture(autouse=True)
def nothing_is_small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Even these texts are dealt to processes, and kept until the run is done."""
    monkeypatch.setattr(survey, "SMALL", 1)
    monkeypatch.setenv("TOKALIGN_CACHE", str(tmp_path / "cache"))


def job(folder: Path, **options) -> Job:
    chosen = {"cuts": 20, "offline": True, "shard_bytes": SHARD} | options
    return Job(
        target=str(folder / "cel.json"),
        drafts=(str(folder / "szkic.json"),),
        corpora=(str(folder / "t.jsonl"),),
        **chosen,
    )


def content(result: Result) -> str:
    """The result as text, without what depends on the clock, and without which encoder was used."""
    settings = tuple(replace(s, created="") for s in result.settings)
    pairs = tuple(replace(p, curve=p.curve.drop("host_us")) for p in result.pairs)
    target, *drafts = (replace(t, encoder=None) for t in (result.target, *result.drafts))
    plain = replace(result, created="", settings=settings, pairs=pairs, target=target, drafts=tuple(drafts))
    return dumps(plain)


@pytest.fixture(scope="module")
def whole(folder: Path) -> str:
    """What one process makes of one shard."""
    return content(compare(job(folder, workers=1, shard_bytes=10**9)))


def kept_files(tmp_path: Path) -> list[Path]:
    return [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]


# ---- shards and samples


def documents(sizes: list[int]) -> list[Document]:
    return [Document(f"d{i}", "ą" * (size // 2)) for i, size in enumerate(sizes)]


def test_shards_are_bounded_and_complete():
    given = documents([10, 20, 30, 1000, 10, 10])
    dealt = list(shards(given, 50))
    assert [[name for name, _ in shard.documents] for shard in dealt] == [
        ["d0", "d1", "d2"],
        ["d3"],
        ["d4", "d5"],
    ]
    assert [shard.number for shard in dealt] == [0, 1, 2] and [s.n_bytes for s in dealt] == [60, 1000, 20]
    assert [text for shard in dealt for _, text in shard.documents] == [d.text for d in given]
    assert list(shards([], 50)) == []
    assert dealt[0].where == "d0 to d2" and dealt[1].where == "d3"


def test_a_shard_is_known_by_its_content():
    def digest(*parts: tuple[str, str]) -> str:
        return next(shards([Document(*part) for part in parts])).digest

    assert digest(("a", "bc")) == digest(("a", "bc"))
    assert (
        len({digest(("a", "bc")), digest(("ab", "c")), digest(("a", "b"), ("c", "d")), digest(("a", "bd"))})
        == 4
    )


def drawn(texts: list[str]) -> TextSample:
    made = TextSample()
    assert [d.text for d in made.watch(Document(str(i), t) for i, t in enumerate(texts))] == texts
    return made


def test_a_small_corpus_is_its_own_sample():
    made = drawn(TEXTS)
    assert made.whole and made.texts == TEXTS and made.n_bytes == sum(len(t.encode()) for t in TEXTS)


def test_the_sample_of_a_large_corpus_depends_on_its_texts_alone(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sample, "WHOLE_BYTES", 20_000)
    monkeypatch.setattr(sample, "SAMPLE_BYTES", 8_000)
    monkeypatch.setattr(sample, "_LONGEST", 2_000)
    source = random.Random(1)
    texts = ["ż" * source.randrange(1, 400) + str(i) for i in range(300)] + ["x" * 9000] + ["dwa razy"] * 2
    found = drawn(texts)
    assert not found.whole and 6_000 < found.n_bytes <= 8_000
    assert found.n_bytes == sum(len(t.encode()) for t in found.texts)
    for _ in range(20):
        source.shuffle(texts)
        assert drawn(texts).texts == found.texts


def test_the_sample_is_told_and_kept(folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sample, "WHOLE_BYTES", 5_000)
    monkeypatch.setattr(sample, "SAMPLE_BYTES", 4_000)
    said: list[str] = []
    found = compare(job(folder, workers=1), notify=said.append)
    curve = found.corpora[0].curve
    assert curve is not None and curve.documents < 16 and curve.bytes <= 4_000
    assert any(f"a sample of {curve.documents} documents" in sentence for sentence in said)
    assert found.settings[0].chosen == tuned(job(folder)).settings.chosen  # type: ignore[union-attr]


# ---- the same result, however it is measured


@pytest.mark.parametrize(("workers", "shard_bytes"), [(0, 1), (1, SHARD), (2, SHARD), (3, 9_000)])
def test_workers_and_shards_change_nothing(
    folder: Path, whole: str, tmp_path: Path, workers: int, shard_bytes: int
):
    assert content(compare(job(folder, workers=workers, shard_bytes=shard_bytes))) == whole
    assert not kept_files(tmp_path)


def test_progress_grows_to_the_whole(folder: Path):
    seen: list[float] = []
    compare(job(folder, workers=2), progress=lambda _, share: seen.append(share))
    assert seen == sorted(seen) and seen[-1] == pytest.approx(1)


def test_a_large_corpus_is_announced(folder: Path):
    said: list[str] = []
    compare(job(folder, workers=2), announce=said.append)
    assert len(said) == 1 and said[0].startswith("t.jsonl: about ") and "2 workers measure" in said[0]


def test_estimates_in_words():
    half = Estimate(1_000_000, 50, 0.5, 500_000.0, 2)
    said = "about 2 MB of text in 100 documents; 2 workers measure 0.50 MB a second, so about 4 s in all"
    assert str(half) == said
    assert "size of the corpus is not known; one process measures" in str(replace(half, share=None, workers=1))


# ---- workers that die


def dealt(n: int = 12) -> list[Shard]:
    return list(shards(documents([10] * n), 1))


def outcomes(workers: Workers, given: list[Shard]) -> list[tuple[int, int | None]]:
    try:
        found = [
            (o.shard.number, None if o.result is None else pickle.loads(o.result))
            for o in workers.run(iter(given))
        ]
    finally:
        workers.close()
    return sorted(found, key=lambda each: each[0])


def test_a_worker_that_dies_is_replaced(tmp_path: Path):
    said: list[str] = []
    found = outcomes(Workers(scale_tasks.Count(str(tmp_path), "d5", 2), 2, said.append), dealt())
    assert found == [(number, 1) for number in range(12)]
    assert (
        len(said) == 2 and "was killed by signal 9" in said[0] and "documents d5 are measured again" in said[0]
    )


def test_a_shard_that_ends_every_worker_is_left_out(tmp_path: Path):
    found = outcomes(Workers(scale_tasks.Count(str(tmp_path), "d5"), 2, lambda _: None), dealt())
    assert found == [(number, None if number == 5 else 1) for number in range(12)]
    assert len(list(tmp_path.iterdir())) == 3


def test_workers_that_cannot_begin_are_one_sentence():
    with pytest.raises(
        TokalignError, match=r"3 workers ended with status 7 before they could begin: give fewer"
    ):
        outcomes(Workers(scale_tasks.Unprepared("die"), 2, lambda _: None), dealt())
    with pytest.raises(TokalignError, match="nothing is as it was") as caught:
        outcomes(Workers(scale_tasks.Unprepared("refuse"), 2, lambda _: None), dealt())
    assert caught.value.exit_code == 2


def test_few_shards_are_read_ahead(tmp_path: Path):
    taken = 0

    def counted():
        nonlocal taken
        for shard in dealt(40):
            taken += 1
            yield shard

    workers = Workers(scale_tasks.Count(str(tmp_path)), 2, lambda _: None)
    try:
        for done, _ in enumerate(workers.run(counted()), start=1):
            assert taken - done <= 4
    finally:
        workers.close()


def test_a_killed_worker_changes_no_result(folder: Path, whole: str, monkeypatch: pytest.MonkeyPatch):
    made: list[Workers] = []

    class Watched(Workers):
        def __init__(self, *arguments) -> None:
            super().__init__(*arguments)
            made.append(self)

    monkeypatch.setattr(survey, "Workers", Watched)
    said: list[str] = []
    killed: list[int] = []

    def kill(what: str, share: float) -> None:
        if not killed and made and "measuring" in what and share > 0.1:
            killed.append(made[0].processes[0])
            os.kill(killed[0], signal.SIGKILL)

    assert content(compare(job(folder, workers=2, shard_bytes=2_000), kill, said.append)) == whole
    assert killed


def test_what_ends_three_workers_is_named_counted_and_told(folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(survey, "Recipe", scale_tasks.Poisoned)
    said: list[str] = []
    found = compare(job(folder, workers=2, shard_bytes=1), notify=said.append)
    lost = found.corpora[0].skipped[0]
    assert (lost.kind, lost.where, lost.count) == ("document of a part that ended 3 workers", "t.jsonl:3", 1)
    assert any(sentence.startswith("ATTENTION: 1 document is in no figure (t.jsonl:3)") for sentence in said)
    parts = found.pairs[0].quality.filter(check="documents")
    assert parts["documents"].item() == 15 and found.corpora[0].documents == 16


# ---- interrupted and resumed


def interrupted(folder: Path, **options) -> KeyboardInterrupt:
    def stop(what: str, share: float) -> None:
        if share > 0.25:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        compare(job(folder, **options), stop)
    return caught.value


@pytest.mark.parametrize("workers", [1, 2])
def test_an_interrupted_run_is_resumed(folder: Path, whole: str, tmp_path: Path, workers: int):
    error = interrupted(folder, workers=workers)
    kept = len(kept_files(tmp_path))
    assert kept and f"{kept} finished part" in error.__notes__[0] and "--resume" in error.__notes__[0]
    said: list[str] = []
    assert content(compare(job(folder, workers=workers, resume=True), notify=said.append)) == whole
    assert any(sentence.startswith(f"t.jsonl: {kept} part") and "run before" in sentence for sentence in said)
    assert not kept_files(tmp_path)


def test_a_changed_part_is_measured_again(folder: Path, tmp_path: Path):
    for name in ("cel.json", "szkic.json", "t.jsonl"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    interrupted(tmp_path, workers=1)
    kept = len(kept_files(tmp_path))
    changed = TEXTS[0].replace("a", "e")
    rows = [json.dumps({"text": text}, ensure_ascii=False) for text in [changed, *TEXTS[1:]]]
    (tmp_path / "t.jsonl").write_text("\n".join(rows), encoding="utf-8")
    said: list[str] = []
    found = content(compare(job(tmp_path, workers=1, resume=True), notify=said.append))
    taken = [sentence for sentence in said if "finished by the run before" in sentence]
    assert kept == 1 or taken[0].startswith(f"t.jsonl: {kept - 1} part")
    assert found == content(compare(job(tmp_path, workers=1)))


def test_half_a_file_is_no_finished_part(folder: Path, whole: str, tmp_path: Path):
    interrupted(folder, workers=1)
    for path in kept_files(tmp_path):
        path.write_bytes(path.read_bytes()[:-1])
    assert content(compare(job(folder, workers=1, resume=True))) == whole


def test_without_resume_a_run_begins_anew(folder: Path, whole: str, tmp_path: Path):
    interrupted(folder, workers=1)
    assert kept_files(tmp_path)
    said: list[str] = []
    assert content(compare(job(folder, workers=1), notify=said.append)) == whole
    assert not any("run before" in sentence for sentence in said) and not kept_files(tmp_path)


def test_a_killed_command_is_resumed(folder: Path, whole: str, tmp_path: Path):
    code = "from tokalign.scale import survey; survey.SMALL = 1; from tokalign.cli import main; main()"
    options = ["--cuts", "20", "--offline", "--shard", "0.01", "--no-report", "--workers", "2", "--json"]
    names = [str(folder / name) for name in ("cel.json", "szkic.json")]
    command = [sys.executable, "-c", code, "compare", *names, "-c", str(folder / "t.jsonl"), *options]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    running = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        for _ in range(1200):
            if kept_files(tmp_path) or running.poll() is not None:
                break
            time.sleep(0.05)
    finally:
        running.kill()
        running.communicate()
    done = subprocess.run([*command, "--resume"], env=environment, capture_output=True, check=True, text=True)
    found = json.loads(done.stdout)
    for field in ("metrics", "chunks", "quality", "samples"):
        assert found["pairs"][0][field] == json.loads(whole)["pairs"][0][field]
    assert not kept_files(tmp_path)


# ---- a cluster


def test_a_cluster_needs_its_package_and_an_address(folder: Path, monkeypatch: pytest.MonkeyPatch):
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "distributed", None)
        with pytest.raises(UsageError, match=r"pip install 'tokalign-decoder\[cluster\]'"):
            compare(job(folder, scheduler="tcp://127.0.0.1:1"))
    pytest.importorskip("distributed", reason="dask.distributed is not installed")
    monkeypatch.setattr("tokalign.scale.cluster._CONNECT", 1)
    with pytest.raises(UsageError, match=r"no scheduler answers at 'tcp://127\.0\.0\.1:1'"):
        compare(job(folder, scheduler="tcp://127.0.0.1:1"))


def test_a_cluster_that_loses_a_worker_gives_the_same(folder: Path, whole: str):
    distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    running: list[subprocess.Popen] = []

    def started(*arguments: str) -> subprocess.Popen:
        running.append(
            subprocess.Popen(
                [sys.executable, "-m", *arguments],
                env=environment,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        )
        return running[-1]

    try:
        port = free_port()
        address = f"tcp://127.0.0.1:{port}"
        started("distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard")
        options = ("--nthreads", "1", "--no-dashboard", "--no-nanny")
        workers = [started("distributed.cli.dask_worker", address, *options) for _ in range(2)]
        with distributed.Client(address, timeout=60) as client:
            client.wait_for_workers(2, timeout=60)
        killed: list[int] = []

        def kill(what: str, share: float) -> None:
            if not killed and "measuring" in what and share > 0.05:
                killed.append(workers[0].pid)
                workers[0].kill()

        assert content(compare(job(folder, scheduler=address, shard_bytes=1_000), kill)) == whole
        assert killed
    finally:
        for process in reversed(running):
            process.kill()
            process.wait()


def free_port() -> int:
    import socket

    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def test_cores_are_those_of_this_process():
    assert cores() >= 1


def test_progress_is_the_share_that_is_measured(folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(survey, "SMALL", 12_000)  # read before anything is measured
    size = sum(len(text.encode()) for text in TEXTS)
    seen: list[float] = []
    compare(
        job(folder, workers=1, shard_bytes=1),
        lambda what, share: seen.append(share) if "meas" in what else None,
    )
    measured = list(itertools.accumulate(len(text.encode()) / size for text in TEXTS))
    assert max(abs(share - 0.6 * done) for share, done in zip(sorted(set(seen)), measured, strict=True)) < 0.15
