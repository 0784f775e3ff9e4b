import Wire

extension Room {
    /// Does what was asked, or refuses it. A request checks everything before it changes anything: what throws has left
    /// no trace.
    mutating func answer(_ request: Request, of asker: Asker, at now: Instant, into effects: inout [Effect]) {
        // A request may still be on its way when its sender is removed.
        guard let place = members.place(of: asker.handle) else { return }
        do throws(RequestError) {
            try perform(request, of: asker, at: place, now: now, into: &effects)
        } catch {
            emit(.refuse(error, re: asker.id, to: asker.handle), into: &effects)
        }
    }

    private mutating func perform(
        _ request: Request, of asker: Asker, at place: Int, now: Instant, into effects: inout [Effect]
    ) throws(RequestError) {
        switch request {
        case .publish(let description): try publish(description, by: asker, at: place, now: now, into: &effects)
        case .unpublish(let track): try unpublish(track, by: asker, now: now, into: &effects)
        case .mute(let track, let muted): try mute(track, muted, by: asker, at: place, now: now, into: &effects)
        case .subscribe(let track, let subscribed): try subscribe(asker, at: place, to: track, subscribed, now: now, into: &effects)
        case .updateParticipant(let update): try updateProfile(update, of: asker, at: place, now: now, into: &effects)
        case .sendData(let message): try sendData(message, by: asker, at: place, into: &effects)
        case .sendText(let message): try sendText(message, by: asker, at: place, into: &effects)
        case .sendDigits(let digits): try sendDigits(digits, by: asker, at: place, into: &effects)
        case .callProcedure(let call): try callProcedure(call, by: asker, at: place, now: now, into: &effects)
        case .answerProcedure(let answer): try answerProcedure(answer, by: asker, into: &effects)
        case .segment(let segment): try transcribe(segment, by: asker, at: place, now: now, into: &effects)
        case .agentState(let state): try setAgentState(state, by: asker, at: place, now: now, into: &effects)
        case .hold(let held): hold(held, by: asker, at: place, now: now, into: &effects)
        case .playoutMark(let mark): try setMark(mark, by: asker, now: now, into: &effects)
        case .playoutClear(let track, let reason): try clear(track, reason, by: asker, at: place, now: now, into: &effects)
        case .playoutProgress(let progress): try takeProgress(progress, of: asker, at: place, now: now, into: &effects)
        // The shell answers pings on its own; the answer is the same here.
        case .ping(let time): reply(.pong(time), to: asker, into: &effects)
        case .refreshToken: mintToken(forMemberAt: place, re: asker.id, at: now, into: &effects)
        case .leave(let reason):
            depart(asker.handle, DisconnectReason(leaveReason: reason), closing: .left, at: now, into: &effects)
        }
    }
}

extension DisconnectReason {
    /// What a client may give as its reason to leave (as in LiveKit); anything else just means that it wanted to.
    fileprivate init(leaveReason: String?) {
        let reason = leaveReason.flatMap(DisconnectReason.init(rawValue:))
        self = [.userUnavailable, .userRejected, .agentError].first { $0 == reason } ?? .clientInitiated
    }
}
