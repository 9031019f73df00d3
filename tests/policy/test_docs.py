"""The pages on policies: examples that are read, and every setting explained."""

import re

import pytest
from pydantic import BaseModel

from discreet.errors import InvalidPolicy
from discreet.policy import (
    AnalystCap,
    Budget,
    Column,
    Dataset,
    EngineSettings,
    KeysFrom,
    Policy,
    Source,
    reads,
)
from discreet.policy.words import EXAMPLES
from tests.source import ROOT

REFERENCE = ROOT / "docs" / "reference" / "policy.md"
HOW_TO = ROOT / "docs" / "how-to" / "write-a-policy.md"
MODELS: list[type[BaseModel]] = [
    *(Policy, Dataset, Source, Column, KeysFrom, Budget, AnalystCap, EngineSettings)
]
BLOCKS = [
    (page.stem, block)
    for page in (REFERENCE, HOW_TO)
    for block in re.findall(r"^```toml\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE)
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_every_setting_is_in_the_reference(model):
    page = REFERENCE.read_text()
    assert [name for name in model.model_fields if f"`{name}`" not in page] == []


@pytest.mark.parametrize("model", EXAMPLES, ids=lambda model: model.__name__)
def test_every_setting_has_a_line_to_try_and_nothing_else_has(model):
    assert set(EXAMPLES[model]) == set(model.model_fields) - {"name"}


@pytest.mark.parametrize("block", [block for _, block in BLOCKS], ids=[name for name, _ in BLOCKS])
def test_every_example_is_a_policy(block):
    assert reads(block).datasets


def test_the_pages_have_examples():
    assert {name for name, _ in BLOCKS} == {REFERENCE.stem, HOW_TO.stem}


def test_the_mistake_that_the_page_shows_is_the_one_that_is_found():
    (shown,) = re.findall(r"^```text\n(.*?)^```", HOW_TO.read_text(), re.DOTALL | re.MULTILINE)
    block = dict(BLOCKS)[HOW_TO.stem].replace("bounds = [0, 110]", "bounds = [110, 0]")
    with pytest.raises(InvalidPolicy) as caught:
        reads(block)
    (mistake,) = caught.value.mistakes
    assert shown.startswith(
        f"policy.toml:{mistake.line}:{mistake.column}: {mistake.where}: {mistake.message}\n"
    )
    assert shown.endswith(f"Hint: {mistake.hint}\n")
