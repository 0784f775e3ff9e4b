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
    let deriveToken: ResumeTokenDerivation
    var members: Membership
    var tracks = PublishedTracks()
    /// The recording in progress.
    package internal(set) var recording: RecordingID?
    var procedures = PendingProcedureCalls()
    var transcript = Transcript()
    var identifiers: IdentifierGenerator
    var step: Step

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

    /// A step of the room: one input with its effects, and when the next step is due.
    struct Step: Sendable {
        /// The time of the input.
        var now: Instant
        /// The effects of the input; empty in between.
        var effects: [Effect] = []
        var wakeUp = EarliestDeadline()
    }

    /// - Parameters:
    ///   - createdAt: seconds since 1970.
    ///   - seed: determines the generated names; must differ between rooms.
    ///   - deriveToken: the same for all rooms, on all nodes.
    ///   - now: start of `emptyTimeout`.
    package init(
        name: String, sid: RoomSID, settings: RoomSettings, createdAt: Int64, seed: UInt64,
        resumeTokens deriveToken: @escaping ResumeTokenDerivation, at now: Instant
    ) {
        info = RoomInfo(sid: sid, name: name, metadata: settings.metadata, createdAt: createdAt, maxParticipants: settings.maxParticipants)
        self.settings = settings
        self.deriveToken = deriveToken
        step = Step(now: now)
        members = Membership(emptyTimeout: settings.emptyTimeout, departureTimeout: settings.departureTimeout, at: now)
        identifiers = IdentifierGenerator(seed: seed)
        wakeUp(by: members.emptyDeadline)
    }

    /// The time of the current input.
    var now: Instant { step.now }

    package var isOver: Bool { phase == .over }

    /// Latest time for the next `deadlinePassed`; an earlier one is harmless. Changes only in `handle`.
    package var deadline: Instant? { isOver ? nil : step.wakeUp.instant }

    /// Handles an input and appends its effects.
    ///
    /// - Parameter now: never goes back.
    package mutating func handle(_ input: Input, at now: Instant, into effects: inout [Effect]) {
        step.now = now
        swap(&step.effects, &effects)
        defer { swap(&step.effects, &effects) }
        guard !isOver else {
            // A join or a call that was under way when the room ended still needs its answer.
            switch input {
            case .joined(let handle, _): step.effects.append(.close(handle, .roomClosed))
            case .administered(.callProcedure(_, let number)):
                step.effects.append(.procedureEnded(number, .failure(RequestError(.recipientNotFound))))
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
    /// A pause of the gateway counts neither as absence nor as silence, because no client could resume, join, answer or send audio. Windows
    /// that began after it keep their length.
    mutating func extendTimeouts(by pause: Duration) {
        members.extendEmptyTimeout(by: pause, at: now)
        procedures.extend(by: pause)
        for index in 0..<members.count {
            members[at: index].extendTimeouts(by: pause, resumeWindow: settings.resumeWindow, at: now)
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
            if let milliseconds = members[at: index].status.silence.check(at: now) {
                send(.silence(members[at: index].identity, milliseconds: milliseconds), to: everyone)
            }
            reportDelayedSpeaking(ofParticipantAt: index)
            processProfileDeadlines(ofParticipantAt: index)
        }
        sendSpeakerChanges()

        step.wakeUp.clear()
        wakeUp(by: members.emptyDeadline)
        wakeUp(by: procedures.deadline)
        wakeUp(by: tracks.speakers.deadline)
        for index in 0..<tracks.playouts.count { wakeUp(by: tracks.playouts[at: index].deadline(after: now)) }
        for index in 0..<members.count { wakeUp(by: members[at: index].deadline) }
    }

    /// Makes the next step due at a time; nil has no effect.
    mutating func wakeUp(by deadline: Instant?) {
        step.wakeUp.include(deadline)
    }
}

/// Effects. All go through `emit`, which asserts that they only name participants of the room.
extension Room {
    var everyone: [ParticipantHandle] { members.handles }

    mutating func emit(_ effect: Effect) {
        assert(effect.named.allSatisfy(members.contains), "an effect names somebody who is not in the room: \(effect)")
        step.effects.append(effect)
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

/// The sender of a request, and the request's id if it wants an answer.
struct Requester: Sendable {
    let handle: ParticipantHandle
    let id: UInt64?
}
