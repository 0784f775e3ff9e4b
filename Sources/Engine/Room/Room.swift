package import Wire

/// The state and every decision of one room: who may do what, and who receives what.
///
/// The shell drives a room. `handle(_:at:into:)` takes an input and appends effects in order; `deadline` is when the shell must
/// call again even if nothing happens. Frames never visit a room: it only changes the patch panels (forwarding tables) that carry
/// them. Deterministic: no I/O, no clock, no randomness.
///
/// Invariants:
/// - The same seed and the same inputs give the same effects.
/// - Every request with an `id` gets exactly one answer, except `leave` and requests whose socket was lost.
/// - Every mark on a track is answered exactly once. A reported playout position never goes back within an epoch.
/// - Effects never name a participant that has left or was closed, nor the old handle of a resumed one, except in patches that end
///   it. Later inputs from it are ignored.
/// - Nobody learns of a hidden participant.
/// - Only agents receive the session briefing.
/// - A participant that must not receive text gets none.
/// - `subscribe` follows the event or the list that announces the track.
package struct Room: Sendable {
    package let name: String
    package let sid: RoomSID
    /// Seconds since 1970.
    package let createdAt: Int64
    /// The gateway is shutting down: lost connections cannot resume.
    var isDraining = false
    /// True after `closed`; later inputs are ignored.
    package internal(set) var isOver = false

    var settings: RoomSettings
    /// In join order.
    var roster = Roster<ParticipantHandle, Participant>()
    var handles: [Identity: ParticipantHandle] = [:]
    /// Participants that count towards `maxParticipants` and keep the room alive.
    var independentCount = 0
    /// In the order in which they were published.
    var tracks = Roster<TrackSID, Track>()
    var aliases = TrackAliasAllocator()
    var identifiers: IdentifierGenerator
    var procedures = PendingProcedureCalls()
    var transcript = Transcript()
    /// Number of subscriptions made so far. Wraps.
    var subscriptionCount: UInt32 = 0
    /// One for each `ahead` track.
    var playouts = Roster<TrackSID, Playout>()
    var speakers = ActiveSpeakers()
    var emptyRoomTimeout: EmptyRoomTimeout
    var wakeUp = EarliestDeadline()
    /// Whether `AuditEvent.started` was recorded.
    var hasStarted = false
    /// The recording in progress.
    package internal(set) var recording: RecordingID?

    /// - Parameters:
    ///   - createdAt: seconds since 1970.
    ///   - seed: determines the generated names; must differ between rooms.
    ///   - now: start of `emptyTimeout`.
    package init(name: String, sid: RoomSID, settings: RoomSettings, createdAt: Int64, seed: UInt64, at now: Instant) {
        self.name = name
        self.sid = sid
        self.settings = settings
        self.createdAt = createdAt
        identifiers = IdentifierGenerator(seed: seed)
        emptyRoomTimeout = EmptyRoomTimeout(createdAt: now, emptyTimeout: settings.emptyTimeout, departureTimeout: settings.departureTimeout)
        wakeUp.include(emptyRoomTimeout.deadline)
    }

    /// Latest time for the next `deadlinePassed`; an earlier one is harmless. Changes only in `handle`.
    package var deadline: Instant? { isOver ? nil : wakeUp.instant }

    /// Handles an input and appends its effects.
    ///
    /// - Parameter now: never goes back.
    package mutating func handle(_ input: Input, at now: Instant, into effects: inout [Effect]) {
        guard !isOver else {
            // A join that was under way when the room ended still needs its answer.
            if case .joined(let handle, _) = input { effects.append(.close(handle, .roomClosed)) }
            return
        }
        reportStart(into: &effects)
        switch input {
        case .joined(let handle, let admission): join(handle, admission, at: now, into: &effects)
        case .request(let request, let id, let handle):
            answer(request, of: Requester(handle: handle, id: id), at: now, into: &effects)
        case .left(let handle, let reason): depart(handle, reason, at: now, into: &effects)
        case .connectionLost(let handle, let reason): loseConnection(of: handle, reason, at: now, into: &effects)
        case .resumeConfirmed(let handle): roster.index(of: handle).map { roster[at: $0].formerToken = nil }
        case .administered(let command): administer(command, at: now, into: &effects)
        case .talkStarted(let track, let time): beginTalk(on: track, at: time, now: now, into: &effects)
        case .talkStopped(let track, let time, let end): endTalk(on: track, at: time, end, into: &effects)
        case .measured(let measurements): measure(measurements, at: now, into: &effects)
        case .playout(let track, let fact): note(fact, of: track, at: now, into: &effects)
        case .connectionMeasured(let handle, let measurement): judge(handle, by: measurement, into: &effects)
        case .draining(let deadline): drain(deadline: deadline, at: now, into: &effects)
        case .deadlinePassed: processDeadlines(at: now, into: &effects)
        }
    }
}

