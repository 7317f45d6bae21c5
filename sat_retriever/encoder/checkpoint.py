"""Read a sentence-transformers folder as a checkpoint: its weights and how tokens are made.

The description is in several files: `modules.json` (the parts), `1_Pooling/config.json` (CLS or
mean), `sentence_bert_config.json` (maximum length), `config_sentence_transformers.json` (prompts).
All are read as JSON. Weights must be safetensors. Code in a checkpoint is refused and never run.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from sat_retriever.encoder.spec import EncoderSpec, Pooling
from sat_retriever.errors import EncoderError

# BGE's released configurations have no prompt; its model card documents this one, for queries
# only. A prompt in the configuration has priority.
_BGE = re.compile(r"bge-(small|base|large)-en", re.IGNORECASE)
_BGE_QUERY_PREFIX = "Represent this sentence for searching relevant passages: "

# Keys of a model's config.json that do not affect its tokens.
_VOLATILE = {"transformers_version", "architectures", "dtype", "torch_dtype", "use_cache"}
_VOLATILE |= {"gradient_checkpointing", "id2label", "label2id", "attn_implementation"}
_ROBERTA_LIKE = {"roberta", "xlm-roberta", "camembert", "mpnet"}


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Source weights on disk, ready for export."""

    name: str  # the requested name: "minilm", a hub name, or an absolute folder
    folder: Path  # folder of the transformer: config.json and safetensors
    tokenizer: Path
    spec: EncoderSpec


def read_checkpoint(folder: Path, name: str) -> Checkpoint:
    """Read the checkpoint in a sentence-transformers folder.

    Raises:
        EncoderError: If a file is missing or damaged, the weights are pickled, the folder
            requests its own code, or a part is not supported.
    """
    transformer, pooling_folder = _module_folders(folder)
    config = _read_json(transformer / "config.json")
    for file in (transformer / "config.json", transformer / "tokenizer_config.json"):
        if file.exists() and "auto_map" in _read_json(file):
            raise EncoderError(
                f"{file} asks for code of its own (auto_map); code from a checkpoint is "
                "never run: choose a model that plain transformers knows"
            )
    _refuse_other_weights(transformer, config)
    query_prefix, sheet_prefix = _prefixes(folder, config, name)
    tokenizer = transformer / "tokenizer.json"
    if not tokenizer.is_file():
        raise EncoderError(
            f"{transformer} has no tokenizer.json; save its fast tokenizer there: "
            "AutoTokenizer.from_pretrained(folder).save_pretrained(folder)"
        )
    sentence_config = _read_json(transformer / "sentence_bert_config.json", missing={})
    spec = EncoderSpec(
        weights=_hash_files(_weight_files(transformer)),
        architecture=architecture_hash(config),
        tokenizer=_hash_files([tokenizer]),
        pooling=_pooling(pooling_folder / "config.json"),
        width=_number(config, "hidden_size", transformer),
        max_length=_max_length(transformer, config, sentence_config),
        pad_id=config.get("pad_token_id") or 0,
        lowercase=bool(sentence_config.get("do_lower_case", False)),
        query_prefix=query_prefix,
        sheet_prefix=sheet_prefix,
    )
    return Checkpoint(name, transformer, tokenizer, spec)


def descriptions(spec: EncoderSpec) -> dict[str, Any]:
    """Return the JSON files that tell sentence-transformers pooling, length and prompts."""
    places = {"Transformer": "", "Pooling": "1_Pooling", "Normalize": "2_Normalize"}
    return {
        "modules.json": [
            {
                "idx": number,
                "name": str(number),
                "path": place,
                "type": f"sentence_transformers.models.{kind}",
            }
            for number, (kind, place) in enumerate(places.items())
        ],
        "1_Pooling/config.json": {
            "word_embedding_dimension": spec.width,
            "pooling_mode_cls_token": spec.pooling == "cls",
            "pooling_mode_mean_tokens": spec.pooling == "mean",
        },
        "2_Normalize/config.json": {},
        "sentence_bert_config.json": {
            "max_seq_length": spec.max_length,
            "do_lower_case": spec.lowercase,
        },
        "config_sentence_transformers.json": {
            "prompts": {"query": spec.query_prefix, "document": spec.sheet_prefix},
            "default_prompt_name": None,
            "similarity_fn_name": "cosine",
        },
    }


def _module_folders(folder: Path) -> tuple[Path, Path]:
    """Return the folders of the transformer and of the pooling, as `modules.json` lists them."""
    if not (folder / "modules.json").is_file():
        raise EncoderError(
            f"{folder} is no sentence-transformers folder: it has no modules.json, so its "
            "pooling is unknown; save it with SentenceTransformer.save"
        )
    found: dict[str, Path] = {}
    for module in _read_json(folder / "modules.json", kind=list):
        package, _, kind = str(module.get("type", "")).rpartition(".")
        if package.split(".")[0] != "sentence_transformers":
            raise EncoderError(
                f"{folder} asks for code of its own ({module.get('type')}); code from a "
                "checkpoint is never run: choose a model without custom modules"
            )
        if kind not in ("Transformer", "Pooling", "Normalize"):
            raise EncoderError(
                f"{folder} has a {kind} module; only Transformer, Pooling and Normalize "
                "are supported: choose a model without it"
            )
        found[kind] = _inside(folder, str(module.get("path", "")))
    if not {"Transformer", "Pooling"} <= set(found):
        raise EncoderError(f"{folder}/modules.json names no Transformer with a Pooling")
    return found["Transformer"], found["Pooling"]


