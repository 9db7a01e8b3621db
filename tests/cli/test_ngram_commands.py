"""lmkit ngram fit and stats as programs: spellings, endings, and what interruptions leave."""

import gzip
import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ngram.fitting import Ended, assert_one_line, files_of, large_text, lmkit, names, opened
from programs import run

from lmkit.cli.ngram import MAX_ORDER
from lmkit.ngram import config as ngram_config

TEXT = "the king sees the queen\nthe queen sees the king\nthe king sleeps\n"
Fit = Callable[..., Ended]


@pytest.fixture
def fit(tmp_path: Path) -> Fit:
    """Return a function that runs ``lmkit ngram fit`` among files a, b, words and a home."""
    (tmp_path / "a").write_text(TEXT)
    (tmp_path / "b").write_text("a queen sleeps")
    (tmp_path / "words").write_text("king queen\nthe\n")
    return lambda *arguments, code=0, stdin=b"": lmkit(
        "ngram", "fit", *arguments, code=code, stdin=stdin, cwd=tmp_path
    )


def ended(*arguments: str, cwd: Path, code: int = 0, stdin: bytes = b"", **variables: str) -> Ended:
    """Run lmkit in a process of its own, in the folder ``cwd`` and with a home there."""
    done = run(*arguments, home=cwd / "home", cwd=cwd, stdin=stdin, **variables)
    assert done.returncode == code, done.stderr
    return done


def config(path: Path) -> dict[str, Any]:
    return dict(opened(path).config)


def test_files_become_one_model(fit: Fit, tmp_path: Path) -> None:
    done = ended("ngram", "fit", "a", "b", "--order", "3", "-o", "./model", cwd=tmp_path)
    assert done.stdout == ""
    assert done.stderr.split("\n")[-2] == (
        "lmkit: model: order 3, 16 tokens in 4 lines, n-grams by order: 9 13 15"
    )
    model = opened(tmp_path / "model")
    assert model.order == 3 and model.counts == [9, 13, 15]
    assert (tmp_path / "home" / "models" / "last-ngram").resolve() == tmp_path / "model"


@pytest.mark.parametrize(
    "words",
    [
        ["--prune", "0", "0", "1", "a", "b"],
        ["a", "b", "--prune", "0", "0", "1"],
        ["a", "--prune", "0", "0", "1", "--force", "b"],
        ["a", "b", "--prune", "0", "--prune", "0", "--prune", "1"],
        ["a", "b", "--prune=0", "--prune=0", "--prune=1"],
        ["a", "b", "--prune=0", "0", "1"],
        ["--prune", "0", "0", "1", "--out=./model", "--", "a", "b"],
    ],
)
def test_spellings_of_prune(fit: Fit, words: list[str], tmp_path: Path) -> None:
    fit("-q", "--order=4", "--out=./model", *words)
    assert config(tmp_path / "model")["prune"] == [0, 0, 1, 1]


@pytest.mark.parametrize(
    ("words", "code", "part"),
    [
        (["--prune"], 2, "requires an argument"),
        (["--prune", "1"], 3, "--prune must begin with 0"),
        (["--prune", "0", "2", "1"], 3, "--prune thresholds must not fall"),
        (["--prune", "0", "0", "0", "--order", "2"], 3, "--prune gives 3 thresholds"),
        (["--prune", "x"], 2, "--prune"),
        (["--prune", "b", "0", "1"], 2, "--prune"),
        (["--prune", "--force"], 2, "--prune"),
        (["--order", "0"], 2, "--order"),
        (["--order", "201"], 2, "--order"),
        (["--vocab-size", "0"], 2, "--vocab-size"),
        (["--seed", "-1"], 2, "--seed"),
        (["--device", "tpu"], 2, "--device"),
        (["--device", "cuda"], 3, "this command computes on the CPU only. Leave out --device."),
        (["--order", "five"], 2, "--order"),
        (["--vocab", "nosuch"], 3, "nosuch: no such file"),
        (["--unit", "wrod"], 3, "no unit 'wrod'"),
        (["--unit", "nosuch.model"], 3, "nosuch.model"),
        (["--mode", "documents"], 2, "--mode"),
        (["--min-count", "0"], 2, "--min-count"),
        (["--discount-fallback", "2", "1", "1"], 3, "D1 = 2"),
        (["--memory", "lots"], 2, "'lots' is not a size"),
        (["--memory", "1M"], 3, "--memory allows 1 MiB"),
        (["nosuch"], 3, "nosuch: no such file"),
        (["."], 3, "directory"),
        (["--threads", "0"], 2, "--threads"),
    ],
)
def test_settings_that_cannot_be(
    fit: Fit, words: list[str], code: int, part: str, tmp_path: Path
) -> None:
    done = fit("a", *words, code=code)
    assert part in done.stderr and done.stdout == ""
    if code == 3:
        assert_one_line(done)
    models = tmp_path / "home" / "models"
    assert not models.exists() or names(models) == []