extension Room {
    /// Performs a request or rejects it. Each request is validated completely before it changes state, so a rejected one leaves no
    /// trace.
    mutating func answer(_ request: Request, of requester: Requester, at now: Instant, into effects: inout [Effect]) {
        // The sender may have been removed while its request was under way.
        guard let index = roster.index(of: requester.handle) else { return }
        do throws(RequestError) {
            try perform(request, of: requester, at: index, now: now, into: &effects)
        } catch {
            emit(.reject(error, re: requester.id, to: requester.handle), into: &effects)
        }
    }

    private mutating func perform(
        _ request: Request, of requester: Requester, at index: Int, now: Instant, into effects: inout [Effect]
    ) throws(RequestError) {
        switch request {
        case .publish(let description): try publish(description, by: requester, at: index, now: now, into: &effects)
        case .unpublish(let track): try unpublish(track, by: requester, now: now, into: &effects)
        case .mute(let track, let muted): try mute(track, muted, by: requester, at: index, now: now, into: &effects)
        case .subscribe(let track, let subscribed): try subscribe(requester, at: index, to: track, subscribed, now: now, into: &effects)
        case .updateParticipant(let update): try updateProfile(update, of: requester, at: index, now: now, into: &effects)
        case .sendData(let message): try sendData(message, by: requester, at: index, into: &effects)
        case .sendText(let message): try sendText(message, by: requester, at: index, into: &effects)
        case .sendDigits(let digits): try sendDigits(digits, by: requester, at: index, into: &effects)
        case .callProcedure(let call): try callProcedure(call, by: requester, at: index, now: now, into: &effects)
        case .answerProcedure(let answer): try answerProcedure(answer, by: requester, into: &effects)
        case .segment(let segment): try transcribe(segment, by: requester, at: index, now: now, into: &effects)
        case .agentState(let state): try setAgentState(state, by: requester, at: index, now: now, into: &effects)
        case .hold(let held): hold(held, by: requester, at: index, now: now, into: &effects)
        case .playoutMark(let mark): try setMark(mark, by: requester, now: now, into: &effects)
        case .playoutClear(let track, let reason): try clear(track, reason, by: requester, at: index, now: now, into: &effects)
        case .playoutProgress(let progress): try takeProgress(progress, of: requester, at: index, now: now, into: &effects)
        // The shell normally answers pings itself.
        case .ping(let time): reply(.pong(time), to: requester, into: &effects)
        case .refreshToken: try refreshToken(of: requester, at: index, now: now, into: &effects)
        case .leave(let reason):
            depart(requester.handle, DisconnectReason(leaveReason: reason), closing: .left, at: now, into: &effects)
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
    /// Performs everything that is due and computes the next deadline. Linear in participants and tracks.
    mutating func processDeadlines(at now: Instant, into effects: inout [Effect]) {
        if emptyRoomTimeout.isOver(at: now) {
            close(.roomClosed, at: now, into: &effects)
            return
        }
        expireReconnectWindows(at: now, into: &effects)
        expireProcedures(at: now, into: &effects)
        checkPlayouts(at: now, into: &effects)
        for index in 0..<roster.count {
            if let milliseconds = roster[at: index].silence.check(at: now) {
                send(.silence(roster[at: index].identity, milliseconds: milliseconds), to: everyone, into: &effects)
            }
            tellHeldBackSpeaking(ofParticipantAt: index, at: now, into: &effects)
            processProfileDeadlines(ofParticipantAt: index, at: now, into: &effects)
        }
        sendSpeakerChanges(at: now, into: &effects)

        wakeUp.clear()
        wakeUp.include(emptyRoomTimeout.deadline)
        wakeUp.include(procedures.deadline)
        wakeUp.include(speakers.deadline)
        for index in 0..<playouts.count { wakeUp.include(playouts[at: index].deadline(after: now)) }
        for index in 0..<roster.count {
            wakeUp.include(roster[at: index].activity.deadline)
            wakeUp.include(roster[at: index].silence.deadline)
            wakeUp.include(roster[at: index].refreshAt)
            wakeUp.include(roster[at: index].updateBudget.updateDueAt)
            wakeUp.include(roster[at: index].reconnectWindow?.until)
        }
    }
}

/// Emitting effects. All go through `emit`, which asserts that they only name participants of the room.
extension Room {
    /// In the order in which they joined.
    var everyone: [ParticipantHandle] { roster.keys }

    func everyone(but one: ParticipantHandle) -> [ParticipantHandle] {
        roster.keys.filter { $0 != one }
    }

    /// The handles among these that may receive text.
    func readers(among handles: [ParticipantHandle]) -> [ParticipantHandle] {
        handles.filter { roster[$0]?.receivesText ?? false }
    }

    /// Recipients of events about this participant.
    func audience(of participant: Participant) -> [ParticipantHandle] {
        participant.isHidden ? [participant.handle] : everyone
    }

    /// Recipients of events about this participant, itself excluded.
    func witnesses(of participant: Participant) -> [ParticipantHandle] {
        participant.isHidden ? [] : everyone(but: participant.handle)
    }

    func emit(_ effect: Effect, into effects: inout [Effect]) {
        assert(effect.named.allSatisfy(roster.contains), "an effect names somebody who is not in the room: \(effect)")
        effects.append(effect)
    }

    func send(_ event: Event, to audience: [ParticipantHandle], into effects: inout [Effect]) {
        if !audience.isEmpty { emit(.send(event, to: audience), into: &effects) }
    }

    func patch(_ change: PatchChange, into effects: inout [Effect]) {
        emit(.patch(change), into: &effects)
    }

    func reply(_ reply: Reply = .done, to requester: Requester, into effects: inout [Effect]) {
        if let id = requester.id { emit(.reply(reply, re: id, to: requester.handle), into: &effects) }
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
            .patch(.clear(_, let publisher, _)), .patch(.retain(_, let publisher, _)):
            [publisher]
        case .patch(.move(_, _, let publisher, _, let subscribers)): [publisher] + subscribers
        case .patch(.subscribe(let subscriber, _, let publisher, _)), .patch(.unsubscribe(let subscriber, _, let publisher)):
            [subscriber, publisher]
        case .record, .closed: []
        }
    }
}

extension Room {
    /// The reason to reject an admission, or nil. Dependent participants (agents, recorders) do not count, and replacing one's own
    /// identity does not count twice.
    package func admissionError(for admission: Admission) -> JoinError? {
        if isOver { return .roomClosed }
        guard settings.maxParticipants > 0, !admission.kind.isDependent else { return nil }
        let replaced = handles[admission.identity].flatMap { roster[$0] }
        let others = independentCount - (replaced.map { $0.kind.isDependent ? 0 : 1 } ?? 0)
        return others < settings.maxParticipants ? nil : .roomFull
    }

