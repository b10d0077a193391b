"""Which sources are of one session, by their names, and which are left alone."""

from __future__ import annotations

import dataclasses
import hashlib
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tb_memory_plugin.store.discovery import Found
from tb_memory_plugin.store.keys import Stat
from tb_memory_plugin.store.roots import Root, run_of
from tb_memory_plugin.store.sessions import natural, sessions

SECOND = 10**9
NOW = 1_700_000_000 * SECOND


def source(path: str, modified: int = 0, **more: Any) -> Found:
    """A source as the walk finds it."""
    *folders, name = path.split("/")
    run, left = run_of(Root(""), tuple(folders))
    inner = left[2:] if left[:2] == ("plugins", "memory") else left
    id = hashlib.blake2b(path.encode(), digest_size=8).hexdigest()
    stat = Stat(1, NOW + modified * SECOND)
    shown = "/".join([*inner, name])
    return Found(id, run, shown, path, "some_format", stat, way=(*folders, name), **more)


def grouped(*sources: Found) -> list[tuple[str, str, str, list[str]]]:
    """Every session: run, label, what of, and its hosts in order."""
    found: dict[str, tuple[str, str, str, list[str]]] = {}
    for place in sessions(sources).values():
        one = place.session
        found.setdefault(one.key, (one.run, one.label, one.of, []))[3].append(place.host)
    return sorted(
        (run, label, of, sorted(hosts, key=natural)) for run, label, of, hosts in found.values()
    )


def of_paths(*paths: str) -> list[tuple[str, str, str, list[str]]]:
    return grouped(*map(source, paths))


def test_the_hosts_of_an_xplane_capture() -> None:
    assert of_paths(
        "job/plugins/profile/2026_01_02/b.host.xplane.pb",
        "job/plugins/profile/2026_01_02/a.xplane.pb.gz",
        "job/plugins/profile/2026_01_03/a.xplane.pb",
        "other/plugins/profile/2026_01_02/c.xplane.pb",
        "job/plugins/profile/d.xplane.pb",
    ) == [("job", "2026_01_02", "host", ["a", "b.host"])]


def test_a_host_that_is_there_twice_is_in_its_session_once() -> None:
    folder = "plugins/profile/s"
    paths = [f"{folder}/{name}" for name in ("a.xplane.pb", "a.xplane.pb.gz", "b.xplane.pb")]
    assert of_paths(*paths) == [(".", "s", "host", ["a", "b"])]
    assert source(paths[1]).id not in sessions(map(source, paths))
    assert of_paths(*paths[:2]) == []


def test_hlo_modules_of_one_folder() -> None:
    dump = "run/dump/module_{}.{}.cpu_after_optimizations.hlo.pb"
    paths = [dump.format("0001", "jit_f"), dump.format("0002", "jit_f"), dump.format("0003", "g")]
    session = ("run/dump", "HLO modules", "module", ["g 0003", "jit_f 0001", "jit_f 0002"])
    # Neither what is elsewhere, nor what has a name of somebody's own, nor one alone.
    others = ["run/module_0001.h.cpu_after_optimizations.hlo.pb", "run/dump/jit_f.hlo_proto.pb"]
    assert of_paths(*paths, *others, "run/dump/rank0.pickle") == [session]
    assert of_paths(paths[0], *others) == []
    unpacked = "job/plugins/profile/today/{}.hlo_proto.pb"
    assert of_paths(unpacked.format("jit_f(3)"), unpacked.format("jit_g(4)")) == [
        ("job", "plugins/profile/today/HLO modules", "module", ["jit_f 3", "jit_g 4"])
    ]


def test_modules_of_two_dumps_into_one_folder_go_by_their_files() -> None:
    dump = "{}.module_0001.f.cpu_after_optimizations.hlo.pb"
    paths = [dump.format(time) for time in (1700000001, 1700000002)]
    assert of_paths(*paths, "module_0002.g.after_codegen.hlo.pb") == [
        (".", "HLO modules", "module", [*paths, "g 0002"])
    ]