def test_every_spelling_of_the_guide_in_one_command(fit: Fit, tmp_path: Path) -> None:
    fit(
        "a", "b", "--order", "2", "-o", "small", "--prune", "0", "--min-count", "1", "--vocab",
        "words", "--unit", "word", "--mode", "document", "--memory", "2G", "--lower",
        "--normalize", "nfc", "--errors", "replace", "--threads", "1", "-q",
        "--seed", "7", "--device", "cpu",
    )  # fmt: skip
    model = opened(tmp_path / "home" / "models" / "small")
    assert (model.mode, model.order) == ("document", 2)
    assert [model.tokenizer.token(k) for k in range(3, 6)] == ["king", "queen", "the"]
    settings = (tmp_path / "home" / "models" / "small" / "config.toml").read_text()
    assert 'mode = "document"' in settings and "lower = true" in settings
    assert "seed = 7" in settings


def test_units(fit: Fit, tmp_path: Path) -> None:
    for unit, expected in (("char", "char"), ("byte", "byte"), ("bpe", "sentencepiece")):
        size = [] if unit == "byte" else ["--vocab-size", "25"]
        fit("a", "-q", "--unit", unit, *size, "--order", "2", "-o", f"./{unit}")
        assert opened(tmp_path / unit).tokenizer.unit == expected
    fit("a", "-q", "--unit", "bpe/tokenizer.model", "--order", "2", "-o", "./given")
    given, trained = opened(tmp_path / "given"), opened(tmp_path / "bpe")
    assert given.tokenizer.fingerprint() == trained.tokenizer.fingerprint()


def test_standard_input_and_compressed_files_are_texts_too(fit: Fit, tmp_path: Path) -> None:
    (tmp_path / "packed").write_bytes(gzip.compress(TEXT.encode()))
    fit("a", "-q", "--order", "2", "-o", "./file")
    fit("-q", "--order", "2", "-o", "./piped", stdin=TEXT.encode())
    fit("-", "-q", "--order", "2", "-o", "./dash", stdin=gzip.compress(TEXT.encode()))
    fit("packed", "-q", "--order", "2", "-o", "./unpacked")
    expected = files_of(tmp_path / "file")
    for name in ("piped", "dash", "unpacked"):
        files = files_of(tmp_path / name)
        assert files.keys() == expected.keys()
        for file in ("weights.safetensors", "vocab.tsv", "config.toml"):
            assert files[file] == expected[file]


def test_a_name_is_made_up(fit: Fit, tmp_path: Path) -> None:
    fit("a", "--order", "1")
    fit("--order", "1", stdin=TEXT.encode())
    models = tmp_path / "home" / "models"
    assert {"ngram-a", "ngram-stdin"} < set(names(models))
    assert (models / "last-ngram").resolve() == models / "ngram-stdin"


def test_what_exists_stays_unless_forced(fit: Fit, tmp_path: Path) -> None:
    fit("a", "-q", "--order", "2", "-o", "./model")
    before = files_of(tmp_path / "model")
    assert_one_line(fit("b", "-o", "./model", code=3), "model exists", "--force")
    assert files_of(tmp_path / "model") == before
    fit("b", "-q", "--order", "1", "-o", "./model", "--force")
    assert opened(tmp_path / "model").order == 1
    assert_one_line(fit("a", "-o", "./b", code=3), "b exists")
    assert_one_line(fit("a", "-o", "./b", "--force", code=3), "not a model, so it stays")
    assert (tmp_path / "b").read_text() == "a queen sleeps"
    assert not [name for name in names(tmp_path) if name.startswith(".")]


