internal import Engine
internal import Identity
internal import Store
internal import Wire

/// Drives the desk of calls, for one task: an input in, its effects done in order.
final class CallSwitch {
    private struct Device {
        let address: DeviceAddress
        var user: Identity?
        /// What it asked before it was known whose it is.
        var early: [(request: CallRequest, id: UInt64?)] = []
    }

    /// Requests that a device may send before it has been greeted.
    private static let earlyMax = 32

    private let door: CallInbox
    private let desk: RoomService
    private let hooks: CallHooks
    private let pass: CallTokenMinter
    /// Where webhooks go.
    private let tell: ([OutgoingWebhook]) -> Void
    private var calls: CallStateMachine
    private var devices: [DeviceID: Device] = [:]
    private var devicesOfUser: [Identity: Set<DeviceID>] = [:]
    private var waiters: [UInt64: (waiter: CallWaiter<CallReply>, host: String?)] = [:]
    private var lastTicket: UInt64 = 0
    private var isDraining = false
    /// What the desk is to be told because of what it wanted done.
    private var echoes: [CallStateMachine.Input] = []
    private let origin = ContinuousClock.now

    init(
        door: CallInbox, desk: RoomService, pass: CallTokenMinter, settings: CallSettings, hooks: CallHooks,
        telling tell: @escaping ([OutgoingWebhook]) -> Void
    ) {
        self.tell = tell
        self.door = door
        self.desk = desk
        self.pass = pass
        self.hooks = hooks
        calls = CallStateMachine(settings: settings, seed: .random(in: 0 ... .max))
    }

    var now: Instant { Instant(nanoseconds: UInt64((ContinuousClock.now - origin).inNanoseconds)) }
    var deadline: Instant? { calls.deadline }

    /// - Returns: whose device it is to find out about, where that was asked for.
    func handle(_ message: CallInbox.Message) -> (DeviceID, UserTokens.Bearer)? {
        switch message {
        case .opened(let address, .user(let bearer)):
            devices[address.id] = Device(address: address)
            return (address.id, bearer)
        case .opened(let address, .assistant(let assistant)):
            devices[address.id] = Device(address: address)
            greet(address.id, .success(assistant))
        case .identified(let id, let user): greet(id, user)
        case .closed(let id): forget(id)
        case .request(let request, let id, let device):
            door.noteTaken()
            ask(request, id: id, from: device)
        case .web(let request, let user, let host, let waiter):
            door.noteTaken()
            lastTicket += 1
            waiters[lastTicket] = (waiter, host)
            handle(.request(request, from: .web(user, ticket: lastTicket)))
            // Whoever is not answered by now never will be.
            waiters[lastTicket] = nil
        case .calls(let user, let waiter):
            door.noteTaken()
            waiter.resume(.success(calls.snapshot(of: user)))
        case .call(let id, let user, let waiter):
            door.noteTaken()
            waiter.resume(calls.call(id, of: user).map { .success($0) } ?? .failure(CallError(.notFound, "you have no such call")))
        case .room(let id, let change): note(change, of: id)
        case .deadlinePassed: handle(CallStateMachine.Input.deadlinePassed)
        case .forget(let user): forget(user)
        case .drain: isDraining = true
        }
        if isDraining { sendIdleAway() }
        return nil
    }

    private func handle(_ input: CallStateMachine.Input) {
        echoes.append(input)
        while !echoes.isEmpty {
            var effects: [CallStateMachine.Effect] = []
            calls.handle(echoes.removeFirst(), at: now, into: &effects)
            for effect in effects { perform(effect) }
        }
    }

    // MARK: Devices

    private func greet(_ id: DeviceID, _ outcome: Result<Identity, DeviceError>) {
        guard var device = devices[id] else { return }
        let user: Identity
        do throws(DeviceError) {
            user = try outcome.get()
        } catch {
            devices[id] = nil
            return order(.close(device.address.number, error.reason), of: device.address.shard)
        }
        let early = device.early
        device.user = user
        device.early = []
        devices[id] = device
        devicesOfUser[user, default: []].insert(id)
        handle(.connected(id, of: user))
        for (request, number) in early { ask(request, id: number, from: id) }
    }

    private func ask(_ request: CallRequest, id: UInt64?, from device: DeviceID) {
        guard let known = devices[device] else { return }
        let requester = CallStateMachine.Requester.device(device, id: id)
        if known.user != nil {
            handle(.request(request, from: requester))
        } else if known.early.count < Self.earlyMax {
            devices[device]?.early.append((request, id))
        } else {
            perform(.reject(CallError(.limitExceeded, "wait for `hello`", retryable: true), to: requester))
        }
    }

    private func forget(_ id: DeviceID) {
        if dropped(id) != nil { handle(.disconnected(id)) }
    }

    /// - Returns: whose it was.
    private func dropped(_ id: DeviceID) -> Identity? {
        guard let device = devices.removeValue(forKey: id), let user = device.user else { return nil }
        devicesOfUser[user]?.remove(id)
        if devicesOfUser[user]?.isEmpty == true { devicesOfUser[user] = nil }
        return user
    }

    /// A user that is no more leaves its calls, and is told nothing of others.
    private func forget(_ user: Identity) {
        for call in calls.snapshot(of: user) { handle(.failed(call.id, .user(user), reason: "the account has been deleted")) }
        for id in devicesOfUser[user] ?? [] { close(id, .tokenRevoked) }
    }

