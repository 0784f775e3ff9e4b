public import Wire

/// What one may ask of the gateway. Each returns when it is done, and throws `RequestFailure` if it is not.
extension RoomConnection {
    /// Asks for, or waives, a track of somebody else. Kept over reconnects as long as the track lives.
    public func subscribe(_ track: TrackSID, subscribed: Bool = true) async throws(RequestFailure) {
        _ = try await ask(.subscribe(track, subscribed: subscribed))
    }

    /// Changes our own name, metadata (at most 512 KiB) and attributes (64 KiB in all). Nil leaves as it is; an attribute with an
    /// empty value is deleted. Needs the grant `canUpdateOwnMetadata`.
    public func update(name: String? = nil, metadata: String? = nil, attributes: [String: String]? = nil) async throws(RequestFailure) {
        _ = try await ask(.updateParticipant(ParticipantUpdate(name: name, metadata: metadata, attributes: attributes)))
    }

    /// Sends text under a topic: to everybody else, or to those named. At most 64,000 bytes of UTF-8.
    public func sendData(_ text: String, topic: String, to recipients: [Identity]? = nil) async throws(RequestFailure) {
        _ = try await ask(.sendData(DataMessage(topic: topic, payload: .text(text), to: recipients)))
    }

    /// Sends bytes under a topic: to everybody else, or to those named. At most 64,000 bytes, and no more than 49,000 fit into one message.
    public func sendData(_ bytes: [UInt8], topic: String, to recipients: [Identity]? = nil) async throws(RequestFailure) {
        _ = try await ask(.sendData(DataMessage(topic: topic, payload: .base64(Base64.encode(bytes)), to: recipients)))
    }

    /// Sends a text message for people, such as a line of chat.
    ///
    /// - Returns: the gateway's id for it.
    @discardableResult
    public func sendText(
        _ text: String, topic: String = TextMessage.chatTopic, to recipients: [Identity]? = nil
    ) async throws(RequestFailure) -> String {
        guard let id = try await ask(.sendText(TextMessage(text: text, topic: topic, to: recipients))).id else { throw .badAnswer }
        return id
    }

    /// Sends a piece of live transcript: a new one, or a revision (same `id`, higher `rev`).
    public func sendSegment(_ segment: TranscriptSegment) async throws(RequestFailure) {
        _ = try await ask(.segment(segment))
    }

    /// Tells what we, an assistant, are doing. Told again after a reconnect.
    public func setAgentState(_ state: AgentState) async throws(RequestFailure) {
        _ = try await ask(.agentState(state))
    }

    /// Puts the call on hold, or takes it back.
    public func hold(_ held: Bool) async throws(RequestFailure) {
        _ = try await ask(.hold(held))
    }

    /// Sends telephone digits: 1 to 64 of 0–9, *, # and A–D.
    public func sendDigits(_ digits: String) async throws(RequestFailure) {
        _ = try await ask(.sendDigits(digits))
    }

    /// Gets a newer token. Reconnects use it by themselves, as they use those that the gateway sends every five minutes.
    ///
    /// - Returns: the token, and when it expires, in seconds since 1970.
    @discardableResult
    public func refreshToken() async throws(RequestFailure) -> (token: String, expiresAt: Int64) {
        let fields = try await ask(.refreshToken)
        guard let token = fields.token, let expiry = fields.expiresAt else { throw .badAnswer }
        return (token, expiry)
    }

    func ask(_ request: Request) async throws(RequestFailure) -> ReplyFields {
        try await door.ask(request, timeout: options.requestTimeout)
    }
}