@pytest.mark.parametrize(
    "names, label",
    [
        ("rank0.pickle rank1.pickle rank10.pickle", "rank*.pickle"),
        ("rank_0_snap.pickle rank_1_snap.pickle rank_2_snap.pickle", "rank_*_snap.pickle"),
        ("s-RANK-00.json.gz s-RANK-01.json.gz s-RANK-02.json.gz", "s-RANK-*.json.gz"),
        ("m.r0of3.prof m.r1of3.prof m.r2of3.prof", "m.r*of3.prof"),
        ("rank0of3.prof rank1of3.prof rank2of3.prof", "rank*of3.prof"),
        ("iteration_7/rank0.json iteration_7/rank1.json", "rank*.json"),
        ("rank0/s.pickle rank1/s.pickle rank2/s.pickle", "rank*/s.pickle"),
        ("rank0/s_rank0.pickle rank1/s_rank1.pickle", "rank*/s_rank*.pickle"),
    ],
)
def test_files_and_folders_numbered_by_rank(names: str, label: str) -> None:
    ((run, told, of, hosts),) = of_paths(*(f"job/{name}" for name in names.split()))
    assert (told, of) == (label, "rank")
    assert run == ("job/iteration_7" if "iteration" in names else "job")
    assert [host.split()[0] for host in hosts] == ["rank"] * len(names.split())
    assert [int(host.split()[1]) for host in hosts][:2] == [0, 1]


@pytest.mark.parametrize(
    "names",
    [
        "rank0.pickle",
        "snapshot_0.pickle snapshot_1.pickle",  # steps, as likely
        "r1.pickle r2.pickle r0.pickle",  # runs
        "lora_rank_8.pickle lora_rank_16.pickle",
        "rerank0.pickle rerank1.pickle frank0.pickle frank1.pickle",
        "rank0a.pickle rank1b.pickle",
        "rank0_step1.pickle rank1_step2.pickle",
        "rank0.pickle rank1.json",
        "rank0.pickle rank1.pickle.gz",
        "rank0of2.pickle rank1of4.pickle",
        "rank1.pickle rank2.pickle",
        "rank0.pickle rank1.pickle rank01.pickle",
        "a/rank0.pickle b/rank1.pickle",
        "train/rank0/s.pickle eval/rank1/s.pickle",
        "rank0/plugins/memory/s.pickle rank1/s.pickle",
    ],
)
def test_what_may_be_something_else_is_left_alone(names: str) -> None:
    assert of_paths(*names.split()) == []


def test_folders_of_several_kinds_of_ranks() -> None:
    paths = [f"dp_rank_{dp}/tp_rank_{tp}.pickle" for dp in range(2) for tp in range(2)]
    label = "dp_rank_*/tp_rank_*.pickle"
    assert of_paths(*paths) == [
        (".", label, "host", [f"rank {h}" for h in ("0.0", "0.1", "1.0", "1.1")])
    ]


def test_formats_and_roots_are_not_mixed() -> None:
    one, other = source("rank0.json"), source("rank1.json")
    assert grouped(one, dataclasses.replace(other, format="another")) == []
    assert grouped(one, dataclasses.replace(other, root="another")) == []
    assert len(grouped(one, other)) == 1


def test_what_cannot_be_listed_is_of_no_session() -> None:
    assert grouped(source("rank0.json"), source("rank1.json", is_file=False)) == []


def trace(worker: str, at: float, **more: Any) -> Found:
    name = f"{worker}.{NOW + int(at * SECOND)}.pt.trace.json"
    return source(f"run/{name}", **more)


def test_traces_of_a_job_that_name_their_rank() -> None:
    ranks = [trace(f"host_{90 + rank}", rank / 2, rank=rank, world=4) for rank in range(4)]
    label = "*.pt.trace.json"
    assert grouped(*ranks) == [("run", label, "rank", [f"rank {rank}" for rank in range(4)])]
    assert {place.rank for place in sessions(ranks).values()} == {0, 1, 2, 3}
    later = [trace(f"host_{90 + rank}", 60 + rank / 2, rank=rank, world=4) for rank in range(4)]
    assert [one[1] for one in grouped(*ranks, *later)] == [
        f"{label} · capture 1",
        f"{label} · capture 2",
    ]
    assert grouped(ranks[0], trace("host_7", 0.1, rank=1, world=8)) == []


def test_traces_of_the_same_script_run_again_are_not_one_session() -> None:
    """Every run has another process, and so another name of a worker."""
    assert grouped(*(trace(f"host_{pid}", pid) for pid in (100, 160, 220))) == []
    known = [trace(f"host_{pid}", pid, begin_ns=NOW + (pid - 3) * SECOND) for pid in (10, 14, 18)]
    assert grouped(*known) == []


def test_traces_of_workers_that_went_on_at_once() -> None:
    known = [trace(f"host_{n}", 100 + 20 * n, begin_ns=NOW + n * SECOND) for n in range(3)]
    (found,) = grouped(*known)
    assert found[2:] == ("host", ["host_0", "host_1", "host_2"])
    unknown = [trace(f"host_{n}", n) for n in range(3)]
    assert len(grouped(*unknown)) == 1


