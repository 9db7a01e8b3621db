"""``lmkit pretrain``: from text to a trained neural language model.

While it trains, checkpoints and the log lie in a hidden sibling of the model to be; the model
itself appears whole, at the end. Whoever is stopped on the way goes on with ``--resume``.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from lmkit.errors import UserError
from lmkit.events import SILENT, Listener
from lmkit.store.artifact import ArtifactWriter, check_free
from lmkit.store.home import home
from lmkit.tasks.pretrain_config import PretrainConfig
from lmkit.tasks.pretrain_presets import Preset
from lmkit.tasks.spool import spooled
from lmkit.tasks.threads import num_threads
from lmkit.tasks.tokenizers import TokenizerConfig, make_tokenizer
from lmkit.tasks.training_run import run_directory, seal_of, training_run
from lmkit.text.corpus import learn_words
from lmkit.text.restore import StoredTokenizer
from lmkit.text.sources import STDIN_NAME
from lmkit.text.token_file import TokenFile, cached_tokens, split_tokens
from lmkit.text.vocab import VocabularyConfig

if TYPE_CHECKING:
    from lmkit.engine.config import HeldOut, Source, TrainingConfig, TrainingResult
    from lmkit.engine.distributed import World
    from lmkit.models.architectures import Blueprint
    from lmkit.nn.network import Network
    from lmkit.nn.objective import Objective

LOG = "log.jsonl"


@dataclass(frozen=True, slots=True)
class Pretrained:
    """What was trained."""

    path: Path
    """The model."""
    parameters: int
    """Numbers that were learned."""
    steps: int
    """Steps taken."""
    best_step: int
    """The step whose weights these are: those of the best validation."""
    valid_loss: float
    """Natural log per token of that validation."""
    valid_tokens: int
    """Held-out tokens that were predicted."""
    seconds: float
    """Of training, without validations."""


@dataclass(frozen=True, slots=True)
class _Texts:
    """The tokenizer, and the tokens to train on and to validate on."""

    tokenizer: StoredTokenizer
    train: NDArray[Any]
    valid: NDArray[Any]
    facts: list[dict[str, Any]]


def pretrain(
    sources: Sequence[str],
    out: Path,
    config: PretrainConfig,
    *,
    force: bool = False,
    resume: bool = False,
    listener: Listener = SILENT,
) -> Pretrained:
    """Train a neural language model on text and save it as the directory ``out``.

    Args:
        sources: text files, or ``"-"``.
        out: the directory to be.
        config: what and how to train.
        force: replace a model that lies there.
        resume: go on where a stopped run with the same settings and texts left off.
        listener: hears of the progress.

    Raises:
        TextError: the text cannot be read.
        UserError: the settings contradict, the text is too small, there is nothing to resume, or
            the loss is not finite.
        ModelError: ``out`` exists (without ``force``) or cannot be written.
        lmkit.engine.signals.Stopped: a signal stopped it, behind a checkpoint.
    """
    recipe = config.recipe()
    check_free(out, force)
    world = _processes(sources)
    listener = listener if world.first else SILENT
    with world.first_alone():
        texts = _read(sources, config, listener)
    recipe = _shortened(recipe, config, len(texts.train), listener)
    run = training_run(out, _seal(config, recipe, texts), resume=resume, force=force)
    with run if world.first else nullcontext(run_directory(out)) as directory:
        world.wait()
        blueprint, network, result = _train(directory, config, recipe, texts, resume, listener)
        if world.first:
            listener.phase("saving")
            with ArtifactWriter(out, force=force) as writer:
                _save(writer, blueprint, network, config, texts, result)
                with writer.add_file(LOG) as file:
                    file.write((directory / LOG).read_bytes())
            shutil.rmtree(directory, ignore_errors=True)
    world.leave()
    listener.finish()
    return Pretrained(
        path=out,
        parameters=network.num_parameters(),
        steps=result.steps,
        best_step=result.best_step,
        valid_loss=result.valid_loss,
        valid_tokens=result.valid_count,
        seconds=result.seconds,
    )


def _shortened(recipe: Preset, config: PretrainConfig, size: int, listener: Listener) -> Preset:
    """Return the recipe with a context, or rows, that a short text has room for."""
    if config.context is None and recipe.context > 1 and size < 2 * recipe.context:
        context = max(1, size // 2)
        listener.note(
            f"the text has {size:,} tokens: a context of {context} instead of {recipe.context}"
        )
        recipe = replace(recipe, context=context)
    if config.batch is None and size < recipe.batch:
        recipe = replace(recipe, batch=size)
    return recipe


def _processes(sources: Sequence[str]) -> World:
    """Return the processes that train together: those of torchrun, or this one alone."""
    from lmkit.engine.distributed import join_world

    world = join_world()
    if world.size > 1 and "-" in sources:
        raise UserError("several processes cannot share standard input", "Write it to a file first")
    return world


def _read(sources: Sequence[str], config: PretrainConfig, listener: Listener) -> _Texts:
    """Turn the texts into tokens, kept in the cache of the home."""
    threads = num_threads(config.threads)
    with spooled(sources) as files:
        tokenizer = _tokenizer(files, config, threads, listener)

        def tokens(texts: Sequence[str]) -> TokenFile:
            return cached_tokens(
                texts,
                tokenizer,
                home() / "cache" / "tokens",
                mode=config.reading,
                errors=config.errors,
                threads=threads,
                listener=listener,
            )

        train = tokens(files)
    if not len(train.ids):
        raise UserError("the text is empty", "Give a text with a line at least")
    facts = [_facts(sources, train)]
    if not config.valid:
        kept, held_out = split_tokens(train.ids, config.reading, config.valid_fraction)
        return _Texts(tokenizer, kept, held_out, facts)
    valid = tokens(config.valid)
    if not len(valid.ids):
        raise UserError("the validation text is empty", "Give --valid a text with a line at least")
    facts.append(_facts(config.valid, valid))
    return _Texts(tokenizer, train.ids, valid.ids, facts)


def _tokenizer(
    files: Sequence[str], config: PretrainConfig, threads: int, listener: Listener
) -> StoredTokenizer:
    limits = VocabularyConfig(min_count=config.min_count, max_size=config.vocab_size)
    if config.unit == "word":
        _, words = learn_words(
            files, limits, config.normalizer, mode=config.reading, errors=config.errors,
            threads=threads, listener=listener,
        )  # fmt: skip
        return words
    wanted = TokenizerConfig(
        unit=config.unit,
        mode=config.reading,
        vocabulary=limits,
        normalizer=config.normalizer,
        errors=config.errors,
        seed=config.seed,
    )
    return make_tokenizer(files, wanted, listener)


def _facts(sources: Sequence[str], tokens: TokenFile) -> dict[str, Any]:
    names = (STDIN_NAME if source == "-" else Path(source).name for source in sources)
    return {
        "name": ", ".join(names),
        "lines": tokens.facts.num_lines,
        "tokens": tokens.facts.num_tokens,
        "bytes": tokens.facts.num_bytes,
        "sha256": tokens.facts.sha256,
    }


def _seal(config: PretrainConfig, recipe: Preset, texts: _Texts) -> bytes:
    return seal_of(
        {
            "config": config.record(),
            "recipe": repr(recipe),
            "texts": [text["sha256"] for text in texts.facts],
            "tokenizer": texts.tokenizer.fingerprint(),
        }
    )


def _train(
    run: Path,
    config: PretrainConfig,
    recipe: Preset,
    texts: _Texts,
    resume: bool,
    listener: Listener,
) -> tuple[Blueprint, Network, TrainingResult]:
    """Build the network and train it."""
    import torch

    from lmkit.engine.device import choose_machine
    from lmkit.engine.trainer import Trainer
    from lmkit.models.architectures import Blueprint, build_network

    machine = choose_machine(config.device, config.precision, config.threads)
    shape = {"num_tokens": texts.tokenizer.num_tokens, "never": list(config.never)}
    if config.arch == "gpt":
        shape["context_size"] = recipe.context
    blueprint = Blueprint(arch=config.arch, settings={**shape, **recipe.settings})
    torch.manual_seed(config.seed)
    network = build_network(blueprint)
    objective, source, held_out = _work(network, config, recipe, texts)
    parameters = f"{network.num_parameters():,} parameters"
    listener.note(f"{config.arch}: {parameters}, {texts.tokenizer.num_tokens:,} tokens in all")
    listener.note(machine.describe())
    training = _training(config, recipe, source)
    trainer = Trainer(
        objective, source, training, machine,
        directory=run, held_out=held_out, listener=listener,
    )  # fmt: skip
    result = trainer.run(resume)
    return blueprint, network, result


def _work(
    network: Network, config: PretrainConfig, recipe: Preset, texts: _Texts
) -> tuple[Objective, Source, HeldOut]:
    """Return what is minimised, the batches, and those to validate on."""
    from lmkit.objectives.causal import CausalObjective
    from lmkit.objectives.contexts import ContextObjective
    from lmkit.text.batches import Contexts, Lanes, Sentences, Windows

    mode, seed, rows, size = config.reading, config.seed, recipe.batch, recipe.context
    if config.arch == "nplm":
        assert network.context_size is not None
        order = network.context_size + 1
        train, valid = (
            Contexts(ids, order, rows, seed=seed, mode=mode) for ids in (texts.train, texts.valid)
        )
        return ContextObjective(network), train, valid
    if mode == "sentence":
        return (
            CausalObjective(network),
            Sentences(texts.train, size, rows, seed=seed),
            Sentences(texts.valid, size, rows, seed=seed),
        )
    if network.context_size is None:
        lanes = Lanes(texts.train, size, rows, mode=mode)
        return CausalObjective(network, carry=True), lanes, Lanes(texts.valid, 512, 1, mode=mode)
    windows = Windows(texts.train, size, rows, seed=seed, mode=mode)
    held_out = Windows(texts.valid, min(size, len(texts.valid)), rows, seed=seed, mode=mode)
    return CausalObjective(network), windows, held_out


def _training(config: PretrainConfig, recipe: Preset, source: Source) -> TrainingConfig:
    from lmkit.engine.config import TrainingConfig
    from lmkit.engine.optim import OptimizerConfig
    from lmkit.engine.schedule import ScheduleConfig

    steps = recipe.steps
    if config.epochs is not None:
        steps = max(1, round(config.epochs * source.steps_per_epoch))
    return TrainingConfig(
        schedule=ScheduleConfig(
            kind="wsd", steps=steps, warmup=recipe.warmup, cooldown=recipe.cooldown
        ),
        optimizer=OptimizerConfig(
            kind=recipe.optimizer,
            learning_rate=recipe.learning_rate,
            matrix_rate=recipe.matrix_rate,
            weight_decay=recipe.weight_decay,
            betas=recipe.betas,
            eps=1e-10 if recipe.optimizer == "muon" else 1e-8,
        ),
        minutes=config.minutes,
        micro_batch=config.micro_batch,
        clip=recipe.clip,
        eval_every=config.eval_every or 0,
        save_every=config.save_every or 0,
        keep=config.keep,
        patience=config.patience,
        ema=config.ema,
        seed=config.seed,
    )


def _save(
    writer: ArtifactWriter,
    blueprint: Blueprint,
    network: Network,
    config: PretrainConfig,
    texts: _Texts,
    result: TrainingResult,
) -> None:
    from lmkit.models.saving import save_network

    save_network(
        writer,
        network,
        blueprint,
        texts.tokenizer,
        config.reading,
        data=texts.facts,
        seed=config.seed,
        metrics={
            "parameters": network.num_parameters(),
            "steps": result.steps,
            "best_step": result.best_step,
            "valid_loss": result.valid_loss,
            "valid_tokens": result.valid_count,
        },
        settings=config.record(),
    )
