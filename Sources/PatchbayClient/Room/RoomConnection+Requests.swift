public import Wire

/// Requests to the gateway. Each returns once the gateway has confirmed it, and throws `RequestFailure` otherwise.
extension RoomConnection {
    /// Changes the local participant's name, metadata (at most 512 KiB) and attributes (64 KiB in all). Nil keeps a value; an attribute with
    /// an empty value is deleted. Needs the grant `canUpdateOwnMetadata`.
    public func update(name: String? = nil, metadata: String? = nil, attributes: [String: String]? = nil) async throws(RequestFailure) {
        _ = try await request(.updateParticipant(ParticipantUpdate(name: name, metadata: metadata, attributes: attributes)))
    }

    /// Sends text under a topic to all other participants, or to `recipients`. At most 64,000 bytes of UTF-8.
    public func sendData(_ text: String, topic: String, to recipients: [Identity]? = nil) async throws(RequestFailure) {
        _ = try await request(.sendData(DataMessage(topic: topic, payload: .text(text), to: recipients)))
    }

    /// Sends bytes under a topic to all other participants, or to `recipients`. At most about 49,000 bytes fit into a message.
    public func sendData(_ bytes: [UInt8], topic: String, to recipients: [Identity]? = nil) async throws(RequestFailure) {
        let payload = DataPayload.base64(Base64.standard.encode(bytes))
        _ = try await request(.sendData(DataMessage(topic: topic, payload: payload, to: recipients)))
    }

    /// Sends a text message for people, such as a line of chat.
    ///
    /// - Returns: the gateway's id of the message.
    @discardableResult
    public func sendText(
        _ text: String, topic: String = TextMessage.chatTopic, to recipients: [Identity]? = nil
    ) async throws(RequestFailure) -> String {
        guard let id = try await request(.sendText(TextMessage(text: text, topic: topic, to: recipients))).id else { throw .badAnswer }
        return id
    }

    /// Sends a segment of a live transcript: a new one, or a revision (same `id`, higher `rev`).
    public func sendSegment(_ segment: TranscriptSegment) async throws(RequestFailure) {
        _ = try await request(.segment(segment))
    }

    /// Reports what the local participant, an assistant, is doing. Repeated after a reconnect.
    public func setAgentState(_ state: AgentState) async throws(RequestFailure) {
        let timeout = options.requestTimeout
        _ = try await handle.perform { (session, reply: RoomSession.Reply) in
            session.send(.agentState(state), timeout: timeout, .agentState(state, reply))
        }
    }

    /// Puts the call on hold, or resumes it.
    public func hold(_ held: Bool) async throws(RequestFailure) {
        let timeout = options.requestTimeout
        _ = try await handle.perform { (session, reply: RoomSession.Reply) in
            session.send(.hold(held), timeout: timeout, .holder(held, reply))
        }
    }

    /// Sends DTMF digits: 1 to 64 of 0–9, *, # and A–D.
    public func sendDigits(_ digits: String) async throws(RequestFailure) {
        _ = try await request(.sendDigits(digits))
    }

    /// Requests a fresh token. Reconnects use the newest token, including those that the gateway sends every five minutes.
    ///
    /// - Returns: the token and its expiry in seconds since 1970.
    @discardableResult
    public func refreshToken() async throws(RequestFailure) -> (token: String, expiresAt: Int64) {
        let fields = try await request(.refreshToken)
        guard let token = fields.token, let expiry = fields.expiresAt else { throw .badAnswer }
        return (token, expiry)
    }

    func request(_ request: Request) async throws(RequestFailure) -> ReplyFields {
        try await self.request(request, timeout: options.requestTimeout)
    }

    private func request(_ request: Request, timeout: Duration) async throws(RequestFailure) -> ReplyFields {
        try await handle.perform { $0.send(request, timeout: timeout, .caller($1)) }
    }
}

/// Remote procedures: a participant calls a method of another one through the gateway.
extension RoomConnection {
    /// Calls a method of another participant.
    ///
    /// - Parameters:
    ///   - payload: at most 15,360 bytes of UTF-8.
    ///   - timeout: how long the gateway waits for the callee, 1 ms to 60 s.
    /// - Returns: the callee's response.
    /// - Throws: `RequestFailure`; its `procedureError` has LiveKit's code if the callee failed or was absent.
    public func call(
        _ method: String, of callee: Identity, payload: String = "", timeout: Duration = .seconds(10)
    ) async throws(RequestFailure) -> String {
        let call = ProcedureCall(to: callee, method: method, payload: payload, timeoutMs: Int(timeout.inMilliseconds))
        // Leaves the gateway time to report that the callee timed out.
        let reply = try await request(.callProcedure(call), timeout: timeout + options.requestTimeout)
        guard let response = reply.payload else { throw .badAnswer }
        return response
    }

    /// Sets the handler of `method`, replacing an earlier one. Calls run concurrently.
    ///
    /// Calls of methods without a handler are answered with 1400, "unsupported method". All calls appear in `events`, too. At most
    /// `StreamLimits.procedureCallsMax` run at once; running calls are cancelled when the room ends.
    public func onProcedure(_ method: String, _ handler: @escaping ProcedureHandler) {
        procedures.set(handler, for: method)
    }

    /// Removes the handler of `method`.
    public func removeProcedure(_ method: String) {
        procedures.set(nil, for: method)
    }
}
