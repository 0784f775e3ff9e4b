package import Wire

/// The state and every decision of one room: permissions, subscriptions, and the recipients of events.
///
/// The shell drives a room. `handle(_:at:into:)` takes an input and appends effects in order; `deadline` is when the shell must
/// call again even if nothing happens. Frames never visit a room: it only changes the patch panels (forwarding tables) that carry
/// them. Deterministic: no I/O, no clock, no randomness.
///
/// Invariants:
/// - The same seed and the same inputs give the same effects.
/// - Every request with an `id` gets exactly one answer, except `leave` and requests whose socket was lost.
/// - Every administrative procedure call gets exactly one outcome, at the latest with the end of the room.
/// - Every mark on a track is answered exactly once. A reported playout position never goes back within an epoch.
/// - Effects never name a participant that has left or was closed, nor the old handle of a resumed one, except in patches that end
///   it. Later inputs from it are ignored.
/// - Nobody learns of a hidden participant.
/// - Only agents receive the session briefing.
/// - A participant that must not receive text gets none.
/// - `subscribe` follows the event or the list that announces the track.
/// - No patch names a participant that was restored from an image and has not resumed since.
package struct Room: Sendable {
    package internal(set) var info: RoomInfo
    var phase = Phase.new
    let settings: RoomSettings
    var members: Membership
    var tracks = PublishedTracks()
    /// The recording in progress.
    package internal(set) var recording: RecordingID?
    /// Assistants that were asked for and cannot come yet, in the order of their first report.
    var waitingAgents: [(agent: Identity, reason: AgentWaitReason)] = []
    /// Assistants that were asked for and whose agents have not subscribed yet.
    var expectedAgents = ExpectedAgents()
    var procedures = PendingProcedureCalls()
    var transcript = Transcript()
    var identifiers: IdentifierGenerator
    var wakeUp = EarliestDeadline()
    /// The time of the current input.
    var now: Instant
    /// The effects of the current input; empty in between.
    var effects: [Effect] = []

    enum Phase: Sendable, Hashable {
        /// Before the first input; `AuditEvent.started` is not recorded yet.
        case new
        /// Before the first input of a room from an image; what was lost is not reported yet.
        case restored(RestoreReason)
        case open
        /// The gateway is shutting down: lost connections cannot resume.
        case draining
        /// After `closed`; later inputs are ignored.
        case over
    }

    /// - Parameters:
    ///   - createdAt: seconds since 1970.
    ///   - seed: determines the generated names; must differ between rooms.
    ///   - now: start of `emptyTimeout`.
    package init(name: String, sid: RoomSID, settings: RoomSettings, createdAt: Int64, seed: UInt64, at now: Instant) {
        info = RoomInfo(sid: sid, name: name, metadata: settings.metadata, createdAt: createdAt, maxParticipants: settings.maxParticipants)
        self.settings = settings
        self.now = now
        members = Membership(emptyTimeout: settings.emptyTimeout, departureTimeout: settings.departureTimeout, at: now)
        identifiers = IdentifierGenerator(seed: seed)
        wakeUp.include(members.emptyDeadline)
    }

    package var isOver: Bool { phase == .over }

    /// Latest time for the next `deadlinePassed`; an earlier one is harmless. Changes only in `handle`.
    package var deadline: Instant? { isOver ? nil : wakeUp.instant }

    /// Handles an input and appends its effects.
    ///
    /// - Parameter now: never goes back.
    package mutating func handle(_ input: Input, at now: Instant, into effects: inout [Effect]) {
        self.now = now
        swap(&self.effects, &effects)
        defer { swap(&self.effects, &effects) }
        guard !isOver else {
            // A join or a call that was under way when the room ended still needs its answer.
            switch input {
            case .joined(let handle, _): self.effects.append(.close(handle, .roomClosed))
            case .administered(.callProcedure(_, let number)):
                self.effects.append(.procedureEnded(number, .failure(RequestError(.recipientNotFound))))
            default: break
            }
            return
        }
        reportStart()
        reportLoss()
        switch input {
        case .opened, .restored: break
        case .joined(let handle, let admission): join(handle, admission)
        case .request(let request, let id, let handle):
            answer(request, of: Requester(handle: handle, id: id))
        case .left(let handle, let reason): depart(handle, reason)
        case .connectionLost(let handle, let reason): loseConnection(of: handle, reason)
        case .resumeConfirmed(let handle): members.index(of: handle).map { members[at: $0].confirmResume() }
        case .administered(let command): administer(command)
        case .talkStarted(let track, let time): beginTalk(on: track, at: time)
        case .talkStopped(let track, let time, let end): endTalk(on: track, at: time, end)
        case .measured(let measurements): measure(measurements)
        case .playout(let track, let report): applyPlayoutReport(report, of: track)
        case .connectionMeasured(let handle, let measurement): updateQuality(of: handle, by: measurement)
        case .abandoned: abandon()
        case .draining(let deadline): drain(deadline: deadline)
        case .paused(let pause): extendTimeouts(by: pause)
        case .deadlinePassed: processDeadlines()
        }
    }
}