def test_bad_text_writes_nothing(fit: Fit, tmp_path: Path) -> None:
    (tmp_path / "bad").write_bytes(b"good line\nbad \xff line\n")
    assert_one_line(fit("a", "bad", "-o", "./model", code=3), "bad:2:5: not UTF-8 (byte 0xff)")
    assert_one_line(fit("-o", "./model", code=3), "<stdin>: no words in the text")
    assert names(tmp_path) == ["a", "b", "bad", "words"]
    fit("bad", "-q", "-o", "./model", "--errors", "replace")
    assert "\ufffd" in (tmp_path / "model" / "vocab.tsv").read_text()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_no_permission(fit: Fit, tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir(mode=0o500)
    assert_one_line(fit("a", "-o", "./closed/model", code=3), "Permission denied")


def test_out_below_a_file(fit: Fit, tmp_path: Path) -> None:
    assert_one_line(fit("a", "-o", "./b/model", code=3), "cannot write")
    assert (tmp_path / "b").read_text() == "a queen sleeps"


def test_a_fit_to_an_arpa_file_keeps_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("a b a\nb a b\n" * 5, encoding="utf-8")
    lmkit("ngram", "fit", "text.txt", "--order", "2", "-o", "./model", cwd=tmp_path)
    lmkit("ngram", "convert", "./model", "./by-way.arpa", cwd=tmp_path)
    shutil.copytree(tmp_path / "model", tmp_path / ".straight.arpa.model")  # of a killed run
    lmkit("ngram", "fit", "text.txt", "--order", "2", "-o", "straight.arpa", cwd=tmp_path)
    straight = (tmp_path / "straight.arpa").read_bytes()
    assert straight == (tmp_path / "by-way.arpa").read_bytes()
    names = {"text.txt", "model", "by-way.arpa", "straight.arpa"}
    assert {path.name for path in tmp_path.iterdir() if path.name != "home"} == names


def test_home_that_cannot_be_written_is_only_noted(fit: Fit, tmp_path: Path) -> None:
    """The model is saved elsewhere, so all is well but for the newest model's name."""
    (tmp_path / "home").write_text("in the way")
    done = fit("a", "--order", "2", "-o", "./model")
    assert "home/models: Not a directory; name the model with -m" in done.stderr
    assert opened(tmp_path / "model").order == 2
    lmkit("ngram", "convert", "./model", "./m.arpa", cwd=tmp_path)
    lmkit("ngram", "convert", "./m.arpa", "./again", cwd=tmp_path)
    both = ["-m", "./model", "-m", "./again", "--tune", "a", "-o", "./both"]
    assert "name the model with -m" in lmkit("ngram", "mix", *both, cwd=tmp_path).stderr
    quiet = fit("a", "-q", "--order", "2", "-o", "./model", "--force")
    assert quiet.stderr == ""


def test_largest_order_is_that_of_the_library() -> None:
    assert MAX_ORDER == ngram_config.MAX_ORDER


def test_stats(fit: Fit, tmp_path: Path) -> None:
    fit("a", "-q", "--order", "2", "-o", "first", "--prune", "0", "1")
    facts = json.loads(lmkit("ngram", "stats", "first", "--json", cwd=tmp_path).stdout)
    assert facts["order"] == 2 and facts["prune"] == [0, 1] and facts["unit"] == "word"
    assert (facts["lines"], facts["tokens"], facts["text"]) == (3, 13, "a")
    for n, discounts in enumerate(
        config(tmp_path / "home" / "models" / "first")["discounts"], start=1
    ):
        assert facts[f"discounts_{n}"] == discounts["values"]
        assert facts.get(f"discounts_{n}_fallback", "") == discounts["reason"]
    fit("b", "-q", "--order", "2", "-o", "second")
    facts = json.loads(lmkit("ngram", "stats", "second", "--json", cwd=tmp_path).stdout)
    assert "count of 2" in facts["discounts_1_fallback"]
    rows = lmkit("ngram", "stats", cwd=tmp_path)
    assert dict(row.split("\t") for row in rows.stdout.splitlines())["prune"] == "0 0"
    assert "using" in rows.stderr and "second" in rows.stderr


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose home has the models king and queen, and a mixture of both."""
    folder = tmp_path_factory.mktemp("models")
    (folder / "text").write_text(TEXT)
    for name, order in (("king", "2"), ("queen", "1")):
        lmkit("ngram", "fit", "text", "-q", "--order", order, "-o", name, cwd=folder)
    both = ["-m", "king", "-m", "queen", "--tune", "text", "-o", "both"]
    lmkit("ngram", "mix", "-q", *both, cwd=folder)
    return folder


def test_a_wrong_name_meets_a_suggestion(models: Path) -> None:
    for words in (["ngram", "stats", "kin"], ["score", "-m", "kin"], ["eval", "-m", "kin"]):
        done = lmkit(*words, code=3, cwd=models, stdin=b"a\n")
        assert_one_line(done, "no model 'kin'", "Did you mean 'king'?")


def test_a_model_of_another_family(models: Path) -> None:
    done = lmkit("ngram", "stats", "both", code=3, cwd=models)
    assert_one_line(done, "is a mixture model; this command needs an ngram")
    assert lmkit("score", "-m", "both", cwd=models, stdin=b"the king\n").stdout


def damage(path: Path, how: str) -> None:
    """Harm one file of a model: cut it, flip a bit somewhere, or take it away."""
    data = bytearray(path.read_bytes())
    if how == "missing":
        path.unlink()
        return
    if how == "cut":
        del data[-7:]
    elif how == "empty":
        data.clear()
    else:
        place = {"first": 0, "middle": len(data) // 2, "last": len(data) - 1}[how]
        data[place] ^= 0x10
    path.write_bytes(data)


@pytest.mark.parametrize("file", ["weights.safetensors", "card.json", "vocab.tsv", "config.toml"])
def test_a_damaged_model_is_refused(file: str, models: Path, tmp_path: Path) -> None:
    shutil.copy(models / "text", tmp_path)
    commands = [["eval", "text"], ["score", "text"], ["sample", "the"], ["ngram", "score", "text"]]
    hows = ["missing", "cut", "empty", "first", "middle", "last"]
    for number, how in enumerate(hows):
        shutil.copytree(models / "home" / "models" / "king", tmp_path / how)
        damage(tmp_path / how / file, how)
        words = commands[number % len(commands)]
        done = lmkit(*words, "-m", f"./{how}", code=3, cwd=tmp_path)
        assert_one_line(done, how)
        assert "damaged" in done.stderr or "no card.json" in done.stderr, done.stderr
    stats = lmkit("ngram", "stats", "./middle", code=3, cwd=tmp_path)
    assert_one_line(stats, "damaged")


LOADED = """
import sys
from lmkit.cli.app import main
sys.argv[0] = "lmkit"
try:
    main()
finally:
    print("LOADED", *sorted({name.split(".")[0] for name in sys.modules}), file=sys.stderr)
"""


@pytest.mark.parametrize(
    "words",
    [
        ["ngram", "fit", "text", "-q", "--force", "-o", "./tiny"],
        ["ngram", "fit", "text", "-q", "--force", "-o", "./tiny", "--mode", "document"],
        ["score", "-m", "king", "ten"],
        ["score", "-m", "king", "--per-token", "ten"],
        ["score", "-m", "both", "ten"],
        ["eval", "-m", "king", "ten"],
        ["sample", "-m", "king", "--count", "5", "the"],
        ["ngram", "stats", "king"],
    ],
    ids=" ".join,
)
def test_short_input_loads_neither_numba_nor_torch(words: list[str], models: Path) -> None:
    (models / "ten").write_text("the king sees\n" * 10)
    done = run(*words, program=[sys.executable, "-c", LOADED], home=models / "home", cwd=models)
    assert done.returncode == 0, done.stderr
    line = next(line for line in done.stderr.splitlines() if line.startswith("LOADED "))
    loaded = set(line.split())
    assert "lmkit" in loaded
    assert not loaded & {"numba", "llvmlite", "torch", "sentencepiece", "safetensors", "scipy"}


def test_kernels_are_compiled_once_on_a_machine(tmp_path: Path) -> None:
    large_text(tmp_path / "large")
    for turn in (0, 1):
        done = ended(
            "ngram", "fit", "large", "--order", "2", "-o", f"./model{turn}", cwd=tmp_path,
            NUMBA_CACHE_DIR=str(tmp_path / "cache"),
        )  # fmt: skip
        notes = [line for line in done.stderr.splitlines() if "compiling kernels" in line]
        expected = ["lmkit: compiling kernels, once on this machine"] if turn == 0 else []
        assert notes == expected, done.stderr
    assert files_of(tmp_path / "model0") == files_of(tmp_path / "model1")
