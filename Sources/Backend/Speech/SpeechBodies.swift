internal import HTTPServer
internal import HTTPTypes
internal import Store
internal import Wire

struct SpeechBody: Decodable, Sendable, Described {
    var text: String
    var voice: String?
    var provider: String?
    /// The assistant whose voice is used if `voice` is absent.
    var assistant: String?

    static let schema = Schema.named(
        "SpeechRequest",
        .object([
            .required("text", .text(1...SpeechService.textBytesMax)), .optional("voice", .text(1...64)),
            .optional("provider", .text(1...64)),
            .optional("assistant", .text(1...64)),
        ]))

    /// - Parameter providers: not empty.
    /// - Throws: `HTTPError` with 400 for a value that cannot be spoken, 404 for an unknown assistant.
    func request(_ assistants: AssistantDirectory, _ providers: [SpeechProvider]) throws(HTTPError) -> SpeechRequest {
        guard text.utf8.count <= SpeechService.textBytesMax else {
            throw Self.invalid("text has more than \(SpeechService.textBytesMax) bytes")
        }
        guard text.contains(where: { $0.isLetter || $0.isNumber }) else { throw Self.invalid("text has nothing to speak") }
        let definition = try assistant.map { id throws(HTTPError) in
            guard let definition = assistants.definition(id) else { throw AssistantRoutes.notFound }
            return definition
        }
        guard let provider = provider.map({ name in providers.first { $0.name == name } }) ?? providers.first else {
            throw HTTPError(.unknownProvider, "provider must be one of \(providers.map(\.name).joined(separator: ", "))")
        }
        let voice = voice ?? definition.flatMap { provider.voices.contains($0.voice) ? $0.voice : nil } ?? provider.voices[0]
        guard provider.voices.contains(voice) else {
            throw Self.invalid("voice must be one of \(provider.voices.joined(separator: ", "))")
        }
        return SpeechRequest(text: text, voice: voice, provider: provider.name)
    }

    private static func invalid(_ fault: String) -> HTTPError { HTTPError(.invalidValue, fault) }
}

struct PlayBody: Decodable, Sendable, Described {
    var room: String

    static let schema = Schema.named("SpeechPlay", .object([.required("room", .text(1...256))]))
}

/// The speech providers with their voices. The first provider is the default.
struct SpeechProviderList: Encodable, Sendable, Described {
    struct Provider: Encodable, Sendable {
        var id: String
        var voices: [VoiceList.Voice]
    }

    var providers: [Provider]

    init(_ providers: [SpeechProvider]) {
        self.providers = providers.map { Provider(id: $0.name, voices: $0.voices.map { VoiceList.Voice($0) }) }
    }

    static let schema = Schema.named(
        "SpeechProviders",
        .object([
            .required(
                "providers",
                .array(
                    of: .object([
                        .required("id", .text(1...64)),
                        .required("voices", .array(of: .object([.required("id", .text(1...64)), .required("name", .text)]))),
                    ])))
        ]))
}

/// A clip's state and metadata, for those who requested it. A cancelled job has only `id`, `status` and `progress`.
struct ClipView: Encodable, Sendable, Described {
    var id: ClipID
    var status: String
    /// 0 to 100.
    var progress: Int
    var provider: String?
    var voice: String?
    /// The voice's name for display.
    var voiceName: String?
    var text: String?
    /// Nil in clips created by earlier versions.
    var createdAt: WallTime?
    var mimeType: String?
    var durationMs: Int?
    var words: [SpokenWord]?
    /// Why it has failed.
    var message: String?

    init(_ clip: SpeechClip) {
        id = clip.id
        status = clip.status.rawValue
        progress = clip.status == .ready ? 100 : 0
        provider = clip.request.provider
        voice = clip.request.voice
        voiceName = VoiceList.Voice(clip.request.voice).name
        text = clip.request.text
        createdAt = clip.createdAt
        mimeType = clip.details?.mimeType
        durationMs = clip.details?.durationMs
        words = clip.details?.words
        message = clip.failure
    }

    init(_ id: ClipID, status: SpeechStatus, progress: Int) {
        self.id = id
        self.status = status.rawValue
        self.progress = progress
    }

    var isReady: Bool { status == SpeechStatus.ready.rawValue }

    static let schema = Schema.named(
        "SpeechClip",
        .object([
            .required("id", .uuid), .required("status", .choice(SpeechStatus.allCases.map(\.rawValue))),
            .required("progress", .integer(0...100)), .optional("provider", .text(1...64)), .optional("voice", .text(1...64)),
            .optional("voice_name", .text(1...64)), .optional("text", .text(1...SpeechService.textBytesMax)),
            .optional("created_at", .time), .optional("mime_type", .text(1...64)), .optional("duration_ms", .count),
            .optional(
                "words",
                .array(of: .object([.required("text", .text), .required("start_ms", .count), .required("end_ms", .count)]))),
            .optional("message", .text),
        ]))
}

extension SpeechQueue.Refusal {
    var httpError: HTTPError {
        switch self {
        case .full: HTTPError(.speechBusy, "too many texts are waiting to be spoken; try again", retryAfterSeconds: 5)
        case .tooMany: HTTPError(.tooManyClips, "too many of your texts are waiting; try again", retryAfterSeconds: 5)
        }
    }
}
