"""Weights in another file are found wherever a tensor may stand in a model."""

import random

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.external_data_helper import _get_all_tensors, uses_external_data

from sat_retriever import EncoderError
from sat_retriever.encoder.models.folder import FOLDER
from sat_retriever.encoder.onnx.compact import open_onnx
from sat_retriever.encoder.onnx.file import _FIELDS, refuse_external_data
from sat_retriever.encoder.onnx.session import open_session

LOCATIONS = ["weights.bin", "../secret.bin", "/etc/hostname", "*/_ORT_MEM_ADDR_/*"]


def tensor(location="", name="w"):
    weight = numpy_helper.from_array(np.ones(1, dtype=np.float32), name)
    if location:
        weight.ClearField("raw_data")
        weight.data_location = TensorProto.EXTERNAL
        weight.external_data.add(key="location", value=location)
    return weight


def graph(nodes, name="g", weights=()):
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in "xy")
    return helper.make_graph(nodes, name, [x], [y], list(weights))


def model(nodes=None, weights=(), functions=()):
    nodes = nodes or [helper.make_node("Add", ["x", "x"], ["y"])]
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("own", 1)]
    return helper.make_model(
        graph(nodes, weights=weights), opset_imports=opsets, functions=functions, ir_version=10
    )


def branch(weight):
    out = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1])
    constant = helper.make_node("Constant", [], ["y"], value=weight)
    return helper.make_graph([constant], "branch", [], [out])


def as_initializer(weight):
    return model([helper.make_node("Add", ["x", "w"], ["y"])], [weight])


def as_constant(weight):
    return model([helper.make_node("Constant", [], ["y"], value=weight)])


def as_constant_of_a_branch(weight):
    test = helper.make_node("Constant", [], ["c"], value=helper.make_tensor("c", 9, [], [True]))
    either = helper.make_node(
        "If", ["c"], ["y"], then_branch=branch(weight), else_branch=branch(tensor())
    )
    return model([test, either])


def as_constant_of_a_function(weight):
    body = [helper.make_node("Constant", [], ["b"], value=weight)]
    opset = [helper.make_opsetid("", 18)]
    function = helper.make_function("own", "f", ["a"], ["b"], body, opset)
    call = helper.make_node("f", ["x"], ["y"], domain="own")
    return model([call], functions=[function])


def as_default_of_a_function(weight):
    made = as_constant_of_a_function(tensor())
    made.functions[0].attribute_proto.append(helper.make_attribute("d", weight))
    return made


def as_sparse_weight(weight):
    made = model()
    made.graph.sparse_initializer.add().values.CopyFrom(weight)
    return made


def as_places_of_a_sparse_weight(weight):
    made = model()
    made.graph.sparse_initializer.add().indices.CopyFrom(weight)
    return made


def as_one_of_a_list(weight):
    made = model()
    made.graph.node[0].attribute.append(helper.make_attribute("list", [tensor(), weight]))
    return made


def as_weight_of_training(weight):
    made = model()
    made.training_info.add().algorithm.initializer.append(weight)
    return made


def as_one_of_a_graph_given_twice(weight):
    """Readers merge a message that is given twice; either half may name the file."""
    return [as_initializer(weight), as_initializer(tensor())]


PLACES = [
    as_initializer, as_constant, as_constant_of_a_branch, as_constant_of_a_function,
    as_default_of_a_function, as_sparse_weight, as_places_of_a_sparse_weight, as_one_of_a_list,
    as_weight_of_training, as_one_of_a_graph_given_twice,
]  # fmt: skip


def written(folder, made):
    file = folder / "model.onnx"
    parts = made if isinstance(made, list) else [made]
    file.write_bytes(b"".join(part.SerializeToString() for part in parts))
    return file


@pytest.mark.parametrize("location", LOCATIONS)
@pytest.mark.parametrize("place", PLACES)
def test_a_tensor_that_names_a_file_is_refused_wherever_it_stands(tmp_path, place, location):
    refuse_external_data(written(tmp_path, place(tensor())))
    with pytest.raises(EncoderError, match="save the model as one file"):
        refuse_external_data(written(tmp_path, place(tensor(location))))


def test_a_file_that_is_only_named_counts_even_if_the_model_says_that_data_is_inside(tmp_path):
    weight = tensor()
    weight.external_data.add(key="location", value="weights.bin")
    with pytest.raises(EncoderError, match="save the model as one file"):
        refuse_external_data(written(tmp_path, as_initializer(weight)))


def test_neither_a_session_nor_a_copy_is_made_of_a_model_in_two_files(tmp_path):
    file = tmp_path / "model.onnx"
    weight = numpy_helper.from_array(np.ones(1, dtype=np.float32), "w")
    onnx.save_model(
        as_initializer(weight), file, save_as_external_data=True, location="w.bin", size_threshold=0
    )
    assert (tmp_path / "w.bin").stat().st_size == 4
    for opened in (lambda: open_session(file, 1, "cpu"), lambda: open_onnx(file, "train")):
        with pytest.raises(EncoderError, match="keeps weights in another file"):
            opened()


def test_the_packaged_models_hold_all_their_weights():
    for file in FOLDER.rglob("model.onnx"):
        refuse_external_data(file)


