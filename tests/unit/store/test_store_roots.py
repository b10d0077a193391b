"""Flags to folders, and folders to runs, as TensorBoard itself has them."""

from __future__ import annotations

import os

import pytest
from tensorboard.backend.event_processing import data_ingester

from tb_memory_plugin.store.roots import Root, roots_of, run_of


@pytest.mark.parametrize(
    "spec",
    [
        "/a/b",
        "name:/a/b",
        "name:/a/b,other:/c",
        "/foo:bar/baz",
        "name:/with:colon",
        "gs://bucket/logs",
        "name:gs://bucket/logs,/x",
        "relative/folder",
        "name:relative",
    ],
)
def test_a_spec_is_taken_apart_as_tensorboard_does(spec: str) -> None:
    expected = data_ingester._parse_event_files_spec(spec)
    found = {root.address: root.name or None for root in roots_of("", spec)}
    assert {os.path.realpath(k) if "://" not in k else k: v for k, v in found.items()} == expected


def test_a_logdir_is_one_unnamed_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/someone")
    assert roots_of("~/runs") == [Root("/home/someone/runs", "", "~/runs")]
    assert roots_of("gs://bucket/x", "ignored:/x") == [Root("gs://bucket/x", "", "gs://bucket/x")]
    assert roots_of("", "") == []
    assert roots_of("file:///a/b") == [Root("/a/b", "", "file:///a/b")]
    assert roots_of("", "name:file:///a/b") == [Root("/a/b", "name", "name")]


@pytest.mark.parametrize(
    ("name", "folders", "run", "left"),
    [
        ("", (), ".", ()),
        ("", ("a", "b"), "a/b", ()),
        ("", ("a", "plugins", "memory"), "a", ("plugins", "memory")),
        ("", ("plugins", "memory", "x"), ".", ("plugins", "memory", "x")),
        ("spec", (), "spec/.", ()),
        ("spec", ("a",), "spec/a", ()),
    ],
)
def test_what_lies_in_plugins_belongs_to_the_run_around_it(
    name: str, folders: tuple[str, ...], run: str, left: tuple[str, ...]
) -> None:
    assert run_of(Root("/r", name), folders) == (run, left)
