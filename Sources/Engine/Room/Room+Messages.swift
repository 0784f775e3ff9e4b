import Wire

extension Room {
    mutating func sendData(_ message: DataMessage, by requester: Requester, at index: Int, into effects: inout [Effect]) throws(RequestError) {
        let sender = roster[at: index]
        try sender.checkMayPublishData()
        try check(message.topic, size: message.payload.byteCount, field: "payload")
        let recipients = try recipients(of: message.to, from: sender)
        reply(to: requester, into: &effects)
        deliver(message, from: sender.signature, to: recipients, into: &effects)
    }

    /// Sends data. Participants that must not receive text are left out if the payload is readable; the sender does not learn of
    /// it.
    ///
    /// - Parameter sender: nil if it is nobody in the room.
    func deliver(_ message: DataMessage, from sender: Identity?, to recipients: [ParticipantHandle], into effects: inout [Effect]) {
        let readers = readers(among: recipients)
        let audience = readers.count < recipients.count && message.payload.isReadable ? readers : recipients
        send(.data(from: sender ?? Identity(text: ""), topic: message.topic, message.payload), to: audience, into: &effects)
    }

    mutating func sendText(_ message: TextMessage, by requester: Requester, at index: Int, into effects: inout [Effect]) throws(RequestError) {
        let sender = roster[at: index]
        try sender.checkMayPublishData()
        try check(message.topic, size: message.text.utf8.count, field: "text")
        let recipients = try recipients(of: message.to, from: sender)
        let id = identifiers.text()
        reply(.textSent(id: id), to: requester, into: &effects)
        let event = Event.text(id: id, from: sender.signature, topic: message.topic, text: message.text)
        send(event, to: readers(among: recipients), into: &effects)
    }

    mutating func sendDigits(_ digits: String, by requester: Requester, at index: Int, into effects: inout [Effect]) throws(RequestError) {
        let sender = roster[at: index]
        try sender.checkMayPublishData()
        guard (1...Limits.digitsMax).contains(digits.utf8.count), digits.utf8.allSatisfy(Self.keypad.contains) else {
            throw RequestError(.invalidArgument, "`digits` must be 1 to \(Limits.digitsMax) of 0-9 * # A-D, and w for a pause")
        }
        reply(to: requester, into: &effects)
        send(.digits(from: sender.signature, digits), to: everyone(but: requester.handle), into: &effects)
    }

    private static let keypad = Array("0123456789*#ABCDw".utf8)

    private func check(_ topic: String, size: Int, field: String) throws(RequestError) {
        guard topic.utf8.count <= Limits.topicBytesMax else {
            throw RequestError(.limitExceeded, "`topic` is over \(Limits.topicBytesMax) bytes")
        }
        guard size <= ProtocolLimits.dataBytesMax else {
            throw RequestError(.limitExceeded, "`\(field)` is over \(ProtocolLimits.dataBytesMax) bytes")
        }
    }

    /// The recipients, without duplicates and without the sender. An empty list means everybody (as in LiveKit); unknown identities
    /// are ignored if at least one is known.
    private func recipients(of identities: [Identity]?, from sender: Participant) throws(RequestError) -> [ParticipantHandle] {
        let known = recipients(of: identities)
        guard !known.isEmpty else { throw RequestError(.notFound, "none of the participants in `to` is in the room") }
        return known.filter { $0 != sender.handle }
    }

    func recipients(of identities: [Identity]?) -> [ParticipantHandle] {
        guard let identities, !identities.isEmpty else { return everyone }
        var seen: Set<ParticipantHandle> = []
        return identities.compactMap { handles[$0] }.filter { seen.insert($0).inserted }
    }
}

extension Participant {
    func checkMayPublishData() throws(RequestError) {
        guard permission.canPublishData else { throw RequestError(.notAllowed, "the token does not allow to publish data") }
    }
}

