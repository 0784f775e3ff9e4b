import Wire

extension Room {
    /// Does what was asked, or refuses it. A request checks everything before it changes anything: what throws has left
    /// no trace.
    mutating func answer(_ request: Request, of requester: Requester, at now: Instant, into effects: inout [Effect]) {
        // A request may still be on its way when its sender is removed.
        guard let index = members.index(of: requester.handle) else { return }
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
        // The shell answers pings on its own; the answer is the same here.
        case .ping(let time): reply(.pong(time), to: requester, into: &effects)
        case .refreshToken: try refreshToken(of: requester, at: index, now: now, into: &effects)
        case .leave(let reason):
            depart(requester.handle, DisconnectReason(leaveReason: reason), closing: .left, at: now, into: &effects)
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