@pytest.mark.parametrize("digits", [13, 16, 19])
def test_times_of_traces_have_had_several_units(digits: int) -> None:
    names = [str(NOW + n * SECOND)[:digits] for n in (0, 2, 90, 92)]
    paths = [f"r/{w}.{t}.pt.trace.json.gz" for w, t in zip("abab", names, strict=True)]
    assert [len(one[3]) for one in grouped(*map(source, paths))] == [2, 2]


def recording(rank: int, pid: int, begin: float, end: float, rest: str = "") -> Found:
    path = f"run/plugins/memory/host{rank}.r{rank}.{pid}{rest}.tbmem"
    return source(path, int(end), begin_ns=NOW + int(begin * SECOND))


def test_recordings_of_the_ranks_of_a_job() -> None:
    job = [recording(rank, 40 + rank, 3 * rank, 100) for rank in range(3)]
    oom = [recording(rank, 40 + rank, 3 * rank, 90, ".oom1") for rank in (1, 2)]
    alone = [recording(0, 9, 200, 300)]
    assert grouped(*job, *oom, *alone) == [
        ("run", "*.oom1.tbmem", "rank", ["rank 1", "rank 2"]),
        ("run", "*.tbmem", "rank", ["rank 0", "rank 1", "rank 2"]),
    ]


def test_jobs_one_after_the_other_in_one_folder() -> None:
    jobs = [
        recording(rank, 100 * job + rank, 1000 * job + rank, 1000 * job + 500)
        for job in range(3)
        for rank in range(4 - job)
    ]
    assert [one[3] for one in grouped(*jobs)] == [
        [f"rank {rank}" for rank in range(ranks)] for ranks in (4, 3, 2)
    ]


def test_jobs_at_once_in_one_folder_are_not_told_apart_wrongly() -> None:
    jobs = [
        recording(rank, 10 * job + rank, job / 5 + rank / 7, 500)
        for job in range(2)
        for rank in range(2)
    ]
    assert grouped(*jobs) == []


def test_recordings_that_were_copied_have_their_beginnings_only() -> None:
    jobs = [
        recording(rank, 10 * job + rank, 1000 * job + rank, 9999)
        for job in range(2)
        for rank in range(3)
    ]
    assert [len(one[3]) for one in grouped(*jobs)] == [3, 3]


PARTS = st.sampled_from(
    [
        "rank0",
        "rank1",
        "rank_2",
        "rank-03",
        "r0of2",
        "r1of2",
        "a",
        "plugins",
        "profile",
        "memory",
        "x y",
    ]
)
NAMES = st.sampled_from(
    [
        *(f"{host}.xplane.pb{gz}" for host in ("a", "b", "rank0") for gz in ("", ".gz")),
        *(
            f"h.r{rank}.{pid}{more}.tbmem"
            for rank in (0, 1)
            for pid in (1, 2)
            for more in ("", ".o")
        ),
        *(f"w{w}.{NOW + t * SECOND}.pt.trace.json" for w in range(3) for t in (0, 1, 9, 99)),
        *(f"rank{rank}.pickle" for rank in ("0", "1", "01", "7")),
        *(f"rank{rank}_of_rank{rank}.json" for rank in range(3)),
        "plain.pickle",
    ]
)
ABOUT = st.fixed_dictionaries(
    {
        "root": st.sampled_from(["", "other"]),
        "rank": st.sampled_from([None, 0, 1]),
        "world": st.sampled_from([None, 2]),
        "begin_ns": st.one_of(st.none(), st.integers(0, 120).map(lambda s: NOW + s * SECOND)),
        "modified": st.integers(0, 200),
    }
)
SOURCES = st.lists(
    st.builds(
        lambda folders, name, about: source("/".join([*folders, name]), **about),
        st.lists(PARTS, max_size=3),
        NAMES,
        ABOUT,
    ),
    max_size=30,
    unique_by=lambda one: one.id,
)


@given(SOURCES, st.randoms(use_true_random=False))
def test_of_any_sources(found: list[Found], order: random.Random) -> None:
    places = sessions(found)
    assert places.keys() <= {one.id for one in found}
    by_session: dict[str, list[str]] = {}
    for place in places.values():
        by_session.setdefault(place.session.key, []).append(place.host)
        assert place.session.of in ("host", "rank")
        assert (place.rank is not None) or place.session.of == "host"
    for hosts in by_session.values():
        assert len(hosts) > 1
        assert len(set(hosts)) == len(hosts)
    assert len({place.session for place in places.values()}) == len(by_session)
    shuffled = list(found)
    order.shuffle(shuffled)
    assert sessions(shuffled) == places