    private func close(_ id: DeviceID, _ reason: CloseReason) {
        guard let address = devices[id]?.address else { return }
        forget(id)
        order(.close(address.number, reason), of: address.shard)
    }

    /// In a drain whoever has no call is sent to another gateway at once, for here it would miss those that come.
    private func sendIdleAway() {
        for (user, ids) in devicesOfUser where calls.snapshot(of: user).isEmpty {
            for id in ids { close(id, .serverShutdown) }
        }
    }

    private func order(_ order: DeviceOrder, of shard: Int) {
        desk.shards.send(.device(order), shard)
    }

    private func send(_ message: [UInt8], to ids: [DeviceID]) {
        for (shard, addresses) in Dictionary(grouping: ids.compactMap { devices[$0]?.address }, by: \.shard) {
            order(.tell(message, to: addresses.map(\.number)), of: shard)
        }
    }

    // MARK: Rooms

    private func note(_ change: CallRoomChange, of id: CallID) {
        switch change {
        case .joined(let identity):
            guard let party = CallParty(text: identity.text) else { return }
            settle(party, in: id)
            handle(.joinedRoom(id, party))
        case .left(let identity):
            if let party = CallParty(text: identity.text) { handle(.leftRoom(id, party)) }
        case .ended: handle(.roomEnded(id))
        }
    }

    /// Somebody has come into a call's room: what was decided of it before holds there too. It may have been on its way while it left the
    /// call, or the call ended.
    private func settle(_ party: CallParty, in id: CallID) {
        let room = CallInfo.room(of: id)
        let identity = Identity(text: party.text)
        guard let call = calls.ongoing(id) else { return desk.order(.close(.roomClosed), in: room) }
        guard let member = call.member(party) else { return }
        if member.state == .left { return desk.order(.remove(identity), in: room) }
        if member.held { desk.order(.hold(identity, true), in: room) }
        if member.muted { desk.order(.muteParticipant(identity, true), in: room) }
    }

    // MARK: Effects

    private func perform(_ effect: CallStateMachine.Effect) {
        switch effect {
        case .greet(let id, let user, let calls):
            let expiresIn = devices[id].map { max(0, $0.address.expires - WallClock.seconds) }
            send(CallsHello(server: pass.server, user: user, device: id, calls: calls, expiresIn: expiresIn).bytes, to: [id])
        case .send(let event, let ids): send(event.bytes, to: ids)
        case .reply(let reply, let requester): answer(.success(reply), requester)
        case .reject(let refusal, let requester): answer(.failure(refusal), requester)
        case .admit(let user, let call, let requester): admit(user, to: call, requester)
        case .close(let id):
            guard let address = devices[id]?.address else { return }
            _ = dropped(id)
            order(.close(address.number, .limit), of: address.shard)
        case .dispatch(let assistant, let call):
            if !hooks.dispatch(assistant, call) {
                echoes.append(.failed(call.id, .assistant(assistant), reason: "no process of this assistant is connected"))
            }
        case .recall(let assistant, let call): hooks.recall(assistant, call)
        case .hold(let party, let id, let held): desk.order(.hold(Identity(text: party.text), held), in: CallInfo.room(of: id))
        case .mute(let party, let id, let muted): desk.order(.muteParticipant(Identity(text: party.text), muted), in: CallInfo.room(of: id))
        case .remove(let party, let id):
            let room = CallInfo.room(of: id)
            door.rooms.shutOut(Identity(text: party.text), room)
            desk.order(.remove(Identity(text: party.text)), in: room)
        case .endRoom(let id):
            let room = CallInfo.room(of: id)
            door.rooms.close(room)
            desk.order(.close(.roomClosed), in: room)
        case .record(let record):
            let webhooks = hooks.webhooks(record)
            if !webhooks.isEmpty { tell(webhooks) }
        }
    }

    private func admit(_ user: Identity, to call: CallInfo, _ requester: CallStateMachine.Requester) {
        let host: String? =
            switch requester {
            case .device(let id, _): devices[id]?.address.host
            case .web(_, let ticket): waiters[ticket]?.host
            }
        do throws(CallError) {
            var reply = try pass.reply(letting: user, into: call, host: host)
            // The call as it is told, and not as it has become since.
            reply.call = call
            door.rooms.letIn(user, call.room)
            answer(.success(reply), requester)
        } catch {
            answer(.failure(error), requester)
            echoes.append(.failed(call.id, CallParty(user), reason: "the gateway cannot let anybody into the room"))
        }
    }

    private func answer(_ outcome: Result<CallReply, CallError>, _ requester: CallStateMachine.Requester) {
        switch requester {
        case .web(_, let ticket): waiters.removeValue(forKey: ticket)?.waiter.resume(outcome)
        case .device(let id, let number):
            guard let address = devices[id]?.address else { return }
            switch outcome {
            case .success(let reply): if let number { send(reply.bytes(re: number), to: [id]) }
            case .failure(let refusal):
                let message = number.map { refusal.bytes(re: $0) }
                order(.refuse(refusal.error.code, message, to: address.number), of: address.shard)
            }
        }
    }
}
