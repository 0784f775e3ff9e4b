internal import Engine
internal import HTTPServer
internal import HTTPTypes
internal import Identity
internal import Store
internal import Wire

/// Effects of calls, and changes of their rooms.
extension CallService {
    func perform(_ effect: CallStateMachine.Effect) {
        switch effect {
        case .greet(let device, let user, let calls):
            let address = devices.address(of: device)
            let hello = CallsHello(
                server: collaborators.server, user: user, device: device, calls: calls, expiresIn: address?.expiresIn, nodes: address?.nodes
            )
            send(hello.bytes, to: [device])
        case .send(let event, let ids): send(event.bytes, to: ids)
        case .reply(let reply, let requester): answer(.success(reply), requester)
        case .reject(let error, let requester): answer(.failure(error), requester)
        case .admit(let user, let call, let requester): admit(user, to: call, requester)
        case .close(let device):
            sendHeldMessages(to: device)
            guard let address = devices.address(of: device) else { return }
            _ = devices.remove(device)
            send(.close(address.number, .limit), to: address.shard)
        case .dispatch(let assistant, let call):
            if !collaborators.dispatch(assistant, call) {
                exchange.followUps.append(.failed(call.id, .assistant(assistant), reason: "no process of this assistant is connected"))
            }
        case .recall(let assistant, let call): collaborators.recall(assistant, call)
        case .hold(let party, let id, let held): rooms.send(.hold(Identity(text: party.text), held), to: CallInfo.room(of: id))
        case .mute(let party, let id, let muted): rooms.send(.muteParticipant(Identity(text: party.text), muted), to: CallInfo.room(of: id))
        case .remove(let party, let id):
            let room = CallInfo.room(of: id)
            inbox.rooms.exclude(Identity(text: party.text), from: room)
            rooms.send(.remove(Identity(text: party.text)), to: room)
        case .endRoom(let id):
            let room = CallInfo.room(of: id)
            inbox.rooms.close(room)
            rooms.send(.close(.roomClosed), to: room)
        // Noted before the others.
        case .record: break
        }
    }

    func note(_ record: CallRecord) {
        if case .call(.started) = record.change, let trace = RequestContext.current?.trace {
            inbox.rooms.setTrace(trace, of: record.call.room)
        }
        let now = WallTime.now
        records.note(record, at: now)
        pushes.note(record, at: now)
        if case .member(let party, .invited) = record.change { push(record.call, to: party) }
    }

    /// Asks for a push to a called user without a connected device, once for each invitation.
    func push(_ call: CallInfo, to party: CallParty) {
        guard let identity = party.user, let user = UserID(text: identity.text), devices.all(of: identity).isEmpty,
            call.member(party)?.state == .invited, let invitedAt = pushes.take(call.id, party)
        else { return }
        collaborators.push(
            PushRequest(.call(call), user: user, expiresAt: invitedAt + settings.ringTime, trace: inbox.rooms.trace(of: call.room)))
    }

    /// Waits until a call that a user has started is stored. In a cluster, those whom it calls are woken only then.
    ///
    /// - Throws: `servedElsewhere` if it was not stored, because another node serves calls. It has ended then.
    func settleStart(of call: CallInfo) async throws(HTTPError) {
        await records.settle([call.room])
        guard !records.isRefused(call.id) else {
            handle(.roomEnded(call.id))
            throw Self.servedElsewhere
        }
        pushes.release(call.id)
        guard let call = calls.ongoing(call.id) else { return }
        for member in call.members { push(call, to: member.party) }
    }

    static let servedElsewhere = HTTPError(.homeUnavailable, "another node serves calls now; try again", retryAfterSeconds: 1)

    private func admit(_ user: Identity, to call: CallInfo, _ requester: CallStateMachine.Requester) {
        let host: String? =
            switch requester {
            case .device(let device, _): devices.address(of: device)?.host
            case .web: exchange.host
            }
        do throws(HTTPError) {
            let party = CallParty(user)
            let token = try tokens.roomToken(
                to: call.room, for: user, host: host, name: call.caller == party ? call.callerName : "",
                kind: party.isAssistant ? .agent : .standard)
            inbox.rooms.admit(user, to: call.room)
            // Use the effect's `call`: later effects of the same input may have changed the current one.
            let reply = CallReply(call, livekitURL: token.url, livekitToken: token.text, roomName: call.room)
            answer(.success(reply), requester)
        } catch {
            answer(.failure(CallError(error.status == .badRequest ? .invalidArgument : .unsupported, error.message)), requester)
            exchange.followUps.append(.failed(call.id, CallParty(user), reason: "the gateway cannot issue a room token"))
        }
    }

    func answer(_ outcome: Result<CallReply, CallError>, _ requester: CallStateMachine.Requester) {
        switch requester {
        case .web: exchange.outcome = outcome
        case .device(let device, let number):
            guard let address = devices.address(of: device) else { return }
            switch outcome {
            case .success(let reply):
                exchange.repliedCall = reply.call
                if let number { send(reply.bytes(re: number), to: [device]) }
            case .failure(let error):
                send(.refuse(error.error.code, number.map { error.bytes(re: $0) }, to: address.number), to: address.shard)
            }
        }
    }

    func note(_ change: CallRoomChange, in call: CallID) {
        switch change {
        case .joined(let identity, let media):
            guard let party = CallParty(text: identity.text) else { return }
            applyDecisions(to: party, in: call, isNew: media == nil)
            handle(.joinedRoom(call, party, media: media))
        case .left(let identity):
            if let party = CallParty(text: identity.text) { handle(.leftRoom(call, party)) }
        case .ended: handle(.roomEnded(call))
        }
    }

    /// Reapplies earlier decisions to a participant that has just joined, because the join may have raced with a leave or the end of the
    /// call.
    ///
    /// - Parameter isNew: it is neither on hold nor muted yet.
    private func applyDecisions(to party: CallParty, in id: CallID, isNew: Bool) {
        let room = CallInfo.room(of: id)
        let identity = Identity(text: party.text)
        guard let call = calls.ongoing(id) else { return rooms.send(.close(.roomClosed), to: room) }
        guard let member = call.member(party) else { return }
        if member.state == .left { return rooms.send(.remove(identity), to: room) }
        guard isNew else { return }
        if member.held { rooms.send(.hold(identity, true), to: room) }
        if member.muted { rooms.send(.muteParticipant(identity, true), to: room) }
    }
}