extension Room {
    /// Inputs of a room, each passed with the time at which it occurred.
    package enum Input: Sendable {
        /// The room was opened without a participant: reports its start, as any first input does.
        case opened
        /// The room comes from an image: reports what was lost, as any first input does.
        case restored
        /// A participant with a valid token has connected. Answered by `hello` or `close`.
        case joined(ParticipantHandle, Admission)
        /// A request. The shell answers `ping` itself.
        case request(Request, id: UInt64?, from: ParticipantHandle)
        /// The participant's socket is closed. Not sent after a `close` effect.
        case left(ParticipantHandle, DisconnectReason)
        /// The participant's connection is lost and may resume under another handle. Its slot is kept until `handOver` or `close`.
        case connectionLost(ParticipantHandle, DisconnectReason)
        /// The client has received the `hello` of a resume: the resume token it used becomes invalid.
        case resumeConfirmed(ParticipantHandle)
        /// An administrative command, already authorised by the shell.
        case administered(AdminCommand)
        /// A talkspurt began or ended according to the track's meter.
        case talkStarted(TrackSID, at: MediaTime)
        case talkStopped(TrackSID, at: MediaTime, TalkEnd)
        /// Level measurements of this room's tracks, every 400 ms while there are tracks.
        case measured([TrackMeasurement])
        /// A playout report from the queue on the publisher's shard.
        case playout(TrackSID, PlayoutQueueReport)
        /// Connection statistics of one participant, every 5 s.
        case connectionMeasured(ParticipantHandle, ConnectionMeasurement)
        /// Another node of the cluster is the room's home from now on: everybody is disconnected to resume there, and nothing is recorded.
        case abandoned
        /// The gateway is shutting down. `deadline` in seconds since 1970.
        case draining(deadline: Int64)
        /// The home shard did not run for this long until now (`PauseDetector`).
        case paused(Duration)
        /// The time given by `deadline` has come.
        case deadlinePassed
    }

    /// Effects of a room, to be performed in this order.
    package enum Effect: Sendable, Hashable {
        /// Send to each of these handles; the shell adds the per-participant `seq`.
        case send(Event, to: [ParticipantHandle])
        /// An event that describes the past to a participant that has just joined, after its `hello` and before any other event. It is sent
        /// at the connection's own pace and does not count as backlog.
        case replay(Event, to: ParticipantHandle)
        case reply(Reply, re: UInt64, to: ParticipantHandle)
        /// An error: always counted, and sent if the request had an `id` or could not be parsed.
        case reject(RequestError, re: UInt64?, to: ParticipantHandle)
        case patch(PatchChange)
        /// Mint a token: sent as a reply if `re` is set, otherwise as `token.refreshed`.
        case mintToken(for: ParticipantHandle, TokenContent, re: UInt64?)
        /// A participant resumes on another socket: move the event log and sequence numbers from the old slot to the new one and
        /// replay missed events first. Send nothing more to the old slot, and close its socket if it is still open.
        case handOver(from: ParticipantHandle, to: ParticipantHandle)
        /// The participant has left: flush its queued messages, close its socket and free its slot.
        case close(ParticipantHandle, CloseReason)
        /// An audit event for services, if the room's `RoomReporting` wants it.
        case record(AuditEvent, Snapshot)
        /// The presence of an agent has changed, if the room's `RoomReporting` wants it. Not sent at the room's end.
        case agent(Identity, AgentPresence)
        /// The first user has come, or the last one has left, if the room's `RoomReporting` wants it. Not sent at the room's end.
        case attended(Bool)
        /// Copy the track's frames to the recorder from now on. Repeated wherever the publisher moves.
        case tap(RecordingTap, by: ParticipantHandle)
        /// Stop copying; the recording of this track is complete.
        case untap(TrackInfo, by: ParticipantHandle)
        /// The outcome of an administrator's procedure call, by the number that the shell gave it: the callee's payload, or the error that
        /// a participant would get.
        case procedureEnded(UInt64, Result<String, RequestError>)
        /// The last effect of a room.
        case closed
    }

    /// Performs a request or rejects it. Each request is validated completely before it changes state, so a rejected one leaves no
    /// trace.
    mutating func answer(_ request: Request, of requester: Requester) {
        // The sender may have been removed while its request was under way.
        guard let index = members.index(of: requester.handle) else { return }
        do throws(RequestError) {
            try perform(request, of: requester, at: index)
        } catch {
            emit(.reject(error, re: requester.id, to: requester.handle))
        }
    }

