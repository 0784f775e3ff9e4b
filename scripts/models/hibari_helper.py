"""Speaks for HibariSynthesizer: reads requests from standard input and writes audio with word times to standard output.

A message is a length (4 bytes, big-endian, of what follows), a kind (1 byte), a request's number (4 bytes, big-endian) and a body:

    kind          direction  body
    1 speak       in         JSON: text, speed, pitch, formant, intonation (factors; 1 leaves the voice as it is)
    2 cancel      in         empty
    16 ready      out        JSON: format; request number 0
    17 audio      out        length of the JSON (4 bytes, big-endian), JSON: rate, words {text, start, end} in seconds; samples (16 bits, little-endian)
    18 finished   out        empty
    19 failed     out        what failed, UTF-8

Requests are served in turns, a sentence each. The process ends when its input or its parent ends. With `--check` it only speaks a word.
"""
import collections
import difflib
import fractions
import json
import os
import queue
import signal
import struct
import sys
import threading

# The same as ModelsFolder.format.
FORMAT = 3
SPEAK, CANCEL, READY, AUDIO, FINISHED, FAILED = 1, 2, 16, 17, 18, 19
REQUEST_BYTES_MAX = 1 << 18
# The model's durations are in units of 25 ms, two frames of 300 samples.
UNIT = 600
# Silence before the first and after the last sound of a sentence, in samples.
LEAD, TAIL = 720, 6000
# Root mean square of what is louder than -30 dB below the loudest 20 ms, and the limit of the peak; -20 and -1 dBFS.
LEVEL, PEAK_MAX = 0.1, 0.89
# The lowest fundamental frequency of voiced frames, as in hibari.dsp.pulses.
VOICED_MIN = 40
# In a changed voice, the part of the spectrum that has the original pitch is lowered below 3 kHz (bins of 20 Hz).
RESIDUAL_BINS, RESIDUAL_FACTOR = 150, 0.25
# The output of the graph with the duration of each phoneme, declared by setup-models.
DURATIONS = "/Clip_output_0"
STYLE = ("speed", "pitch", "formant", "intonation")
PAUSES = frozenset(" ;:,.!?—…\"()“”")


