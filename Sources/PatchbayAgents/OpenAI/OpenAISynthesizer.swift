internal import Audio
public import Wire

/// Speech synthesis behind OpenAI's `POST {base_url}/audio/speech`, as PCM that is delivered while it arrives. Without word times.
public struct OpenAISynthesizer: SpeechSynthesizer {
    private let server: ProviderServer

    /// - Parameter secrets: those that the settings may use.
    /// - Throws: `ProviderError` of code `unavailable`, whose message names the setting to correct.
    public init(_ settings: ProviderSettings, secrets: ProviderSecrets = ProviderSecrets()) throws(ProviderError) {
        server = try ProviderServer(settings, secrets: secrets)
    }

    /// - Parameter voice: sent to the server unless the settings name one.
    public func synthesize(_ text: String, voice: String) -> AsyncThrowingStream<SynthesizedSpeech, any Error> {
        let body: JSONValue = [
            "model": .string(server.model), "input": .string(text), "voice": .string(server.voice ?? voice), "response_format": "pcm",
        ]
        return ProviderServer.stream { [server] sink in
            let request = ProviderRequest(
                path: "/audio/speech", contentType: "application/json", accept: "audio/pcm, audio/wav",
                body: try JSON.encode(body, names: .asDeclared))
            try await server.send(request, reading: SpeechAnswer(), into: sink)
        }
    }
}

/// Interprets synthesized speech: PCM of 16 bits, little-endian, mono, 24 kHz, or WAV from servers that send it in spite of the request.
package struct SpeechAnswer: AnswerReader {
    /// Of raw PCM, as OpenAI documents it.
    package static let sampleRate = 24_000
    /// Audio for one text. Providers get a few sentences at a time.
    package static let secondsMax = 120
    /// Rates of speech. Others indicate a damaged header.
    private static let sampleRates = 8_000...48_000
    /// Pieces are at least this long, except the last one.
    private static let pieceMilliseconds = 20

    private enum Form {
        /// Fewer than 4 bytes so far.
        case unknown
        case pcm
        case wav(WAVStreamReader)
    }

    private var form = Form.unknown
    /// The beginning, then half a sample of PCM.
    private var rest: [UInt8] = []
    private var samples: [Int16] = []
    private var sampleCount = 0
    private var rate = Self.sampleRate
    package private(set) var progress = 0
    package let isComplete = false

    package init() {}

    package mutating func begin(contentType: String) throws(ProviderError) {
        let type = contentType.prefix { $0 != ";" }
        let others = ["text/", "application/json", "audio/mpeg", "audio/mp3", "audio/ogg", "audio/opus", "audio/aac", "audio/flac"]
        guard !others.contains(where: { type.hasPrefix($0) }) else {
            throw ProviderError(.invalidResponse, "the server sends \(type) instead of PCM")
        }
        // `audio/pcm;rate=16000`, `audio/L16; rate=16000` (RFC 2586).
        if let parameter = contentType.split(separator: ";").dropFirst().first(where: { $0.contains("rate=") }) {
            rate = Int(parameter.drop { $0 != "=" }.dropFirst().prefix { $0.isNumber }) ?? 0
            try checkRate()
        }
    }

    package mutating func receive(_ bytes: [UInt8], into parts: inout [SynthesizedSpeech]) throws(ProviderError) {
        progress += bytes.count
        switch form {
        case .unknown:
            rest += bytes
            guard rest.count >= 4 else { return }
            let beginning = rest
            rest = []
            try begin(with: beginning)
        case .pcm: appendPCM(bytes)
        case .wav(let reader): try appendWAV(bytes, reader)
        }
        guard sampleCount <= Self.secondsMax * rate else {
            throw ProviderError(.invalidResponse, "the speech for one text is longer than \(Self.secondsMax) s")
        }
        if samples.count >= rate * Self.pieceMilliseconds / 1_000 { deliver(into: &parts) }
    }

    package mutating func finish(into parts: inout [SynthesizedSpeech]) throws(ProviderError) {
        // Two bytes are one sample.
        if case .unknown = form { appendPCM([]) }
        if !samples.isEmpty { deliver(into: &parts) }
        if case .wav(let reader) = form, reader.isIncomplete {
            throw ProviderError(.disconnected, "the WAV file with the speech is truncated")
        }
        guard sampleCount > 0 else { throw ProviderError(.invalidResponse, "the speech is empty") }
    }

    private mutating func begin(with beginning: [UInt8]) throws(ProviderError) {
        let magic = beginning.prefix(4)
        if magic.elementsEqual("RIFF".utf8) || magic.elementsEqual("RF64".utf8) {
            try appendWAV(beginning, WAVStreamReader())
        } else if ["OggS", "fLaC", "<!DO", "<!do", "<htm"].contains(where: { magic.elementsEqual($0.utf8) }) {
            throw ProviderError(.invalidResponse, "the server sends neither PCM nor WAV")
        } else {
            form = .pcm
            appendPCM(beginning)
        }
    }

    private mutating func appendPCM(_ bytes: [UInt8]) {
        rest += bytes
        let count = rest.count / 2
        for index in 0..<count { samples.append(Int16(bitPattern: UInt16(rest[2 * index]) | UInt16(rest[2 * index + 1]) << 8)) }
        rest.removeFirst(2 * count)
        sampleCount += count
    }

    private mutating func appendWAV(_ bytes: [UInt8], _ current: WAVStreamReader) throws(ProviderError) {
        var reader = current
        do {
            let more = try reader.append(bytes)
            samples += more
            sampleCount += more.count
        } catch {
            throw ProviderError(.invalidResponse, "the server sends speech in a WAV file that cannot be read")
        }
        form = .wav(reader)
        if let found = reader.sampleRate {
            rate = found
            try checkRate()
        }
    }

    private func checkRate() throws(ProviderError) {
        guard Self.sampleRates.contains(rate) else {
            throw ProviderError(.invalidResponse, "the speech has the wrong rate, \(rate) Hz")
        }
    }

    private mutating func deliver(into parts: inout [SynthesizedSpeech]) {
        parts.append(SynthesizedSpeech(samples: samples, sampleRate: rate))
        samples = []
    }
}