def test_what_is_no_model_is_refused_and_says_so(tmp_path):
    whole = as_initializer(tensor()).SerializeToString()
    file = tmp_path / "model.onnx"
    for content in (b"", b"no model", b"\x0b", whole[:-1], whole + b"\xff", whole + b"\x80" * 12):
        file.write_bytes(content)
        with pytest.raises(EncoderError, match="it is no ONNX file"):
            refuse_external_data(file)
    with pytest.raises(EncoderError, match="it cannot be read"):
        refuse_external_data(tmp_path / "none.onnx")


def test_no_bytes_of_which_onnx_reads_another_file_pass(tmp_path):
    chance = random.Random(0)
    file = tmp_path / "model.onnx"
    seeds = [place(tensor("w.bin")) for place in PLACES[:-1]]
    read = refused = 0
    for number in range(600):
        content = bytearray(seeds[number % len(seeds)].SerializeToString())
        for _ in range(chance.randint(0, 2)):
            content[chance.randrange(len(content))] = chance.getrandbits(8)
        try:
            made = onnx.ModelProto.FromString(bytes(content))
        except Exception:  # noqa: BLE001 - protobuf's errors have no common class
            continue
        read += 1
        file.write_bytes(content)
        external = any(uses_external_data(each) for each in _get_all_tensors(made))
        try:
            refuse_external_data(file)
        except EncoderError:
            refused += 1
        else:
            assert not external
    assert read > 300
    assert refused > 200


def varint(value, width=0):
    """A number in so many bytes or more; more than it needs are allowed to readers."""
    found = bytearray()
    while value > 0x7F or len(found) + 1 < width:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])


def any_bytes(number, content, chance):
    """A field of bytes in one of the spellings that readers may take for the plain one."""
    tag = number << 3 | 2
    spelled = chance.choice([
        varint(tag), varint(tag, chance.randint(2, 6)), varint(tag | chance.randint(1, 7) << 32),
    ])  # fmt: skip
    return spelled + varint(len(content), chance.choice([0, 0, 0, 2, 5, 6])) + content


def any_spelling(chance):
    """A model of a weight in w.bin, in a spelling that a reader may or may not take."""
    weight, made = tensor("w.bin"), as_initializer(tensor())
    entries = [entry.SerializeToString() for entry in weight.external_data]
    weight.ClearField("external_data")
    weight.ClearField("data_location")
    said = varint(14 << 3) + varint(
        chance.choice([1, 1, 1 << 32 | 1, 0]), chance.choice([0, 5, 10])
    )
    if chance.random() < 0.3:  # twice; the last one counts
        said += varint(14 << 3) + varint(1)
    if chance.random() < 0.3:  # a name of which only the low half is the location's
        said = varint(14 << 3 | 1 << 32) + varint(1)
    del made.graph.initializer[:]
    inner = weight.SerializeToString()
    inner += b"".join(any_bytes(13, entry, chance) for entry in entries) + said
    graphs = [made.graph.SerializeToString(), any_bytes(5, inner, chance)]
    made.ClearField("graph")
    whole = [b"".join(graphs)] if chance.random() < 0.5 else graphs
    junk = chance.choice([b"", b"", b"", b"\x00\x00", b"\x02\x00", b"\x0b\x0c", b"\x0c"])
    spelled = (any_bytes(7, each, chance) for each in whole)
    return made.SerializeToString() + junk + b"".join(spelled)


def reads_another_file(file):
    try:
        session = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])
    except Exception:  # noqa: BLE001 - of a model that is none; its errors have no common class
        return False
    return session.run(None, {"x": np.zeros(1, np.float32)})[0].tolist() == [7.0]


def test_whatever_onnxruntime_reads_another_file_for_is_refused(tmp_path):
    (tmp_path / "w.bin").write_bytes(np.array([7], dtype=np.float32).tobytes())
    chance = random.Random(0)
    file = tmp_path / "model.onnx"
    read = 0
    for _ in range(400):
        file.write_bytes(any_spelling(chance))
        if reads_another_file(file):
            read += 1
            with pytest.raises(EncoderError):
                refuse_external_data(file)
    assert read > 50


@pytest.mark.parametrize("high", [1, 7])
def test_a_field_number_of_which_readers_drop_bits_is_none(tmp_path, high):
    whole = as_initializer(tensor()).SerializeToString()
    file = tmp_path / "model.onnx"
    for tag in (13 << 3 | 2 | high << 32, 0, 2):
        file.write_bytes(whole + varint(tag) + varint(0))
        with pytest.raises(EncoderError, match="no field at byte"):
            refuse_external_data(file)


def test_every_message_that_holds_a_tensor_is_followed():
    names = {
        "ModelProto": "model", "TrainingInfoProto": "training", "FunctionProto": "function",
        "GraphProto": "graph", "NodeProto": "node", "AttributeProto": "attribute",
        "SparseTensorProto": "sparse", "TensorProto": "tensor",
    }  # fmt: skip
    found, waiting = {}, [onnx.ModelProto.DESCRIPTOR]
    while waiting:
        message = waiting.pop()
        if message.name not in found:
            fields = [field for field in message.fields if field.message_type is not None]
            found[message.name] = {field.number: field.message_type.name for field in fields}
            waiting += [field.message_type for field in fields]
    assert set(names) <= set(found)
    for message, fields in found.items():
        followed = {number: names[name] for number, name in fields.items() if name in names}
        if message != "TensorProto":
            assert followed == _FIELDS.get(names.get(message), {}), message
