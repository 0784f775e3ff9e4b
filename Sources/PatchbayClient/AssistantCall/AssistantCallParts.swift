public import Wire

/// The routes of a gateway that an `AssistantCall` uses: `Sessions`, or a stand-in for tests.
public protocol AssistantCallBackend: Sendable {
    func start(_ request: AssistantCallRequest, idempotencyKey: String) async throws(AccountError) -> Sessions.Started
    func end(session id: String) async throws(AccountError)
    func log(_ turn: Sessions.NewTurn, session id: String, idempotencyKey: String) async throws(AccountError)
}

extension Sessions: AssistantCallBackend {
    public func start(_ request: AssistantCallRequest, idempotencyKey: String) async throws(AccountError) -> Started {
        try await start(
            request.context, assistant: request.assistant, clientContext: request.clientContext, voice: request.voice,
            language: request.language, idempotencyKey: idempotencyKey)
    }

    public func end(session id: String) async throws(AccountError) {
        _ = try await end(id)
    }

    public func log(_ turn: NewTurn, session id: String, idempotencyKey: String) async throws(AccountError) {
        _ = try await log(turn, in: id, idempotencyKey: idempotencyKey)
    }
}

/// The microphone and speaker of a call: on Apple platforms an `AVAudioEngine`, in tests a tone.
public protocol AssistantCallAudio: Sendable {
    /// Starts the microphone: 48 kHz, mono, in pieces of any length. The call reads the stream until the call ends, and then releases it.
    /// Suspends until the user has answered a permission prompt. If the room of an earlier call is still being left, this call takes over
    /// the microphone.
    ///
    /// - Throws: an error if there is no microphone or permission is denied; the call continues without it.
    func microphone() async throws -> AsyncStream<[Int16]>

    /// Plays the next 20 ms of a track. Suspends while the device has enough audio, at most about 100 ms ahead.
    func play(_ chunk: PCMChunk, of track: TrackSID) async

    /// Releases the devices after a call has ended.
    func stop() async
}