def _inside(folder: Path, path: str) -> Path:
    """Return a path below the folder; refuse one that leads out of it."""
    relative = PurePosixPath(path)
    if relative.is_absolute() or ".." in relative.parts or "\\" in path or ":" in path:
        raise EncoderError(f"{folder} points outside of itself ({path!r}); it is refused")
    return folder / relative


def _weight_files(folder: Path) -> list[Path]:
    if (folder / "model.safetensors").is_file():
        return [folder / "model.safetensors"]
    index = folder / "model.safetensors.index.json"
    if index.is_file():
        names = sorted(set(_read_json(index).get("weight_map", {}).values()))
        return [_inside(folder, name) for name in names]
    if list(folder.glob("*.bin")) or list(folder.glob("*.pt")):
        raise EncoderError(
            f"{folder} holds its weights as a pickle (pytorch_model.bin), which can run code "
            "and is never read; convert a model you trust: AutoModel.from_pretrained(folder)"
            ".save_pretrained(folder, safe_serialization=True)"
        )
    raise EncoderError(f"{folder} has no model.safetensors; the download may be incomplete")


def _refuse_other_weights(folder: Path, config: dict[str, Any]) -> None:
    """Refuse settings that make transformers load weights outside the checkpoint's hash."""
    if "transformers_weights" in config:
        raise EncoderError(
            f"{folder}/config.json names a file of weights of its own (transformers_weights); "
            "call it model.safetensors and take the entry out"
        )
    if (folder / "adapter_config.json").exists():
        raise EncoderError(
            f"{folder} holds an adapter (adapter_config.json), whose base model lies elsewhere; "
            "merge them and save the whole model: model.merge_and_unload().save_pretrained(folder)"
        )


def _pooling(file: Path) -> Pooling:
    """Return "cls" or "mean", from the older form (one flag a mode) or the newer (one word)."""
    config = _read_json(file)
    modes = config.get("pooling_mode")
    if modes is None:
        prefix = "pooling_mode_"
        modes = [key.removeprefix(prefix) for key, on in config.items() if prefix in key and on]
    modes = [modes] if isinstance(modes, str) else list(modes)
    known: dict[str, Pooling] = {
        "cls": "cls",
        "cls_token": "cls",
        "mean": "mean",
        "mean_tokens": "mean",
    }
    if len(modes) != 1 or modes[0] not in known or not config.get("include_prompt", True):
        raise EncoderError(
            f"{file} asks for pooling {modes} (include_prompt="
            f"{config.get('include_prompt', True)}); one of CLS or mean, prompt included, "
            "is supported"
        )
    return known[modes[0]]


def _prefixes(folder: Path, config: dict[str, Any], name: str) -> tuple[str, str]:
    """Return the prefixes of queries and of sheets, chosen as in sentence-transformers."""
    settings = _read_json(folder / "config_sentence_transformers.json", missing={})
    prompts: dict[str, str] = settings.get("prompts") or {}
    default = prompts.get(settings.get("default_prompt_name") or "", "")
    query = prompts.get("query", default)
    names = [key for key in ("document", "passage", "corpus") if key in prompts]
    sheet = prompts[names[0]] if names else default
    # A folder's own path is ignored: moving it must not change its tokens.
    known_as = [str(config.get("_name_or_path", ""))] + [name] * (not Path(name).is_absolute())
    if not query and any(map(_BGE.search, known_as)):
        query = _BGE_QUERY_PREFIX
    return query or "", sheet or ""


def _max_length(folder: Path, config: dict[str, Any], sentence_config: dict[str, Any]) -> int:
    """Return the smallest of all limits that the folder states."""
    tokenizer_config = _read_json(folder / "tokenizer_config.json", missing={})
    positions = config.get("max_position_embeddings")
    if positions and config.get("model_type") in _ROBERTA_LIKE:
        positions -= (config.get("pad_token_id") or 0) + 1  # these count positions from there
    stated = sentence_config.get("max_seq_length") or tokenizer_config.get("model_max_length")
    limits = [int(limit) for limit in (stated, positions) if limit and 2 < limit < 1_000_000]
    return min(limits, default=512)


def architecture_hash(config: dict[str, Any]) -> str:
    """Return the SHA-256 of a model's configuration, without keys that do not affect tokens."""
    kept = {
        key: value
        for key, value in config.items()
        if value is not None and key not in _VOLATILE and not key.startswith("_")
    }
    return hashlib.sha256(json.dumps(kept, sort_keys=True).encode("utf-8")).hexdigest()


def _number(config: dict[str, Any], key: str, folder: Path) -> int:
    value = config.get(key, config.get("dim"))  # DistilBERT calls it dim
    if not isinstance(value, int) or value < 1:
        raise EncoderError(f"{folder}/config.json has no usable {key} ({value!r})")
    return value


def _hash_files(files: list[Path]) -> str:
    digest = hashlib.sha256()
    try:
        for file in files:
            with file.open("rb") as stream:
                while chunk := stream.read(1 << 20):
                    digest.update(chunk)
    except OSError as error:
        raise EncoderError(f"{error.filename} cannot be read ({error.strerror})") from error
    return digest.hexdigest()


def _read_json(file: Path, *, kind: type = dict, missing: Any = None) -> Any:
    """Return the JSON value of a file; `missing`, unless None, if there is no such file."""
    try:
        value = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        if missing is not None:
            return missing
        raise EncoderError(f"{file} is missing; the folder is incomplete") from error
    except (OSError, ValueError) as error:
        raise EncoderError(f"{file} cannot be read ({error}); fetch the folder again") from error
    if not isinstance(value, kind):
        raise EncoderError(f"{file} does not hold a JSON {kind.__name__}; fetch the folder again")
    return value