class Speaker:
    """The model and its text front end."""

    def __init__(self, model):
        import numpy
        from hibari import dsp
        from hibari.g2p.normalize import normalize
        from hibari.tts import Hibari, MAX_PHONEMES
        self.numpy, self.dsp, self.normalize, self.phonemes_max = numpy, dsp, normalize, MAX_PHONEMES
        self.hibari = Hibari(model=model)
        self.outputs = [output.name for output in self.hibari.sess.get_outputs()]
        if DURATIONS not in self.outputs:
            raise RuntimeError("the model does not have the output with durations")
        self.random = numpy.random.default_rng()

    def pieces(self, text, **style):
        """Yields (samples, words) for each sentence. Times of words are relative to the beginning of the text's audio."""
        offset = 0
        for sentence in self.hibari.split_sentences(text):
            for phonemes, words in self.phrases(sentence):
                samples, durations = self.speak(phonemes, **style)
                if len(samples) == 0:
                    continue
                samples, lead = self.trimmed(samples, durations)
                timed = word_times(words, durations, lead, len(samples))
                rate = self.hibari.sample_rate
                yield samples, [{"text": word, "start": (offset + start) / rate, "end": (offset + end) / rate} for word, start, end in timed]
                offset += len(samples)

    def phrases(self, sentence):
        """Yields (phonemes, words) of at most `phonemes_max` phonemes; a word is its text and its range of phonemes, None if it is silent."""
        tokens = self.hibari.g2p.phonemize_tokens(self.hibari.g2p.tokenize(self.normalize(sentence)))
        spoken, text, phonemes = [], "", ""
        for token in tokens:
            text += token.text
            phonemes += "".join(c for c in token.phonemes or "" if c in self.hibari.vocab)
            if token.whitespace:
                spoken.append((text, phonemes.strip()))
                text, phonemes = "", ""
        if text:
            spoken.append((text, phonemes.strip()))
        start = 0
        for end in self.cuts([phonemes for _, phonemes in spoken]):
            yield self.joined(spoken[start:end], sentence if end - start == len(spoken) else None)
            start = end

    def cuts(self, words):
        """Where a sentence is cut: after punctuation if possible, so that no part is too long for the model."""
        length, start, pause = 0, 0, 0
        for index, phonemes in enumerate(words):
            if length + len(phonemes) > self.phonemes_max and index > start:
                cut = pause if pause > start else index
                yield cut
                length, start = sum(len(word) + 1 for word in words[cut:index]), cut
            length += len(phonemes) + 1
            if phonemes and phonemes[-1] in ",;:—":
                pause = index + 1
        yield len(words)

    def joined(self, spoken, sentence):
        """Phonemes of words in a row, and the words with their ranges, as written in `sentence` if it is given."""
        phonemes, ranges = "", []
        for text, part in spoken:
            if part and phonemes:
                phonemes += " "
            first = len(phonemes)
            phonemes += part[:self.phonemes_max]
            voiced = [first + index for index, c in enumerate(part[:self.phonemes_max]) if c not in PAUSES]
            ranges.append((text, voiced[0], voiced[-1] + 1) if voiced else (text, None, None))
        return phonemes, ranges if sentence is None else as_written(ranges, sentence.split())

    def speak(self, phonemes, speed=1.0, pitch=1.0, formant=1.0, intonation=1.0):
        """Samples, and the end of each phoneme in samples, beginning with the leading silence."""
        np = self.numpy
        ids = self.hibari.ids(phonemes)
        if len(ids) < 3:
            return np.zeros(0, np.float32), []
        # Formants are shifted by playing the result faster or slower, so everything else is made to fit that.
        outputs = dict(zip(self.outputs, self.hibari.sess.run(
            None, {"ids": np.asarray([ids], np.int64), "speed": np.asarray([speed / formant], np.float32)})))
        durations = np.cumsum(outputs.pop(DURATIONS).reshape(-1)) * UNIT
        lh, th, ln, lr, phi, f0 = (outputs[name][0] for name in ("lh", "theta", "ln", "lr", "phi", "f0"))
        voiced = f0 > VOICED_MIN
        if (pitch != formant or intonation != 1) and voiced.any():
            median = np.median(f0[voiced])
            f0 = np.where(voiced, median * (np.maximum(f0, 1) / median) ** intonation * pitch / formant, f0).astype(np.float32)
            phi = np.where(voiced, self.random.uniform(-np.pi, np.pi, phi.shape), phi).astype(np.float32)
            lr[:RESIDUAL_BINS, voiced] += np.log(RESIDUAL_FACTOR)
        samples = self.dsp.synth(lh, th, ln, lr, phi, f0, self.random)
        if formant != 1:
            samples = self.resampled(samples, fractions.Fraction(formant).limit_denominator(100))
        return samples, (durations / formant).astype(int)

    def resampled(self, samples, factor):
        """Samples that are played `factor` times as fast. Sentences begin and end with silence, so the ends may touch."""
        np = self.numpy
        blocks = -(-len(samples) // (factor.numerator * 64))
        before, after = (blocks * 64 * part for part in (factor.numerator, factor.denominator))
        spectrum = np.fft.rfft(samples, before)
        changed = np.zeros(after // 2 + 1, spectrum.dtype)
        count = min(len(spectrum), len(changed))
        changed[:count] = spectrum[:count]
        return (np.fft.irfft(changed, after) * (after / before)).astype(np.float32)

    def trimmed(self, samples, durations):
        """Samples at their final level between short silences, and how many were removed at the beginning."""
        np = self.numpy
        peak = float(np.max(np.abs(samples)))
        loud = np.flatnonzero(np.abs(samples) > max(peak * 0.02, 1e-4))
        if len(loud) == 0:
            return samples, 0
        lead = max(0, min(int(loud[0]), int(durations[0])) - LEAD)
        end = int(loud[-1]) + TAIL
        # The model's own silence at the end is shorter than a pause between sentences.
        padding = np.zeros(max(end - len(samples), 0), np.float32)
        energies = np.add.reduceat(samples ** 2, np.arange(0, len(samples), 480)) / 480
        level = float(np.sqrt(energies[energies > energies.max() / 1000].mean()))
        return np.concatenate([samples[lead:end], padding]) * min(LEVEL / level, PEAK_MAX / peak), lead


def as_written(ranges, written):
    """Maps the words that are spoken ("nine dollars") to the words that are written ("$9")."""
    words, matcher = [], difflib.SequenceMatcher(None, written, [text for text, _, _ in ranges], autojunk=False)
    for kind, a, b, c, d in matcher.get_opcodes():
        if kind == "equal":
            words += ranges[c:d]
            continue
        voiced = [(first, last) for _, first, last in ranges[c:d] if first is not None]
        if kind == "insert":
            if voiced and words and words[-1][1] is not None:
                words[-1] = (words[-1][0], words[-1][1], voiced[-1][1])
        elif voiced:
            # Without a better clue, a word takes as long as it is written.
            first, last, total, done = voiced[0][0], voiced[-1][1], sum(map(len, written[a:b])), 0
            for word in written[a:b]:
                start = first + (last - first) * done // total
                done += len(word)
                words.append((word, start, max(first + (last - first) * done // total, start)))
    return words


def word_times(words, durations, lead, count):
    """Start and end of each spoken word in samples, in order and within the audio."""
    previous = 0
    for text, first, last in words:
        if first is None:
            continue
        # The phoneme at index i lasts from durations[i] to durations[i + 1], because the leading silence is durations[0].
        start = min(max(int(durations[first]) - lead, previous), count)
        previous = min(max(int(durations[last]) - lead, start), count)
        yield text, start, previous


class Messages:
    """The messages on two file descriptors."""

    def __init__(self, source, sink):
        self.source, self.sink = source, sink

    def receive(self):
        """Returns (kind, number, body), or None at the end."""
        head = self.source.read(4)
        if len(head) < 4:
            return None
        length, = struct.unpack(">I", head)
        if not 5 <= length <= REQUEST_BYTES_MAX:
            return None
        message = self.source.read(length)
        return (*struct.unpack(">BI", message[:5]), message[5:]) if len(message) == length else None

    def send(self, kind, number, body=b""):
        message = memoryview(struct.pack(">IBI", len(body) + 5, kind, number) + body)
        while message:
            message = message[os.write(self.sink, message):]


def read(messages, requests, cancelled):
    """Moves requests into the queue; ends the process at the end of the input."""
    while (message := messages.receive()) is not None:
        kind, number, body = message
        if kind == SPEAK:
            requests.put((number, body))
        elif kind == CANCEL:
            cancelled.add(number)
    os._exit(0)


def watch_parent(parent):
    """Ends the process if its parent ends but another process keeps the input open."""
    while os.getppid() == parent:
        threading.Event().wait(1)
    os._exit(0)


def audio(samples, words, rate, numpy):
    head = json.dumps({"rate": rate, "words": words}, ensure_ascii=False).encode()
    pcm = (numpy.clip(samples, -1, 1) * 32767).astype("<i2").tobytes()
    return struct.pack(">I", len(head)) + head + pcm


def serve(speaker, messages, requests, cancelled):
    turns = collections.deque()
    while True:
        if not turns and requests.empty():
            # What was cancelled too late.
            cancelled.clear()
        while not turns or not requests.empty():
            number, body = requests.get()
            try:
                request = json.loads(body)
                turns.append((number, speaker.pieces(request.pop("text"), **{name: float(request[name]) for name in STYLE})))
            except (ValueError, KeyError, TypeError) as error:
                messages.send(FAILED, number, f"malformed request: {type(error).__name__}".encode())
        number, pieces = turns.popleft()
        if number in cancelled:
            cancelled.discard(number)
            messages.send(FINISHED, number)
            continue
        try:
            samples, words = next(pieces)
        except StopIteration:
            messages.send(FINISHED, number)
        except Exception as error:
            # Contains no text of the request.
            messages.send(FAILED, number, f"{type(error).__name__} in {error.__traceback__.tb_frame.f_code.co_name}".encode())
        else:
            messages.send(AUDIO, number, audio(samples, words, speaker.hibari.sample_rate, speaker.numpy))
            turns.append((number, pieces))
            continue
        cancelled.discard(number)


def main():
    if sys.argv[2:] == ["--check"]:
        sys.exit(0 if list(Speaker(sys.argv[1]).pieces("Hello.")) else "no audio")
    parent = os.getppid()
    # Signals of the terminal and of a service manager are for the parent, which may still be speaking its last words.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    # Nothing else may write between the messages.
    messages = Messages(sys.stdin.buffer, os.dup(1))
    os.dup2(2, 1)
    requests, cancelled = queue.Queue(), set()
    threading.Thread(target=watch_parent, args=(parent,), daemon=True).start()
    threading.Thread(target=read, args=(messages, requests, cancelled), daemon=True).start()
    speaker = Speaker(sys.argv[1])
    # A word in the lexicon, one that is not, and a changed voice.
    for _ in speaker.pieces("The first sentence takes longer. Zyxomma!", formant=0.9):
        pass
    messages.send(READY, 0, json.dumps({"format": FORMAT}).encode())
    serve(speaker, messages, requests, cancelled)


if __name__ == "__main__":
    main()
