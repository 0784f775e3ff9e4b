package import Wire

extension Room {
    mutating func sendData(_ message: DataMessage, by requester: Requester, at index: Int) throws(RequestError) {
        let sender = members[at: index]
        try sender.checkMayPublishData()
        try check(message.topic, size: message.payload.byteCount, field: "payload")
        let recipients = try recipients(of: message.to, from: sender)
        reply(to: requester)
        deliver(message, from: sender.signature, to: recipients)
    }

    /// Sends data. Participants that must not receive text are left out if the payload is readable; the sender does not learn of
    /// it.
    ///
    /// - Parameter sender: nil if the sender is not in the room.
    mutating func deliver(_ message: DataMessage, from sender: Identity?, to recipients: [ParticipantHandle]) {
        let readers = members.readers(among: recipients)
        let audience = readers.count < recipients.count && message.payload.isReadable ? readers : recipients
        send(.data(from: sender ?? Identity(text: ""), topic: message.topic, message.payload), to: audience)
    }

    mutating func sendText(_ message: TextMessage, by requester: Requester, at index: Int) throws(RequestError) {
        let sender = members[at: index]
        try sender.checkMayPublishData()
        try check(message.topic, size: message.text.utf8.count, field: "text")
        let recipients = try recipients(of: message.to, from: sender)
        let id = identifiers.text()
        reply(.textSent(id: id), to: requester)
        let event = Event.text(id: id, from: sender.signature, topic: message.topic, text: message.text)
        send(event, to: members.readers(among: recipients))
        recordTyped(message, as: id, by: sender)
    }

    mutating func sendDigits(_ digits: String, by requester: Requester, at index: Int) throws(RequestError) {
        let sender = members[at: index]
        try sender.checkMayPublishData()
        guard (1...Limits.digitsMax).contains(digits.utf8.count), digits.utf8.allSatisfy(Self.keypad.contains) else {
            throw RequestError(.invalidArgument, "`digits` must be 1 to \(Limits.digitsMax) of 0-9 * # A-D, and w for a pause")
        }
        reply(to: requester)
        send(.digits(from: sender.signature, digits), to: members.handles(except: requester.handle))
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
        let known = members.recipients(of: identities)
        guard !known.isEmpty else { throw RequestError(.notFound, "none of the participants in `to` is in the room") }
        return known.filter { $0 != sender.handle }
    }
}

extension Participant {
    func checkMayPublishData() throws(RequestError) {
        guard permission.canPublishData else { throw RequestError(.notAllowed, "the token does not allow publishing data") }
    }
}

extension Room {
    /// Forwards a participant's procedure call. The caller is answered when the callee answers, leaves or times out.
    mutating func callProcedure(_ call: ProcedureCall, by requester: Requester, at index: Int) throws(RequestError) {
        let caller = members[at: index]
        try caller.checkMayPublishData()
        try begin(call, as: caller.signature, for: .participant(requester.handle, request: requester.id))
    }

    /// Forwards a procedure call of an administrator, whom the callee sees as a sender without identity.
    mutating func callProcedure(_ call: ProcedureCall, number: UInt64) {
        do throws(RequestError) {
            try begin(call, as: Identity(text: ""), for: .administrator(number))
        } catch {
            emit(.procedureEnded(number, .failure(error)))
        }
    }

    private mutating func begin(_ call: ProcedureCall, as sender: Identity, for caller: PendingProcedureCalls.Caller) throws(RequestError) {
        guard (1...Limits.procedureNameBytesMax).contains(call.method.utf8.count) else {
            throw RequestError(.invalidArgument, "`method` must be 1 to \(Limits.procedureNameBytesMax) bytes")
        }
        let longest = Int(Limits.procedureTimeoutMax.inMilliseconds)
        guard (1...longest).contains(call.timeoutMs) else {
            throw RequestError(.invalidArgument, "`timeout_ms` must be 1 to \(longest)")
        }
        guard call.payload.utf8.count <= ProtocolLimits.rpcPayloadBytesMax else { throw RequestError(.requestTooLarge) }
        guard let callee = members.handle(of: call.to) else { throw RequestError(.recipientNotFound) }
        guard procedures.count(sharingLimitWith: caller) < Limits.proceduresPendingMax else {
            throw RequestError(
                .limitExceeded, "\(Limits.proceduresPendingMax) calls are pending already; wait for one of them", retryable: true)
        }
        let id = identifiers.procedureCall()
        let deadline = now + .milliseconds(call.timeoutMs)
        procedures.begin(.init(id: id, caller: caller, callee: callee, deadline: deadline))
        wakeUp.include(deadline)
        let event = Event.procedureCalled(
            requestID: id, from: sender, method: call.method, payload: call.payload, timeoutMilliseconds: call.timeoutMs)
        send(event, to: [callee])
    }

