"""score, sample, eval and mix as commands: what goes in, what comes out, how they end."""

import json
import math
from pathlib import Path

import pytest
import typer
from toy import BigramTable, random_bigram
from typer.testing import CliRunner, Result

from lmkit.cli import evaluate, mix, sample, score
from lmkit.cli.shell import Shell
from lmkit.tasks import families

WORDS = ["a", "b", "c"]

app = typer.Typer(cls=Shell, pretty_exceptions_enable=False)
for module in (score, sample, evaluate):
    module.register(app)
mix.register(app)


@pytest.fixture(autouse=True)
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> BigramTable:
    monkeypatch.setenv("LMKIT_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("LMKIT_MODEL", raising=False)
    monkeypatch.setitem(families.FAMILIES, "toy", "toy:BigramTable")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    for variable in ("GITHUB_ACTIONS", "FORCE_COLOR", "PY_COLORS"):
        monkeypatch.delenv(variable, raising=False)
    made = random_bigram(WORDS, 1, on_disk=True)
    made.save(tmp_path / "home" / "models" / "toy")
    random_bigram([*WORDS, "d"], 2, on_disk=True).save(tmp_path / "home" / "models" / "other")
    return made


def lmkit(*args: str, stdin: str | bytes = "", code: int = 0) -> Result:
    result = CliRunner().invoke(app, list(args), input=stdin)
    assert result.exit_code == code, result.output
    return result


def test_score_is_one_line_for_one_line(model: BigramTable) -> None:
    lines = ["a b\t-3\tx", "", "c zebra"]
    result = lmkit("score", "-m", "toy", stdin="\r\n".join(lines))
    rows = [row.split("\t", 1) for row in result.stdout.split("\n")[:-1]]
    assert [row[1] for row in rows] == lines
    ids = model.tokenizer.encode("a b").tolist()
    assert float(rows[0][0]) == pytest.approx(model.logprobs([*ids, 2]).sum())  # type: ignore[arg-type]
    assert float(rows[1][0]) == model.log_table[1, 2]
    assert result.stderr.count("\n") == 1
    assert "the first column is scored; --column chooses another" in result.stderr
    chosen = lmkit("score", "-m", "toy", "--column", "1", stdin="\r\n".join(lines))
    assert (chosen.stdout, chosen.stderr) == (result.stdout, "")


@pytest.mark.parametrize("options", [[], ["--json"], ["--per-token"], ["--json", "--per-token"]])
def test_score_of_a_file_is_that_of_a_pipe(options: list[str]) -> None:
    text = "a b c\n\n\tb\nzebra\ta\n<s> a </s> b\nlast without newline"
    Path("text").write_text(text)
    piped = lmkit("score", "-m", "toy", *options, stdin=text).stdout
    assert lmkit("score", "-m", "toy", *options, "text").stdout == piped
    assert lmkit("score", "-m", "toy", *options, "--line-buffered", "text").stdout == piped
    if "--per-token" not in options or "--json" in options:
        assert piped.count("\n") == 6


def test_score_in_json() -> None:
    result = lmkit("score", "-m", "toy", "--json", "--per-token", stdin="a zebra\tx\nb\n")
    first, second = map(json.loads, result.stdout.splitlines())
    assert list(first)[:4] == ["logprob", "tokens", "oov", "text"]
    assert (first["tokens"], first["oov"], first["text"]) == (3, 1, "a zebra")
    assert first["columns"] == ["a zebra", "x"] and "columns" not in second
    assert [token["token"] for token in first["per_token"]] == ["a", "zebra", "</s>"]
    assert [token["oov"] for token in first["per_token"]] == [False, True, False]
    assert sum(t["logprob"] for t in first["per_token"]) == pytest.approx(first["logprob"])


def test_score_per_token_has_four_columns() -> None:
    text = "a zebra\n\nb\n"
    rows = [row.split("\t") for row in lmkit("score", "-m", "toy", "--per-token", stdin=text)
            .stdout.splitlines()]  # fmt: skip
    assert [row[1:] for row in rows] == [
        ["a", "0", "1"], ["zebra", "1", "1"], ["</s>", "0", "1"],
        ["</s>", "0", "2"],
        ["b", "0", "3"], ["</s>", "0", "3"],
    ]  # fmt: skip
    totals = lmkit("score", "-m", "toy", stdin=text).stdout.splitlines()
    total = sum(float(line.split("\t")[0]) for line in totals)
    assert sum(float(row[0]) for row in rows) == pytest.approx(total)


def test_eval_in_one_line_of_json() -> None:
    Path("text").write_text("a b\nzebra\n")
    result = lmkit("eval", "-m", "toy", "text", "--json")
    assert result.stdout.count("\n") == 1
    record = json.loads(result.stdout)
    assert (record["tokens"], record["oov"], record["sentences"], record["bytes"]) == (5, 1, 2, 10)
    assert record["perplexity"] == pytest.approx(math.exp(-record["logprob"] / 5))
    assert "1 of 3 tokens (</s> not counted) are not in the vocabulary" in result.stderr
    assert "lmkit" not in lmkit("eval", "-m", "toy", "text", "-q").stderr


def test_eval_in_rows_states_every_count() -> None:
    rows = dict(
        line.split("\t") for line in lmkit("eval", "-m", "toy", stdin="").stdout.splitlines()
    )
    assert rows["tokens"] == "0" and rows["perplexity"] == "nan" and rows["unit"] == "word"
    record = json.loads(lmkit("eval", "-m", "toy", "--json", stdin="").stdout)
    assert list(record) == list(rows) and record["perplexity"] is None


def test_sample_repeats_itself_by_seed() -> None:
    first = lmkit("sample", "-m", "toy", "--count", "5", "--seed", "1", "a").stdout
    assert first.count("\n") == 5
    assert all(line.startswith("a") for line in first.splitlines())
    assert lmkit("sample", "-m", "toy", "--count", "5", "--seed", "1", "a").stdout == first
    assert lmkit("sample", "-m", "toy", "--count", "9", "a").stdout.startswith(first)
    assert lmkit("sample", "-m", "toy", "--count", "5", "--seed", "2", "a").stdout != first


def test_sample_answers_each_prompt_with_count_lines() -> None:
    result = lmkit("sample", "-m", "toy", "--count", "2", stdin="a\n\nb")
    lines = result.stdout.split("\n")[:-1]
    assert len(lines) == 6
    assert [line[:1] for line in (*lines[:2], *lines[4:])] == ["a", "a", "b", "b"]
    assert lmkit("sample", "-m", "toy", "--count", "2", "-", stdin="a\n\nb").stdout == result.stdout
    assert lmkit("sample", "-m", "toy", stdin="").stdout == ""


def test_sample_in_json() -> None:
    out = lmkit("sample", "-m", "toy", "--json", "--max-tokens", "1", "--count", "4", "a").stdout
    for number, line in enumerate(out.splitlines()):
        record = json.loads(line)
        assert list(record) == ["prompt", "text", "index", "logprob", "tokens", "finished"]
        assert (record["prompt"], record["index"], record["tokens"]) == ("a", number, 1)
        assert record["logprob"] < 0


def test_temperature_zero_is_always_the_same() -> None:
    out = lmkit(
        "sample", "-m", "toy", "--temperature", "0", "--count", "3", "--max-tokens", "4", "a"
    )
    assert len(set(out.stdout.splitlines())) == 1


def test_mix_writes_a_model_and_a_row_for_each() -> None:
    Path("text").write_text("a b d\nc a\n" * 20)
    options = ["mix", "-m", "toy", "-m", "other", "--tune", "text", "-o", "./mixed"]
    result = lmkit(*options)
    rows = [row.split("\t") for row in result.stdout.splitlines()]
    assert [row[2] for row in rows] == ["toy", "other", "mixed"]
    weights, perplexities = ([float(row[i]) for row in rows] for i in (0, 1))
    assert weights[0] + weights[1] == pytest.approx(1.0)
    assert perplexities[2] <= min(perplexities[:2])
    assert lmkit("eval", "-m", "./mixed", "text", "--json").stdout
    assert "--force" in lmkit(*options, code=3).stderr
    record = json.loads(lmkit(*options, "--force", "--json").stdout)
    assert record["perplexity"] == perplexities[2] and record["weights"] == weights[:2]


def test_mix_counts_iterations_and_its_settings_repeat_it() -> None:
    Path("text").write_text("a b d\nc a\n" * 20)
    words = ["mix", "-m", "toy", "-m", "other", "--tune", "text", "--json"]
    for iterations in (1, 3):
        out = f"./mixed{iterations}"
        record = json.loads(lmkit(*words, "--iterations", str(iterations), "-o", out).stdout)
        assert record["iterations"] == iterations
        again = lmkit(*words, "--config", f"{out}/config.toml", "-o", f"{out}-again")
        repeated = json.loads(again.stdout)
        assert {**repeated, "out": ""} == {**record, "out": ""}


@pytest.mark.parametrize(
    "words",
    [
        ["sample", "--temperature", "-1"],
        ["sample", "--temperature", "nan"],
        ["sample", "--temperature", "inf"],
        ["sample", "--top-k", "-1"],
        ["sample", "--top-p", "0"],
        ["sample", "--top-p", "nan"],
        ["sample", "--top-p", "1.5"],
        ["sample", "--max-tokens", "0"],
        ["sample", "--count", "-1"],
        ["sample", "--threads", "0"],
        ["mix", "-m", "toy", "-m", "other", "--tune", "text", "--iterations", "0"],
    ],
    ids=" ".join,
)
def test_values_out_of_range_are_usage_errors(words: list[str]) -> None:
    result = lmkit(*words, code=2)
    assert result.stdout == "" and words[-2] in result.stderr


@pytest.mark.parametrize("name", ["score", "eval", "sample"])
def test_devices(name: str) -> None:
    expected = lmkit(name, "-m", "toy", stdin="a\n").stdout
    for device in ("auto", "cpu"):
        assert lmkit(name, "-m", "toy", "--device", device, stdin="a\n").stdout == expected
    for device in ("cuda", "mps"):
        refused = lmkit(name, "-m", "toy", "--device", device, stdin="a\n", code=3)
        assert refused.stdout == "" and refused.stderr == (
            "lmkit: error: this command computes on the CPU only. Leave out --device.\n"
        )


def test_sample_is_the_same_with_more_threads() -> None:
    words = ["sample", "-m", "toy", "--json", "--count", "5", "a"]
    assert lmkit(*words, "--threads", "3").stdout == lmkit(*words, "--threads", "1").stdout


@pytest.mark.parametrize("name", ["score", "eval", "sample"])
def test_a_bad_model_or_text_is_one_line_and_code_3(name: str) -> None:
    argument = ["a"] if name == "sample" else []
    result = lmkit(name, "-m", "tie", *argument, stdin="a\n", code=3)
    assert result.stdout == "" and result.stderr.count("\n") == 1
    assert result.stderr.startswith("lmkit: error: no model 'tie'")
    bad = lmkit(name, "-m", "toy", stdin=b"a\n\xff\n", code=3)
    assert "<stdin>:2" in bad.stderr and "--errors replace" in bad.stderr
    assert lmkit(name, "-m", "toy", "--errors", "replace", stdin=b"a\n\xff\n").stdout


@pytest.mark.parametrize("name", ["score", "eval", "sample", "mix"])
def test_help_has_two_examples(name: str) -> None:
    text = lmkit(name, "--help").stdout
    examples = [line for line in text.splitlines() if line.strip().startswith("$ ")]
    assert "Examples:" in text and len(examples) == 2
