internal import Audio
internal import Synchronization
public import Wire

/// Speech recognition behind OpenAI's transcriptions, `POST {base_url}/audio/transcriptions`.
///
/// Asks for the language that was spoken (`verbose_json`) until the server refuses. Segments that are only partial are skipped unless the
/// settings ask for partial results, because servers bill each request and answer slowly.
public final class OpenAIRecognizer: SpeechRecognizer {
    /// Longer segments are refused: OpenAI accepts 25 MB.
    private static let durationMax = Duration.seconds(600)

    private let server: ProviderServer
    private let givesPartialResults: Bool
    private let refusesVerbosity = Atomic(false)

    /// - Parameter secrets: those that the settings may use.
    /// - Throws: `ProviderError` of code `unavailable`, whose message names the setting to correct.
    public init(_ settings: ProviderSettings, secrets: ProviderSecrets = ProviderSecrets()) throws(ProviderError) {
        server = try ProviderServer(settings, secrets: secrets)
        givesPartialResults = settings.partialResults ?? false
    }

    /// A stream without results if the segment is partial and partial results are off.
    public func recognize(_ segment: SpeechSegment) -> AsyncThrowingStream<Recognition, any Error> {
        guard !segment.isPartial || givesPartialResults else { return AsyncThrowingStream { $0.finish() } }
        return ProviderServer.stream { [self] sink in
            guard segment.duration <= Self.durationMax else {
                throw ProviderError(.rejected, "a segment of \(segment.duration) is longer than \(Self.durationMax)")
            }
            let answer = TranscriptionAnswer(for: segment)
            let file = try Self.wavFile(of: segment)
            if !refusesVerbosity.load(ordering: .relaxed) {
                do {
                    return try await server.send(request(file, segment, isVerbose: true), reading: answer, into: sink)
                } catch let failure as ProviderFailure where failure.refusesParameters {
                    // The same request for plain JSON tells whether that was the reason.
                }
            }
            try await server.send(request(file, segment, isVerbose: false), reading: answer, into: sink)
            refusesVerbosity.store(true, ordering: .relaxed)
        }
    }

    private func request(_ file: [UInt8], _ segment: SpeechSegment, isVerbose: Bool) -> ProviderRequest {
        var form = MultipartForm(boundary: "patchbay" + Hex.encode(randomBytes(16)))
        form.append("model", server.model)
        // ISO 639-1, as the API documents it.
        if let language = segment.language.split(separator: "-").first { form.append("language", String(language)) }
        form.append("response_format", isVerbose ? "verbose_json" : "json")
        form.append("file", fileName: "speech.wav", type: "audio/wav", file)
        return ProviderRequest(
            path: "/audio/transcriptions", contentType: form.contentType, accept: "application/json", body: form.bytes)
    }

    private static func wavFile(of segment: SpeechSegment) throws(ProviderError) -> [UInt8] {
        let samples = segment.samples.map { sample in
            sample.isNaN ? 0 : Int16(min(max((sample * 32_768).rounded(), -32_768), 32_767))
        }
        do {
            return try WAVFile.write(PCMBuffer(samples: samples, sampleRate: SpeechSegment.sampleRate))
        } catch {
            throw ProviderError(.rejected, "\(error)")
        }
    }
}

/// Interprets a transcription, `json` or `verbose_json`.
package struct TranscriptionAnswer: AnswerReader {
    private static let bytesMax = 1 << 20
    private static let textBytesMax = 64 << 10

    private let segmentLanguage: String
    private var body: [UInt8] = []

    /// Nothing can be used before all of it has arrived.
    package let progress = 0
    package let isComplete = false

    package init(for segment: SpeechSegment) {
        segmentLanguage = segment.language
    }

    package mutating func begin(contentType: String) throws(ProviderError) {
        if contentType.hasPrefix("text/html") {
            throw ProviderError(.invalidResponse, "the server sends a web page instead of a transcription; check base_url")
        }
    }

    package mutating func receive(_ bytes: [UInt8], into parts: inout [Recognition]) throws(ProviderError) {
        body += bytes
        guard body.count <= Self.bytesMax else {
            throw ProviderError(.invalidResponse, "the transcription is longer than \(Self.bytesMax) bytes")
        }
    }

    package mutating func finish(into parts: inout [Recognition]) throws(ProviderError) {
        guard let transcription = try? JSON.decode(Transcription.self, from: body, names: .snakeCase) else {
            throw ProviderError(.invalidResponse, "the transcription is malformed")
        }
        guard transcription.text.utf8.count <= Self.textBytesMax else {
            throw ProviderError(.invalidResponse, "the text of the transcription is longer than \(Self.textBytesMax) bytes")
        }
        parts.append(Recognition(text: transcription.text.trimmingSpaces(), language: language(transcription.language)))
    }

    /// Whisper reports names such as `english`, which are no tags.
    private func language(_ reported: String?) -> String {
        guard let reported, (2...3).contains(reported.utf8.count) else { return segmentLanguage }
        return segmentLanguage.hasPrefix(reported) ? segmentLanguage : reported
    }
}

private struct Transcription: Decodable {
    var text: String
    var language: String?
}

/// The body of a `multipart/form-data` request (RFC 7578).
package struct MultipartForm: Sendable {
    package let boundary: String
    private var content: [UInt8] = []

    /// - Parameter boundary: 1 to 70 letters and digits that occur in no part: a random text.
    package init(boundary: String) {
        self.boundary = boundary
    }

    package var contentType: String { "multipart/form-data; boundary=\(boundary)" }

    /// The body with its end.
    package var bytes: [UInt8] { content + "--\(boundary)--\r\n".utf8 }

    package mutating func append(_ name: StaticString, _ text: String) {
        append("Content-Disposition: form-data; name=\"\(name)\"\r\n\r\n", Array(text.utf8))
    }

    package mutating func append(_ name: StaticString, fileName: StaticString, type: StaticString, _ file: [UInt8]) {
        append("Content-Disposition: form-data; name=\"\(name)\"; filename=\"\(fileName)\"\r\nContent-Type: \(type)\r\n\r\n", file)
    }

    private mutating func append(_ head: String, _ body: [UInt8]) {
        content += "--\(boundary)\r\n\(head)".utf8
        content += body
        content += "\r\n".utf8
    }
}