    mutating func answerProcedure(_ answer: ProcedureAnswer, by requester: Requester) throws(RequestError) {
        guard procedures.isPending(answer.requestId, at: requester.handle) else {
            throw RequestError(.notFound, "no pending call has this `request_id`; it may have timed out")
        }
        guard (answer.payload == nil) != (answer.error == nil) else {
            throw RequestError(.invalidArgument, "answer with either `payload` or `error`")
        }
        guard let call = procedures.finish(answer.requestId, by: requester.handle) else { return }
        if let payload = answer.payload {
            guard payload.utf8.count <= ProtocolLimits.rpcPayloadBytesMax else {
                // The caller is answered now, and the callee cannot try again.
                end(call, .failure(.responseTooLarge))
                let error = RequestError(
                    .limitExceeded, "`payload` is over \(ProtocolLimits.rpcPayloadBytesMax) bytes; the caller got error 1504")
                emit(.reject(error, re: requester.id, to: requester.handle))
                return
            }
            end(call, .success(payload))
        } else if let error = answer.error {
            let message = error.message.prefix(bytes: ProtocolLimits.rpcErrorBytesMax)
            end(call, .failure(ProcedureError(code: error.code, message: message)))
        }
        reply(to: requester)
    }

    /// Answers the caller. A request without `id` gets no answer.
    private mutating func end(_ call: PendingProcedureCalls.Call, _ outcome: Result<String, ProcedureError>) {
        switch (call.caller, outcome) {
        case (.participant(let handle, let request?), .success(let payload)):
            emit(.reply(.procedureAnswered(payload: payload), re: request, to: handle))
        case (.participant(let handle, let request?), .failure(let error)): emit(.reject(RequestError(error), re: request, to: handle))
        case (.participant(_, nil), _): break
        case (.administrator(let number), _): emit(.procedureEnded(number, outcome.mapError { RequestError($0) }))
        }
    }

    mutating func abandonProcedures(of leaver: ParticipantHandle) {
        for call in procedures.abandon(leaver) { end(call, .failure(.recipientDisconnected)) }
    }

    /// The room ends: administrators are the only callers that still wait.
    mutating func abandonAdministrativeProcedures() {
        for call in procedures.takeAdministrative() { end(call, .failure(.recipientDisconnected)) }
    }

    mutating func expireProcedures() {
        for call in procedures.expire(at: now) { end(call, .failure(.responseTimeout)) }
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
    /// Relays a transcript segment to everybody except its sender, and keeps it for participants that join later.
    ///
    /// Agents may transcribe for others. A revision that is not newer than the known one is acknowledged and ignored.
    mutating func transcribe(_ segment: TranscriptSegment, by requester: Requester, at index: Int) throws(RequestError) {
        let sender = members[at: index]
        try sender.checkMayPublishData()
        try segment.check()
        let speaker = segment.participant ?? sender.identity
        if sender.kind != .agent {
            guard speaker == sender.identity, segment.role == .user else {
                throw RequestError(.notAllowed, "only an agent may transcribe for others; send role \"user\" about yourself")
            }
        }
        // The answer must not reveal a hidden participant.
        guard let known = members[speaker], !known.isHidden else {
            throw RequestError(.notFound, "no participant with that identity can be transcribed")
        }
        var segment = segment
        segment.participant = speaker
        let outcome = transcript.apply(&segment, at: now)
        if outcome == .idInUse {
            throw RequestError(.invalidArgument, "this `id` belongs to a segment of another participant; choose another")
        }
        reply(to: requester)
        guard outcome != .stale else { return }
        send(.segment(segment), to: members.readers(among: members.handles(except: requester.handle)))
        recordTranscript(segment)
    }
}

extension TranscriptSegment {
    fileprivate func check() throws(RequestError) {
        guard (1...Limits.segmentIDBytesMax).contains(id.utf8.count) else {
            throw RequestError(.invalidArgument, "`id` must be 1 to \(Limits.segmentIDBytesMax) bytes")
        }
        guard 0...Limits.segmentRevisionMax ~= rev else {
            throw RequestError(.invalidArgument, "`rev` must be 0 to \(Limits.segmentRevisionMax)")
        }
        guard text.utf8.count <= Limits.segmentTextBytesMax else {
            throw RequestError(.limitExceeded, "`text` is over \(Limits.segmentTextBytesMax) bytes")
        }
        guard (words?.count ?? 0) <= Limits.segmentWordsMax else {
            throw RequestError(.limitExceeded, "there are over \(Limits.segmentWordsMax) `words`")
        }
    }
}

extension Room {
    /// An event of a room, for services that store it or send webhooks.
    ///
    /// In the order of occurrence. Hidden participants are included, as in LiveKit.
    package enum AuditEvent: Sendable, Hashable {
        /// First event of a room.
        case started
        /// Last event of a room.
        case finished(DisconnectReason)
        /// A participant joined. Not repeated on resume.
        case joined(ParticipantInfo, sessionID: String?)
        case left(ParticipantInfo, sessionID: String?, DisconnectReason)
        /// A participant was admitted but could not join.
        case aborted(ParticipantInfo, sessionID: String?, DisconnectReason)
        case published(TrackInfo, by: ParticipantSID)
        case unpublished(TrackInfo, by: ParticipantSID)
        /// The participant was put on hold or resumed.
        case held(Identity, Bool)
        case transcribed(TranscribedSegment)
        case typed(TypedText)
        case recordingStarted(RecordingID)
        case recordingStopped(RecordingID, RecordingEnd)
    }