extension Room {
    /// Forwards a procedure call. The caller is answered when the callee answers, leaves or times out.
    mutating func callProcedure(
        _ call: ProcedureCall, by requester: Requester, at index: Int, now: Instant, into effects: inout [Effect]
    ) throws(RequestError) {
        let caller = roster[at: index]
        try caller.checkMayPublishData()
        guard (1...Limits.procedureNameBytesMax).contains(call.method.utf8.count) else {
            throw RequestError(.invalidArgument, "`method` must be 1 to \(Limits.procedureNameBytesMax) bytes")
        }
        let longest = Int(Limits.procedureTimeoutMax.inMilliseconds)
        guard (1...longest).contains(call.timeoutMs) else {
            throw RequestError(.invalidArgument, "`timeout_ms` must be 1 to \(longest)")
        }
        guard call.payload.utf8.count <= ProtocolLimits.rpcPayloadBytesMax else { throw RequestError(.requestTooLarge) }
        guard let callee = handles[call.to] else { throw RequestError(.recipientNotFound) }
        guard procedures.count(from: requester.handle) < Limits.proceduresPendingMax else {
            throw RequestError(
                .limitExceeded, "\(Limits.proceduresPendingMax) calls already wait for an answer; wait for one of them", retryable: true)
        }
        let id = identifiers.procedureCall()
        let deadline = now + .milliseconds(call.timeoutMs)
        procedures.begin(.init(id: id, caller: requester.handle, request: requester.id, callee: callee, deadline: deadline))
        wakeUp.include(deadline)
        let event = Event.procedureCalled(
            requestID: id, from: caller.signature, method: call.method, payload: call.payload, timeoutMilliseconds: call.timeoutMs)
        send(event, to: [callee], into: &effects)
    }

    mutating func answerProcedure(_ answer: ProcedureAnswer, by requester: Requester, into effects: inout [Effect]) throws(RequestError) {
        guard procedures.isPending(answer.requestId, at: requester.handle) else {
            throw RequestError(.notFound, "no call of this `request_id` waits for your answer; it may have come too late")
        }
        guard (answer.payload == nil) != (answer.error == nil) else {
            throw RequestError(.invalidArgument, "answer with either `payload` or `error`")
        }
        guard let call = procedures.finish(answer.requestId, by: requester.handle) else { return }
        if let payload = answer.payload {
            guard payload.utf8.count <= ProtocolLimits.rpcPayloadBytesMax else {
                // The caller is answered now, and the callee cannot try again.
                fail(call, .responseTooLarge, into: &effects)
                let refusal = RequestError(
                    .limitExceeded, "`payload` is over \(ProtocolLimits.rpcPayloadBytesMax) bytes; the caller got error 1504")
                emit(.reject(refusal, re: requester.id, to: requester.handle), into: &effects)
                return
            }
            reply(.procedureAnswered(payload: payload), to: Requester(handle: call.caller, id: call.request), into: &effects)
        } else if let error = answer.error {
            let message = error.message.prefix(bytes: ProtocolLimits.rpcErrorBytesMax)
            fail(call, ProcedureError(code: error.code, message: message), into: &effects)
        }
        reply(to: requester, into: &effects)
    }

    /// A call without `id` gets no answer.
    private func fail(_ call: PendingProcedureCalls.Call, _ error: ProcedureError, into effects: inout [Effect]) {
        if let id = call.request { emit(.reject(RequestError(error), re: id, to: call.caller), into: &effects) }
    }

    mutating func abandonProcedures(of leaver: ParticipantHandle, into effects: inout [Effect]) {
        for call in procedures.abandon(leaver) { fail(call, .recipientDisconnected, into: &effects) }
    }

    mutating func expireProcedures(at now: Instant, into effects: inout [Effect]) {
        for call in procedures.expire(at: now) { fail(call, .responseTimeout, into: &effects) }
    }
}

extension String {
    /// The longest prefix of whole characters that fits into `limit` bytes of UTF-8.
    package func prefix(bytes limit: Int) -> String {
        guard utf8.count > limit else { return self }
        var count = 0
        return String(
            prefix { character in
                count += character.utf8.count
                return count <= limit
            })
    }
}