    private mutating func perform(_ request: Request, of requester: Requester, at index: Int) throws(RequestError) {
        switch request {
        case .publish(let description): try publish(description, by: requester, at: index)
        case .unpublish(let track): try unpublish(track, by: requester)
        case .mute(let track, let muted): try mute(track, muted, by: requester, at: index)
        case .subscribe(let track, let subscribed): try subscribe(requester, at: index, to: track, subscribed)
        case .updateParticipant(let update): try updateProfile(update, of: requester, at: index)
        case .sendData(let message): try sendData(message, by: requester, at: index)
        case .sendText(let message): try sendText(message, by: requester, at: index)
        case .sendDigits(let digits): try sendDigits(digits, by: requester, at: index)
        case .callProcedure(let call): try callProcedure(call, by: requester, at: index)
        case .answerProcedure(let answer): try answerProcedure(answer, by: requester)
        case .segment(let segment): try transcribe(segment, by: requester, at: index)
        case .agentState(let state): try setAgentState(state, by: requester, at: index)
        case .hold(let held): hold(held, by: requester, at: index)
        case .playoutMark(let mark): try setMark(mark, by: requester)
        case .playoutClear(let track, let reason): try clear(track, reason, by: requester, at: index)
        case .playoutProgress(let progress): try applyProgress(progress, of: requester, at: index)
        // The shell normally answers pings itself.
        case .ping(let time): reply(.pong(time), to: requester)
        case .refreshToken: try refreshToken(of: requester, at: index)
        case .leave(let reason):
            depart(requester.handle, DisconnectReason(leaveReason: reason), closing: .left)
        }
    }
}

extension DisconnectReason {
    /// Accepts the reasons that a client may give for leaving (as LiveKit does); anything else becomes `clientInitiated`.
    fileprivate init(leaveReason: String?) {
        let reason = leaveReason.flatMap(DisconnectReason.init(rawValue:))
        self = [.userUnavailable, .userRejected, .agentError].first { $0 == reason } ?? .clientInitiated
    }
}

extension Room {
    /// A pause of the gateway counts neither as absence nor as silence, because no client could resume, join, answer or send audio. Windows that began
    /// after it keep their length.
    mutating func extendTimeouts(by pause: Duration) {
        members.extendEmptyTimeout(by: pause, at: now)
        procedures.extend(by: pause)
        for index in 0..<members.count {
            members[at: index].silence.extend(by: pause, at: now)
            guard let window = members[at: index].reconnectWindow else { continue }
            members[at: index].reconnectWindow?.until = min(window.until + pause, now + settings.resumeWindow)
        }
    }

    /// Performs everything that is due and computes the next deadline. Linear in participants and tracks.
    mutating func processDeadlines() {
        if members.isTimeoutOver(at: now) {
            close(.roomClosed)
            return
        }
        expireReconnectWindows()
        expireProcedures()
        checkPlayouts()
        for index in 0..<members.count {
            if let milliseconds = members[at: index].silence.check(at: now) {
                send(.silence(members[at: index].identity, milliseconds: milliseconds), to: everyone)
            }
            reportDelayedSpeaking(ofParticipantAt: index)
            processProfileDeadlines(ofParticipantAt: index)
        }
        sendSpeakerChanges()

        wakeUp.clear()
        wakeUp.include(members.emptyDeadline)
        wakeUp.include(procedures.deadline)
        wakeUp.include(tracks.speakers.deadline)
        for index in 0..<tracks.playouts.count { wakeUp.include(tracks.playouts[at: index].deadline(after: now)) }
        for index in 0..<members.count {
            wakeUp.include(members[at: index].activity.deadline)
            wakeUp.include(members[at: index].silence.deadline)
            wakeUp.include(members[at: index].refreshAt)
            wakeUp.include(members[at: index].updateBudget.updateDueAt)
            wakeUp.include(members[at: index].reconnectWindow?.until)
        }
    }
}

/// Effects. All go through `emit`, which asserts that they only name participants of the room.
extension Room {
    var everyone: [ParticipantHandle] { members.handles }

    mutating func emit(_ effect: Effect) {
        assert(effect.named.allSatisfy(members.contains), "an effect names somebody who is not in the room: \(effect)")
        effects.append(effect)
    }

    mutating func send(_ event: Event, to audience: [ParticipantHandle]) {
        if !audience.isEmpty { emit(.send(event, to: audience)) }
    }

    /// Changes the patch panels, unless they know nothing of a participant of this change because it has not resumed since a restore.
    mutating func patch(_ change: PatchChange) {
        let effect = Effect.patch(change)
        if !members.hasRestored || !effect.named.contains(where: members.isRestored) { emit(effect) }
    }

