"""The tour: right numbers, the same every time, and command lines that do what they are said to."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from programs import environment, run

from lmkit.tasks.quickstart import LINES, MIXTURE, RECIPES, STEPS
from lmkit.tasks.quickstart_words import ANALOGIES, VECTORS, WORDS

COMMAND = re.compile(r"^\$ (.*)$", re.MULTILINE)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def tour(home: Path) -> Iterator[str]:
    """What the tour prints in a fresh home, which keeps its models."""
    ended = run("quickstart", "--threads", "1", home=home)
    assert ended.returncode == 0, ended.stderr
    yield ended.stdout


@pytest.fixture(scope="module")
def steps(home: Path, tour: str) -> dict[str, list[dict[str, object]]]:
    """The results of each step, in a home where there are models already, with two threads."""
    ended = run("quickstart", "--json", "--threads", "2", "-q", home=home)
    assert ended.returncode == 0, ended.stderr
    objects = [json.loads(line) for line in ended.stdout.splitlines()]
    assert len(objects) == len(STEPS)
    return {step["step"]: step["results"] for step in objects}


def number(row: dict[str, object], name: str) -> float:
    value = row[name]
    assert isinstance(value, int | float)
    return value


def test_models_are_fitted_under_their_names(
    home: Path, steps: dict[str, list[dict[str, object]]]
) -> None:
    assert [row["model"] for row in steps["fit"]] == [recipe.name for recipe in RECIPES]
    assert [row["model"] for row in steps["vectors"]] == [VECTORS]
    names = {MIXTURE, VECTORS, *(recipe.name for recipe in RECIPES)}
    listed = run("models", "list", home=home).stdout.splitlines()
    assert {line.split("\t")[0] for line in listed} == names


def test_figures_are_those_of_the_texts(steps: dict[str, list[dict[str, object]]]) -> None:
    rows = {row["model"]: row for row in steps["evaluate"]}
    words, byte_wise = rows["quickstart-prose"], rows["quickstart-prose-byte"]
    assert (words["tokens"], byte_wise["tokens"], byte_wise["oov"]) == (688 + 44, 3491, 0)
    assert number(words, "oov") > 100, "the lesson speaks of unknown words"
    assert number(byte_wise, "bits_per_byte") < 2.2
    kingdoms, kingdoms_bytes = rows["quickstart-kingdoms"], rows["quickstart-kingdoms-byte"]
    assert number(kingdoms, "perplexity") < 7
    assert number(kingdoms, "bits_per_byte") < number(kingdoms_bytes, "bits_per_byte") < 1


def test_the_mixture_beats_its_parts(steps: dict[str, list[dict[str, object]]]) -> None:
    *parts, mixture = steps["mix"]
    assert sum(number(part, "weight") for part in parts) == pytest.approx(1)
    for figure in ("perplexity_valid", "perplexity_test", "bits_per_byte"):
        assert number(mixture, figure) < min(number(part, figure) for part in parts)


def test_order_is_likelier_than_disorder(steps: dict[str, list[dict[str, object]]]) -> None:
    good, scrambled = steps["score"]
    assert (good["line"], scrambled["line"]) == LINES
    assert sorted(LINES[0].split()) == sorted(LINES[1].split())
    assert number(good, "logprob") > number(scrambled, "logprob") + 10


def test_words_are_answered(steps: dict[str, list[dict[str, object]]]) -> None:
    best: dict[object, object] = {}
    for row in reversed(steps["words"]):
        best[row["asked"]] = row["answer"]
    assert [best[asked] for asked in ANALOGIES] == ["queen", "rome"]
    assert set(best) == {*ANALOGIES, *WORDS}


def test_a_bare_question_goes_to_the_vectors_of_the_tour(home: Path, tour: str) -> None:
    assert tour
    ended = run("analogy", "king", "man", "woman", "--top", "2", home=home)
    assert ended.returncode == 0, ended.stderr
    (first, best), (_, other) = (line.split("\t") for line in ended.stdout.splitlines())
    assert first == "queen"
    assert float(best) > float(other) + 0.05
    assert f"using {VECTORS}, the newest model" in ended.stderr


def test_the_vectors_know_relations(steps: dict[str, list[dict[str, object]]]) -> None:
    rows = {row["section"]: row for row in steps["measure"]}
    people = [rows[name] for name in rows if str(name).startswith("gender")]
    assert len(people) == 3
    assert all(number(row, "accuracy") > 0.95 for row in people)
    assert number(rows["capital-country"], "accuracy") > 0.7
    assert number(rows["opposite"], "accuracy") < 0.6, "the lesson says that they are hard"
    assert number(rows["total"], "accuracy") > 0.6


def test_the_output_is_the_same_again(
    tour: str, tmp_path: Path, steps: dict[str, list[dict[str, object]]]
) -> None:
    again = run("quickstart", "--threads", "2", home=tmp_path / "elsewhere")
    assert (again.returncode, again.stdout) == (0, tour)
    assert str(tmp_path) not in tour
    assert "\x1b" not in tour
    drawn = [str(row["text"]) for row in steps["sample"]]
    assert all(text in tour for text in drawn)


def test_another_seed_draws_other_texts(home: Path, tour: str) -> None:
    other = run("quickstart", "--seed", "2", home=home).stdout
    first, second = (text.split("\n5. ") for text in (tour, other))
    assert first[0] == second[0]
    assert first[1].split("\n6. ")[0].replace("--seed 1", "--seed 2") != second[1].split("\n6. ")[0]
    assert "\nking man woman      queen " in second[1]


@pytest.mark.slow
def test_the_commands_do_what_the_tour_did(tour: str, tmp_path: Path) -> None:
    """Run the lines of the tour as somebody would type them, in a home of their own."""
    commands = [line for line in COMMAND.findall(tour) if "YOUR.txt" not in line]
    asked = len(ANALOGIES) + len(WORDS)
    assert len(commands) == 2 * len(RECIPES) + 2 + 1 + 2 + 1 + asked + 1 + 1  # last: lmkit --help
    separator = "--- next ---"
    script = "\n".join(f"{line} || exit\necho '{separator}'" for line in commands)
    lmkit = f'lmkit() {{ "{sys.executable}" -m lmkit "$@"; }}\n'
    ended = subprocess.run(
        ["bash", "-c", lmkit + script],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env=environment(tmp_path),
        check=True,
    )
    results = dict(zip(commands, ended.stdout.split(separator + "\n"), strict=False))
    for command, output in results.items():
        if "lmkit sample" in command:
            assert all(line in tour for line in output.splitlines())
        if "lmkit score" in command:
            scores = [line.split("\t") for line in output.splitlines()]
            assert all(f"{float(value):.4f}  {line}" in tour for value, line in scores)
        if re.match("lmkit (analogy|embed neighbors)", command):
            answers = [line.split("\t") for line in output.splitlines()]
            assert len(answers) == 3
            shown = [f"{word} +{float(score):.4f}\n" for word, score in answers]
            assert all(re.search(line, tour) for line in shown), command
        if "lmkit embed eval" in command:
            lines = [line.split("\t") for line in output.splitlines()]
            parts = {row[1]: row for row in lines if row[1] not in ("semantic", "syntactic")}
            for name, (_, _, _, value, used, _, correct) in parts.items():
                counts = f"{int(used):,} +{int(correct):,} +{value}"
                assert re.search(f"\n{name} +{counts}\n", tour), name
            assert len(parts) > 10
        if "lmkit eval" in command:
            figures = dict(line.split("\t") for line in output.splitlines())
            assert f"  {float(figures['bits_per_byte']):.4f}\n" in tour
            assert f"{int(figures['tokens']):,}" in tour or MIXTURE in command


def test_it_ends_quietly_when_nobody_reads_on(home: Path, tour: str) -> None:
    line = f'set -o pipefail; "{sys.executable}" -m lmkit quickstart -q | head -n 1'
    ended = subprocess.run(
        ["bash", "-c", line], capture_output=True, text=True, env=environment(home), check=False
    )
    assert (ended.returncode, ended.stderr.count("Error")) == (0, 0)
    assert ended.stdout == tour.split("\n")[0] + "\n"