extension Room {
    mutating func updateProfile(
        _ update: ParticipantUpdate, of requester: Requester, at index: Int, now: Instant, into effects: inout [Effect]
    ) throws(RequestError) {
        guard roster[at: index].permission.canUpdateMetadata else {
            throw RequestError(.notAllowed, "the token does not allow to change one's own name, metadata or attributes")
        }
        try roster[at: index].profile.check(update)
        reply(to: requester, into: &effects)
        // In place: a live copy of the participant would make its dictionary copy itself.
        guard roster[at: index].profile.apply(update) else { return }
        sendPacedUpdate(ofParticipantAt: index, at: now, into: &effects)
        let tokenDue = roster[at: index].updateBudget.tokenDueAt(now)
        if tokenDue <= now {
            roster[at: index].updateBudget.recordToken(at: now)
            mintToken(forParticipantAt: index, re: nil, at: now, into: &effects)
        } else {
            roster[at: index].refreshAt = min(roster[at: index].refreshAt, tokenDue)
            wakeUp.include(tokenDue)
        }
    }

    /// Sends `participant.updated` now if the participant's budget allows, or else when it does.
    private mutating func sendPacedUpdate(ofParticipantAt index: Int, at now: Instant, into effects: inout [Effect]) {
        let recipients = roster[at: index].isHidden ? 1 : roster.count
        let bytes = roster[at: index].profile.encodedBytes * recipients
        guard roster[at: index].updateBudget.spendUpdate(bytes, at: now) else {
            return wakeUp.include(roster[at: index].updateBudget.updateDueAt)
        }
        let participant = roster[at: index]
        send(.participantUpdated(participant.info(), connection: participant.connectionState), to: audience(of: participant), into: &effects)
    }

    /// Sends coalesced updates and refreshes tokens that are due.
    mutating func processProfileDeadlines(ofParticipantAt index: Int, at now: Instant, into effects: inout [Effect]) {
        if let due = roster[at: index].updateBudget.updateDueAt, due <= now { sendPacedUpdate(ofParticipantAt: index, at: now, into: &effects) }
        guard roster[at: index].refreshAt <= now else { return }
        roster[at: index].updateBudget.recordToken(at: now)
        mintToken(forParticipantAt: index, re: nil, at: now, into: &effects)
    }

    /// Sends a participant's description to everybody, and a token that matches it to itself.
    mutating func sendUpdate(ofParticipantAt index: Int, at now: Instant, into effects: inout [Effect]) {
        roster[at: index].updateBudget.recordUpdate()
        let participant = roster[at: index]
        send(.participantUpdated(participant.info(), connection: participant.connectionState), to: audience(of: participant), into: &effects)
        mintToken(forParticipantAt: index, re: nil, at: now, into: &effects)
    }

    /// Answers a request for a fresh token. A token carries the whole profile, so the request counts against the budget.
    mutating func refreshToken(of requester: Requester, at index: Int, now: Instant, into effects: inout [Effect]) throws(RequestError) {
        let bytes = roster[at: index].profile.encodedBytes
        guard roster[at: index].updateBudget.spend(bytes, at: now) else {
            throw RequestError(.limitExceeded, "too many tokens and profile updates in a short time; try again later", retryable: true)
        }
        mintToken(forParticipantAt: index, re: requester.id, at: now, into: &effects)
    }

    /// Requests a token, and schedules the next regular one.
    mutating func mintToken(forParticipantAt index: Int, re id: UInt64?, at now: Instant, into effects: inout [Effect]) {
        roster[at: index].refreshAt = now + Limits.tokenRefreshInterval
        wakeUp.include(roster[at: index].refreshAt)
        let participant = roster[at: index]
        emit(.mintToken(for: participant.handle, participant.tokenContent(room: name), re: id), into: &effects)
    }
}

/// The state of agents, as reported to others.
extension Room {
    mutating func setAgentState(
        _ state: AgentState, by requester: Requester, at index: Int, now: Instant, into effects: inout [Effect]
    ) throws(RequestError) {
        guard roster[at: index].kind == .agent else { throw RequestError(.notAllowed, "only a participant of kind agent has a state") }
        reply(to: requester, into: &effects)
        let playsAhead = roster[at: index].tracks.contains(where: playouts.contains)
        if let told = roster[at: index].activity.say(state, playsAhead: playsAhead, at: now) {
            tell(told, ofAgentAt: index, into: &effects)
        }
        wakeUp.include(roster[at: index].activity.deadline)
    }