    /// A revision of a transcript segment. Recorded once the segment is final or interrupted, and for every later revision: the one
    /// with the highest `rev` replaces the others of the same `id`.
    package struct TranscribedSegment: Sendable, Hashable {
        /// Includes the speaker, but no word times.
        package var segment: TranscriptSegment
        package var speaker: ParticipantKind
        /// Session in the speaker's token.
        package var sessionID: String?
        /// Start and end of the speech, relative to the time of this event; negative means earlier.
        ///
        /// From the track's clock if the segment has times, else from the arrival of its first revision to that of its first
        /// recorded one.
        package var began = Duration.zero
        package var ended = Duration.zero
        /// The track that carried it, if known.
        package var track: TrackSID?
        /// Whether that track is being recorded.
        package var isRecorded = false
    }

    /// A chat message.
    package struct TypedText: Sendable, Hashable {
        package var id: String
        package var sender: Identity
        package var kind: ParticipantKind
        /// Nil: everybody.
        package var recipients: [Identity]?
        package var text: String
    }

    /// State of a room when an audit event is recorded.
    package struct Snapshot: Sendable, Hashable, Codable {
        package var info: RoomInfo
        /// Agents and recorders excluded.
        package var participantCount = 0
        package var publisherCount = 0
        package var emptyTimeout = Duration.zero
        package var departureTimeout = Duration.zero
        package var recording: RecordingID?
    }

    /// Linear in tracks.
    package var snapshot: Snapshot {
        Snapshot(
            info: info, participantCount: participantCount, publisherCount: publisherCount, emptyTimeout: settings.emptyTimeout,
            departureTimeout: settings.departureTimeout, recording: recording)
    }
}

/// Recording audit events. The event is built only if the room reports it.
extension Room {
    mutating func audit(_ event: @autoclosure () -> AuditEvent) {
        if settings.reporting.reportsEvents { emit(.record(event(), snapshot)) }
    }

    /// Records `started` before any other event.
    mutating func reportStart() {
        guard phase == .new else { return }
        phase = .open
        audit(.started)
        if settings.reporting.records { startRecording() }
    }

    /// Records a revision of a segment once it is final or interrupted, and every later revision of it.
    mutating func recordTranscript(_ segment: TranscriptSegment) {
        guard settings.reporting.reportsText, let times = transcript.record(segment, at: now) else { return }
        let segment = transcribed(segment, times)
        audit(.transcribed(segment))
    }

    /// Records a chat message of a user or an agent. Hidden participants are not part of the conversation, as with transcripts.
    mutating func recordTyped(_ message: TextMessage, as id: String, by sender: Participant) {
        guard settings.reporting.reportsText, message.topic == TextMessage.chatTopic, !sender.isHidden, sender.kind.converses,
            message.text.contains(where: { !$0.isWhitespace })
        else { return }
        let recipients = message.to.flatMap { $0.isEmpty ? nil : $0 }
        audit(.typed(TypedText(id: id, sender: sender.identity, kind: sender.kind, recipients: recipients, text: message.text)))
    }

    private func transcribed(_ segment: TranscriptSegment, _ times: (began: Instant, ended: Instant)) -> TranscribedSegment {
        var segment = segment
        let speaker = segment.participant.flatMap { members[$0] }
        let own = speaker?.tracks.count == 1 ? speaker?.tracks.first : nil
        let track = (segment.track ?? own).flatMap { tracks[$0] }
        let start = segment.startTs ?? segment.words?.first?.startTs
        let end = segment.endTs ?? segment.words?.last?.endTs
        let began = start.flatMap { track?.offset(of: MediaTime(ticks: $0), at: now) } ?? (times.began - now)
        let ended = end.flatMap { track?.offset(of: MediaTime(ticks: $0), at: now) } ?? (times.ended - now)
        segment.words = nil
        return TranscribedSegment(
            segment: segment, speaker: speaker?.kind ?? (segment.role == .assistant ? .agent : .standard), sessionID: speaker?.sessionID,
            began: began, ended: max(began, ended), track: track?.info.sid, isRecorded: recording != nil && track != nil)
    }
}

extension Track {
    /// Time of a sample relative to now, if the track's clock is known.
    ///
    /// - Returns: nil if it is more than an hour away, because the time then belongs to another track.
    fileprivate func offset(of time: MediaTime, at now: Instant) -> Duration? {
        guard let anchor else { return nil }
        let ticks = Int64(time.distance(from: anchor.time))
        let offset = (anchor.instant - now) + .nanoseconds(ticks * 62_500 / 3)
        return abs(offset.inMilliseconds) < 3_600_000 ? offset : nil
    }
}
