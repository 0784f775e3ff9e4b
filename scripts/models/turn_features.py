"""Writes the feature extraction of the turn detector as an ONNX model to the given path.

Input `audio`: 8 s at 16 kHz, mono, [1, 1, 128000]. Output `input_features`: the log-mel spectrogram that smart-turn v3 expects, [1, 80, 800].
The audio is normalized to mean 0 and variance 1; frames of 400 samples, 160 apart, are multiplied by a Hann window. The discrete Fourier transform
is a convolution with cosines and sines, so that the runtime's optimized kernels do all the work. The mel scale is Slaney's, as in Whisper.
"""
import sys

import numpy

RATE, SAMPLES, FFT, HOP, FRAMES, MELS = 16_000, 128_000, 400, 160, 800, 80


# Protocol Buffers: a varint, a field with a varint, a field of a given length.
def varint(value):
    encoded = b""
    while value > 127:
        encoded, value = encoded + bytes([value & 127 | 128]), value >> 7
    return encoded + bytes([value])


def number(key, value):
    return varint(key << 3) + varint(value & (1 << 64) - 1)


def message(key, body):
    body = body.encode() if isinstance(body, str) else body
    return varint(key << 3 | 2) + varint(len(body)) + body


# onnx.proto: TensorProto, AttributeProto, NodeProto, ValueInfoProto, GraphProto, ModelProto.
def tensor(name, values):
    values = numpy.asarray(values)
    kind = 7 if values.dtype == numpy.int64 else 1
    values = values if kind == 7 else values.astype(numpy.float32)
    dimensions = b"".join(number(1, dimension) for dimension in values.shape)
    return message(5, dimensions + number(2, kind) + message(8, name) + message(9, values.tobytes()))


def node(operator, inputs, output, **attributes):
    body = b"".join(message(1, name) for name in inputs) + message(2, output) + message(4, operator)
    for name, value in attributes.items():
        if isinstance(value, str):
            body += message(5, message(1, name) + message(4, value) + number(20, 3))
        elif isinstance(value, int):
            body += message(5, message(1, name) + number(3, value) + number(20, 2))
        else:
            body += message(5, message(1, name) + b"".join(number(8, item) for item in value) + number(20, 7))
    return message(1, body)


def value(key, name, shape):
    dimensions = b"".join(message(1, number(1, dimension)) for dimension in shape)
    return message(key, message(1, name) + message(2, message(1, number(1, 1) + message(2, dimensions))))


def mel(frequency):
    return numpy.where(frequency < 1000, frequency * 3 / 200, 15 + numpy.log(numpy.maximum(frequency, 1) / 1000) * 27 / numpy.log(6.4))


def hertz(mel):
    return numpy.where(mel < 15, mel * 200 / 3, 1000 * numpy.exp((mel - 15) * numpy.log(6.4) / 27))


def transform():
    """The windowed cosines and sines of each frequency, [402, 1, 400]."""
    window = numpy.hanning(FFT + 1)[:-1]
    angles = 2 * numpy.pi * numpy.outer(numpy.arange(FFT // 2 + 1), numpy.arange(FFT)) / FFT
    return (numpy.concatenate([numpy.cos(angles), numpy.sin(angles)]) * window)[:, None, :]


def bands():
    """Triangular bands of equal area over the squares of cosines and sines, [80, 402]."""
    edges = hertz(numpy.linspace(0, mel(numpy.array(RATE / 2.0)), MELS + 2))
    frequencies = numpy.linspace(0, RATE / 2, FFT // 2 + 1)
    rising = (frequencies - edges[:-2, None]) / numpy.diff(edges)[:-1, None]
    falling = (edges[2:, None] - frequencies) / numpy.diff(edges)[1:, None]
    triangles = numpy.maximum(0, numpy.minimum(rising, falling)) * (2 / (edges[2:] - edges[:-2]))[:, None]
    return numpy.concatenate([triangles, triangles], axis=1)


def model():
    constants = {
        "variance_min": [1e-7], "transform": transform(), "bands": bands(), "energy_min": [1e-10], "per_decade": [1 / numpy.log(10)],
        "range": [8.0], "quarter": [0.25], "one": [1.0],
        # Frames are centred. Only what the last of them needs is appended.
        "padding": numpy.array([0, 0, FFT // 2, 0, 0, (FRAMES - 1) * HOP + FFT // 2 - SAMPLES], numpy.int64),
    }
    nodes = [
        node("ReduceMean", ["audio"], "mean", axes=[2], keepdims=1), node("Sub", ["audio", "mean"], "centred"),
        node("Mul", ["centred", "centred"], "squared"), node("ReduceMean", ["squared"], "variance", axes=[2], keepdims=1),
        node("Add", ["variance", "variance_min"], "variance_sum"), node("Sqrt", ["variance_sum"], "deviation"),
        node("Div", ["centred", "deviation"], "normalized"),
        node("Pad", ["normalized", "padding"], "padded", mode="reflect"),
        node("Conv", ["padded", "transform"], "spectrum", strides=[HOP]),
        node("Mul", ["spectrum", "spectrum"], "power"), node("MatMul", ["bands", "power"], "energy"),
        node("Max", ["energy", "energy_min"], "energy_above"), node("Log", ["energy_above"], "natural"),
        node("Mul", ["natural", "per_decade"], "decades"),
        node("ReduceMax", ["decades"], "loudest", keepdims=1), node("Sub", ["loudest", "range"], "floor"),
        node("Max", ["decades", "floor"], "limited"), node("Mul", ["limited", "quarter"], "scaled"),
        node("Add", ["scaled", "one"], "input_features"),
    ]
    graph = b"".join(nodes) + message(2, "log_mel") + b"".join(tensor(name, values) for name, values in constants.items())
    graph += value(11, "audio", [1, 1, SAMPLES]) + value(12, "input_features", [1, MELS, FRAMES])
    # IR version 8 with operator set 17.
    return number(1, 8) + message(7, graph) + message(8, message(1, "") + number(2, 17))


if __name__ == "__main__":
    with open(sys.argv[1], "wb") as file:
        file.write(model())