    /// Playout of one of its tracks has started.
    mutating func playoutStarted(ofAgent handle: ParticipantHandle, into effects: inout [Effect]) {
        guard let index = roster.index(of: handle), roster[at: index].kind == .agent else { return }
        let told = roster[at: index].activity.beHeard()
        tell(told, ofAgentAt: index, into: &effects)
    }

    /// Playout of one of its tracks has ended; if it was the last, the agent stops speaking.
    mutating func playoutEnded(ofAgent handle: ParticipantHandle, into effects: inout [Effect]) {
        guard let index = roster.index(of: handle), roster[at: index].kind == .agent else { return }
        guard !roster[at: index].tracks.contains(where: { playouts[$0]?.utterance != nil }) else { return }
        if let told = roster[at: index].activity.fallSilent() { tell(told, ofAgentAt: index, into: &effects) }
    }

    mutating func tellHeldBackSpeaking(ofParticipantAt index: Int, at now: Instant, into effects: inout [Effect]) {
        if let told = roster[at: index].activity.check(at: now) { tell(told, ofAgentAt: index, into: &effects) }
    }

    /// Participants present get `agent.state`, later ones see the attribute. There is no `participant.updated` beside it.
    private mutating func tell(_ state: AgentState, ofAgentAt index: Int, into effects: inout [Effect]) {
        guard roster[at: index].profile.set(AgentState.attribute, to: state.rawValue) else { return }
        guard !roster[at: index].isHidden else { return }
        send(.agentState(roster[at: index].identity, state), to: everyone(but: roster.keys[index]), into: &effects)
    }
}

extension Room {
    /// Relays a transcript segment to everybody except its sender, and keeps it for participants that join later.
    ///
    /// Agents may transcribe for others. A revision that is not newer than the known one is acknowledged and ignored.
    mutating func transcribe(
        _ segment: TranscriptSegment, by requester: Requester, at index: Int, now: Instant, into effects: inout [Effect]
    ) throws(RequestError) {
        let sender = roster[at: index]
        try sender.checkMayPublishData()
        try segment.check()
        let speaker = segment.participant ?? sender.identity
        if sender.kind != .agent {
            guard speaker == sender.identity, segment.role == .user else {
                throw RequestError(.notAllowed, "only an agent may transcribe for others; send role \"user\" about yourself")
            }
        }
        // The answer must not reveal a hidden participant.
        guard let known = handles[speaker].flatMap({ roster[$0] }), !known.isHidden else {
            throw RequestError(.notFound, "nobody in the room can be transcribed under that identity")
        }
        var segment = segment
        segment.participant = speaker
        let outcome = transcript.take(&segment, at: now)
        if outcome == .taken { throw RequestError(.invalidArgument, "this `id` names what somebody else said; choose another") }
        reply(to: requester, into: &effects)
        guard outcome != .stale else { return }
        send(.segment(segment), to: readers(among: everyone(but: requester.handle)), into: &effects)
        recordTranscript(segment, at: now, into: &effects)
    }
}

extension TranscriptSegment {
    fileprivate func check() throws(RequestError) {
        guard (1...Limits.segmentIDBytesMax).contains(id.utf8.count) else {
            throw RequestError(.invalidArgument, "`id` must be 1 to \(Limits.segmentIDBytesMax) bytes")
        }
        guard rev >= 0 else { throw RequestError(.invalidArgument, "`rev` must not be negative") }
        guard text.utf8.count <= Limits.segmentTextBytesMax else {
            throw RequestError(.limitExceeded, "`text` is over \(Limits.segmentTextBytesMax) bytes")
        }
        guard (words?.count ?? 0) <= Limits.segmentWordsMax else {
            throw RequestError(.limitExceeded, "there are over \(Limits.segmentWordsMax) `words`")
        }
    }
}