    /// What a shell caches about a room between inputs.
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
        guard isLimited, independentCount >= settings.maxParticipants else { return nil }
        return Set(roster.values.lazy.filter { !$0.kind.isDependent }.map(\.identity))
    }

    package var info: RoomInfo {
        RoomInfo(sid: sid, name: name, metadata: settings.metadata, createdAt: createdAt, maxParticipants: settings.maxParticipants)
    }

    /// All participants with their tracks, including hidden ones; for administrators. Linear in participants and tracks.
    package var participants: [ParticipantInfo] {
        roster.values.map { $0.info(tracks: trackInfos(of: $0)) }
    }

    /// Whether no participant is present, agents included.
    package var isEmpty: Bool { roster.isEmpty }

    /// Number of participants without dependent ones (LiveKit's `num_participants`).
    package var participantCount: Int { independentCount }

    /// Number of participants with tracks (LiveKit's `num_publishers`). Linear in tracks.
    package var publisherCount: Int { Set(tracks.values.lazy.map(\.publisher)).count }

    package var trackCount: Int { tracks.count }

    package func handle(of identity: Identity) -> ParticipantHandle? { handles[identity] }

    func trackInfos(of participant: Participant) -> [TrackInfo] {
        participant.tracks.compactMap { tracks[$0]?.info }
    }
}

/// Why a participant with a valid token cannot join.
package enum JoinError: Sendable, Hashable {
    /// The room has `maxParticipants` participants (HTTP 409, close code 4105).
    case roomFull
    /// The room has ended but is not removed yet; create a new one.
    case roomClosed
}

/// The sender of a request, and the request's id if it wants an answer.
struct Requester: Sendable {
    let handle: ParticipantHandle
    let id: UInt64?
}
