internal import Audio
internal import Synchronization
public import Wire

/// Speech recognition behind OpenAI's transcriptions, `POST {base_url}/audio/transcriptions`.
///
/// Asks for word times (`verbose_json`) until the server refuses them. Segments that are only partial are skipped unless the settings ask for
/// partial results, because servers bill each request and answer slowly.
public final class OpenAIRecognizer: SpeechRecognizer {
    /// Longer segments are refused: OpenAI accepts 25 MB.
    private static let durationMax = Duration.seconds(600)

    private let server: ProviderServer
    private let givesPartialResults: Bool
    private let refusesWordTimes = Atomic(false)

    /// - Parameter environment: contains the API key; nil for the environment of the process.
    /// - Throws: `ProviderError` of code `unavailable`, whose message names the setting to correct.
    public init(_ settings: ProviderSettings, environment: [String: String]? = nil) throws(ProviderError) {
        server = try ProviderServer(settings, environment: environment)
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
            if !refusesWordTimes.load(ordering: .relaxed) {
                do {
                    return try await server.send(request(file, segment, withWordTimes: true), reading: answer, into: sink)
                } catch let failure as ProviderFailure where failure.refusesParameters {
                    // The same request without word times tells whether they were the reason.
                }
            }
            try await server.send(request(file, segment, withWordTimes: false), reading: answer, into: sink)
            refusesWordTimes.store(true, ordering: .relaxed)
        }
    }

    private func request(_ file: [UInt8], _ segment: SpeechSegment, withWordTimes: Bool) -> ProviderRequest {
        var form = MultipartForm(boundary: "patchbay" + Hex.encode(randomBytes(16)))
        form.append("model", server.model)
        // ISO 639-1, as the API documents it.
        if let language = segment.language.split(separator: "-").first { form.append("language", String(language)) }
        form.append("response_format", withWordTimes ? "verbose_json" : "json")
        if withWordTimes { form.append("timestamp_granularities[]", "word") }
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
