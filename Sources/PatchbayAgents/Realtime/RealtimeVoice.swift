internal import Audio
internal import Wire

/// The session of a call with a realtime provider, to which the users' utterances go and whose responses the assistant speaks.
///
/// Turn-taking, transcripts and the conversation log are the same as with other providers.
struct RealtimeVoice {
    /// Audio in one request.
    private static let requestSamplesMax = 5 * RealtimeConfiguration.sampleRate
    /// Providers refuse shorter turns.
    private static let turnSamplesMin = SpeechSegment.sampleRate / 10

    enum Report: Sendable {
        case opened(any RealtimeSession)
        case notOpened(ProviderError)
        case event(RealtimeEvent)
        case lost(ProviderError)
    }

    let provider: any RealtimeProvider
    var exchange = RealtimeExchange()
    /// Transcripts of the users' speech.
    var speech = KeptSpeech()
    var session: (any RealtimeSession)?
    /// Opens the latest session and reads its events.
    private var connection: Task<Void, Never>?

    init(provider: any RealtimeProvider) {
        self.provider = provider
    }

    /// - Parameter take: returns false if the session is of no use any more.
    mutating func connect(_ configuration: RealtimeConfiguration, take: @escaping @Sendable (Report) async -> Bool) {
        connection = Task { [provider] in
            let session: any RealtimeSession
            do { session = try await provider.open(configuration) } catch {
                _ = await take(.notOpened(Self.providerError(error)))
                return
            }
            guard await take(.opened(session)) else { return session.close() }
            do {
                for try await event in session.events { _ = await take(.event(event)) }
                _ = await take(.lost(ProviderError(.disconnected, "the realtime session has ended")))
            } catch {
                _ = await take(.lost(Self.providerError(error)))
            }
        }
    }

    private static func providerError(_ error: any Error) -> ProviderError {
        error as? ProviderError ?? ProviderError(.disconnected, "\(error)")
    }

    mutating func end() {
        connection?.cancel()
        close()
    }

    /// The reading task ends with the session.
    mutating func close() {
        session?.close()
        session = nil
    }

    /// Sends the conversation so far as text. Tools and their results are not part of it.
    mutating func send(_ history: [ConversationMessage]) {
        speech.rewind()
        for message in history {
            switch message {
            case .user(let text): session?.send(.appendUserText(text))
            case .digits(let digits): session?.send(.appendUserText(ChatRequest.text(ofDigits: digits)))
            case .assistant(let text, _): if !text.isEmpty { session?.send(.appendAssistantText(text)) }
            case .toolResult: break
            }
        }
    }

    /// Sends a message as it was said, or its text if it was written or its audio is not known.
    mutating func append(_ message: UserMessage) {
        guard let session else { return }
        guard let samples = speech.take(message), samples.count >= Self.turnSamplesMin, let pcm = Self.pcm(samples) else {
            return session.send(.appendUserText(message.kind == .digits ? ChatRequest.text(ofDigits: message.text) : message.text))
        }
        for start in stride(from: 0, to: pcm.count, by: Self.requestSamplesMax) {
            session.send(.appendAudio(Array(pcm[start..<min(start + Self.requestSamplesMax, pcm.count)])))
        }
        session.send(.commitAudio)
    }

    /// At the provider's rate; nil if the resampler fails.
    private static func pcm(_ samples: [Float]) -> [Int16]? {
        let pcm = PCMBuffer(samples: samples.map { Int16(max(-1, min(1, $0)) * 32_767) }, sampleRate: SpeechSegment.sampleRate)
        return try? pcm.resampled(to: RealtimeConfiguration.sampleRate).samples
    }
}