    mutating func reply(_ reply: Reply = .done, to requester: Requester) {
        if let id = requester.id { emit(.reply(reply, re: id, to: requester.handle)) }
    }
}

extension Room.Effect {
    /// All participants that the effect names.
    package var named: [ParticipantHandle] {
        switch self {
        case .send(_, let audience): audience
        case .handOver(_, let handle), .replay(_, let handle): [handle]
        case .tap(_, let publisher), .untap(_, let publisher): [publisher]
        case .reply(_, _, let handle), .reject(_, _, let handle), .mintToken(let handle, _, _), .close(let handle, _): [handle]
        case .patch(.publish(_, let publisher)), .patch(.unpublish(_, let publisher)), .patch(.gate(_, let publisher, _)),
            .patch(.clear(_, let publisher, _)), .patch(.retain(_, let publisher, _)), .patch(.keep(_, let publisher, _)):
            [publisher]
        case .patch(.move(_, _, let publisher, _, let subscribers)): [publisher] + subscribers
        case .patch(.subscribe(let subscriber, _, let publisher, _)), .patch(.unsubscribe(let subscriber, _, let publisher)):
            [subscriber, publisher]
        case .record, .agent, .attended, .procedureEnded, .closed: []
        }
    }
}

extension Room {
    /// The reason to reject an admission, or nil.
    package func admissionError(for admission: Admission) -> JoinError? {
        if isOver { return .roomClosed }
        guard isLimited, !admission.kind.isDependent else { return nil }
        return members.independentCount(without: admission.identity) < settings.maxParticipants ? nil : .roomFull
    }

    /// The part of a room's state that a shell caches between inputs.
    package struct Status: Sendable, Hashable {
        package var deadline: Instant?
        /// Nil if the room has no participant limit.
        package var limitedParticipantCount: Int?

        package init() {}
    }

    /// Marked mutating so that callers do not copy the room to read it.
    package mutating func status() -> Status {
        var status = Status()
        status.deadline = deadline
        if isLimited { status.limitedParticipantCount = participantCount }
        return status
    }

    /// Whether the room has a participant limit.
    package var isLimited: Bool { settings.maxParticipants > 0 }

    /// Identities that fill the room, nil while a slot is free. Linear in participants.
    package var identitiesWhenFull: Set<Identity>? {
        guard isLimited, members.independentCount >= settings.maxParticipants else { return nil }
        return Set(members.participants.lazy.filter { !$0.kind.isDependent }.map(\.identity))
    }

    /// All participants with their tracks, including hidden ones; for administrators. Linear in participants and tracks.
    package var participants: [ParticipantInfo] {
        members.participants.map { $0.info(tracks: trackInfos(of: $0)) }
    }

    /// The participants whose connection is lost, and since when, hidden ones included; for administrators. Linear in participants.
    package var reconnecting: [(identity: Identity, since: Instant)] {
        members.participants.compactMap { participant in participant.reconnectWindow.map { (participant.identity, $0.since) } }
    }

    /// Whether a participant is on hold or muted as a whole; nil if it is not here.
    package func callMedia(of identity: Identity) -> CallMediaState? {
        members[identity].map { CallMediaState(held: $0.isHeld, muted: $0.isMutedByAdmin) }
    }

    /// The participants' connections, including hidden ones; for administrators. O(n) in participants.
    package var connections: [ConnectionReport] {
        members.participants.map { participant in
            ConnectionReport(
                identity: participant.identity, kind: participant.kind, quality: participant.quality.level,
                measurement: participant.quality.measurement, lostSince: participant.reconnectWindow?.since)
        }
    }

    /// Assistants whose jobs wait for their agents.
    package var agentsExpected: [AgentRequest] {
        expectedAgents.identities.compactMap { identity in
            guard case .assistant(let id) = CallParty(identity) else { return nil }
            return settings.agents.first { $0.assistant == id } ?? AgentRequest(assistant: id)
        }
    }

    /// Whether no participant is present, agents included.
    package var isEmpty: Bool { members.isEmpty }

    /// Number of participants without dependent ones (LiveKit's `num_participants`).
    package var participantCount: Int { members.independentCount }

    /// Number of participants with tracks (LiveKit's `num_publishers`). Linear in tracks.
    package var publisherCount: Int { Set(tracks.values.lazy.map(\.publisher)).count }

    package var trackCount: Int { tracks.count }

    package func handle(of identity: Identity) -> ParticipantHandle? { members.handle(of: identity) }

    func trackInfos(of participant: Participant) -> [TrackInfo] {
        participant.tracks.compactMap { tracks[$0]?.info }
    }
}

/// The sender of a request, and the request's id if it wants an answer.
struct Requester: Sendable {
    let handle: ParticipantHandle
    let id: UInt64?
}
