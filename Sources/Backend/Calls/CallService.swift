internal import Engine
internal import HTTPServer
internal import HTTPTypes
internal import Identity
internal import Logging
internal import ServiceLifecycle
internal import Store
internal import Wire

/// Runs the calls of a gateway, or of a whole cluster on its coordinator, around the pure `CallStateMachine`: feeds it inputs from devices,
/// HTTP requests and rooms, and performs its effects in order.
///
/// Shards reach it through the bounded `CallInbox`; HTTP handlers call its methods. `run()` returns once the inbox is finished, that is
/// when the gateway has stopped. Calls then end; only in a cluster the next coordinator continues them, as far as they are stored.
package actor CallService: Service {
    /// How long a response waits until what it promises or lists is stored.
    private static let storeWaitMax = Duration.seconds(1)

    private let inbox: CallInbox
    /// Webhooks and the history of calls are stored in order with the events of the calls' rooms.
    private let auditEvents: AuditEventQueue
    private let accounts: AccountService
    private let callees: Callees
    private let webhookStore: Webhooks
    private let rooms: RoomService
    private let tokens: RoomTokenMinter
    private let collaborators: CallCollaborators
    private let log = Logger(label: "patchbay.calls")
    private var calls: CallStateMachine
    private var devices = CallDevices()
    /// Assistants' processes that take jobs instead of calls.
    private var workers: Set<DeviceID> = []
    private var exchange = Exchange()
    private var history = CallHistory()
    private var conversations = ConversationAudio()
    private var pushes = CallPushes()
    private let settings: CallSettings
    private var timer = DeadlineTimer()
    private var phase = Phase.serving
    private var isClosingIdleDevices = false

    private enum Phase {
        case serving, draining, ended
    }

    /// The HTTP request being handled, if any, and follow-up inputs caused by effects.
    private struct Exchange {
        var lastNumber: UInt64 = 0
        var host: String?
        var outcome: Result<CallReply, CallError>?
        var followUps: [CallStateMachine.Input] = []
    }

    init(
        inbox: CallInbox, auditEvents: AuditEventQueue, accounts: AccountService, conversations: Conversations, webhookStore: Webhooks,
        rooms: RoomService, tokens: RoomTokenMinter, settings: CallSettings, collaborators: CallCollaborators
    ) {
        self.inbox = inbox
        self.auditEvents = auditEvents
        self.accounts = accounts
        callees = Callees(accounts: accounts, conversations: conversations)
        self.webhookStore = webhookStore
        self.rooms = rooms
        self.tokens = tokens
        self.collaborators = collaborators
        self.settings = settings
        calls = CallStateMachine(settings: settings, seed: .random(in: 0 ... .max))
        auditEvents.addSource()
    }

    package func run() async throws {
        await withDiscardingTaskGroup { group in
            for await message in inbox.messages {
                receive(message) { lookup in group.addTask { await lookup(self) } }
            }
            phase = .ended
            timer.cancel()
            auditEvents.finish()
        }
    }

    // MARK: HTTP

    nonisolated func checkNotDraining() throws(HTTPError) {
        try rooms.checkNotDraining()
    }

    /// The response to a start waits until its webhooks are stored, so that the end of every call that a backend knows of is announced,
    /// even if the gateway is killed.
    ///
    /// - Parameter host: the request's Host header, used for the room's URL unless one is configured.
    /// - Throws: `CallError`; `StoreError` if the store fails.
    func perform(_ request: CallRequest, of user: UserID, host: String?) async throws -> CallReply {
        let (request, unknown) = try await callees.resolve(request, of: Identity(text: user.text))
        let reply = try answer(to: request, of: user, unknown: unknown, host: host)
        if case .start = request, let call = reply.call { await settle([call.room]) }
        return reply
    }

    private func answer(
        to request: CallRequest, of user: UserID, unknown: Set<CallParty>, host: String?
    ) throws(CallError) -> CallReply {
        try checkNotEnded()
        exchange.lastNumber += 1
        exchange.host = host
        handle(.request(request, from: .web(Identity(text: user.text), number: exchange.lastNumber), unknown: unknown))
        defer { (exchange.host, exchange.outcome) = (nil, nil) }
        guard let outcome = exchange.outcome else { throw Self.noAnswer }
        return try outcome.get()
    }

    func calls(of user: UserID) throws(CallError) -> [CallInfo] {
        try checkNotEnded()
        return calls.snapshot(of: Identity(text: user.text))
    }

    func call(_ id: CallID, of user: UserID) throws(CallError) -> CallInfo {
        try checkNotEnded()
        guard let call = calls.call(id, of: Identity(text: user.text)) else { throw CallError(.notFound, "you have no such call") }
        return call
    }

    /// Waits until the calls that the user has recently left are in the history, so that a client finds a call there once it was told of
    /// its end.
    func settleHistory(of user: UserID) async {
        await settle(calls.left(by: Identity(text: user.text)).map(\.room))
    }

    /// Waits until what was written about the calls of these rooms is stored.
    private func settle(_ rooms: [String]) async {
        await auditEvents.settle(collaborators.writesAs.map { [$0] } ?? rooms, within: Self.storeWaitMax)
    }

    /// Whether a user is called and has not answered.
    func isRinging(_ id: CallID, _ user: UserID) -> Bool {
        calls.ongoing(id)?.member(.user(Identity(text: user.text)))?.state == .invited
    }

    /// Whether a user has an open channel.
    func isConnected(_ user: UserID) -> Bool { !devices.all(of: Identity(text: user.text)).isEmpty }

    /// - Throws: `HTTPError.elsewhere` if another node serves the calls of the cluster.
    nonisolated func checkIsHere() async throws(HTTPError) { try await rooms.checkCoordinates() }

    /// Removes a deleted user from all calls and closes its devices.
    private func remove(_ user: Identity) {
        for call in calls.snapshot(of: user) {
            handle(.failed(call.id, .user(user), reason: "the account has been deleted"))
        }
        closeDevices(of: user)
    }

    /// Closes a user's channels because their tokens are revoked. Its calls continue.
    private func closeDevices(of user: Identity) {
        for device in devices.all(of: user) { close(device, .tokenRevoked) }
    }

    /// Sends a message of another service on all channels of a user or an assistant; they receive it between events of calls.
    private func send(_ message: [UInt8], to owner: Identity) {
        send(message, to: devices.greeted(of: owner))
    }

    private static let noAnswer = CallError(.limitExceeded, "the gateway cannot answer now; try again", retryable: true)

    private func checkNotEnded() throws(CallError) {
        guard phase != .ended else { throw Self.noAnswer }
    }

    // MARK: Inputs

    /// Work that waits for the store.
    private typealias Lookup = @Sendable (isolated CallService) async -> Void

    /// - Parameter start: runs work concurrently.
    private func receive(_ message: CallInbox.Message, start: (@escaping Lookup) -> Void) {
        switch message {
        case .opened(let address, let owner):
            devices.add(address)
            switch owner {
            case .user(let subject):
                start {
                    await $0.identify(address.id, subject)
                    await $0.workOff(address.id)
                }
            case .assistant(let assistant):
                devices.identify(address.id, as: assistant)
                greet(address.id)
                _ = devices.nextWaiting(of: address.id)
            }
        case .closed(let device):
            workers.remove(device)
            if let owner = devices.remove(device) {
                handle(.disconnected(device))
                // The connection may have been dead since the call began to ring.
                for call in calls.snapshot(of: owner) { push(call, to: CallParty(owner)) }
            }
        case .request(let request, let number, let device):
            receive(request, number: number, from: device) { start { await $0.workOff(device) } }
        case .service(let message): receive(message)
        case .dedicated(let device):
            // It may have closed meanwhile.
            guard devices.address(of: device) != nil else { return }
            workers.insert(device)
            handle(.dedicated(device))
        case .dispatched(let assistant, let call, .accepted): handle(.ringing(call, .assistant(assistant)))
        case .dispatched(let assistant, let call, .failed(let reason)): handle(.failed(call, .assistant(assistant), reason: reason))
        case .drain:
            phase = .draining
            closeIdleDevices()
        case .begin(let stored, let done):
            begin(with: stored)
            done(())
        case .resign: begin(with: [])
        }
    }

    private func receive(_ message: CallServiceMessage) {
        switch message {
        case .room(let call, let change, _): note(change, in: call)
        case .notice(let message, let owner): send(message, to: owner)
        case .revoked(let user): closeDevices(of: user)
        case .deleted(let user): remove(user)
        }
    }

    /// Replaces the calls by those that another node has left, or by none.
    private func begin(with stored: [CallInfo]) {
        timer.cancel()
        calls = CallStateMachine(settings: settings, seed: .random(in: 0 ... .max))
        calls.restore(stored, at: .now)
        (history, conversations, pushes) = (CallHistory(continuing: stored), ConversationAudio(continuing: stored), CallPushes())
        for call in stored {
            for member in call.members where member.state == .joined { inbox.rooms.admit(member.party.identity, to: call.room) }
        }
        arm()
    }

    private func handle(_ input: CallStateMachine.Input) {
        exchange.followUps.append(input)
        while !exchange.followUps.isEmpty {
            var effects: [CallStateMachine.Effect] = []
            calls.handle(exchange.followUps.removeFirst(), at: .now, wallClock: WallClock.milliseconds, into: &effects)
            // First, because a reply lets a device join the room: the room's events follow those of the call.
            for case .record(let record) in effects { note(record) }
            for effect in effects { perform(effect) }
        }
        if phase == .draining { closeIdleDevices() }
        arm()
    }

    private func arm() {
        guard let deadline = calls.deadline, phase != .ended else { return }
        timer.arm(for: deadline, at: .now) { [weak self] in await self?.deadlinePassed() }
    }

    private func deadlinePassed() {
        timer.disarm()
        if phase != .ended { handle(.deadlinePassed) }
    }

    // MARK: Devices

    private func identify(_ device: DeviceID, _ subject: UserTokens.Subject) async {
        do {
            let user = try await accounts.user(subject)
            devices.identify(device, as: Identity(text: user.text))
            // If the token was revoked before the device was registered, `closeDevices` has missed it.
            guard try await accounts.user(subject) == user else { return close(device, .tokenRevoked) }
            greet(device)
        } catch is HTTPError {
            close(device, .tokenRevoked)
        } catch {
            // The store is unavailable: let the device reconnect.
            close(device, .serverShutdown)
        }
    }

    private func greet(_ device: DeviceID) {
        guard let owner = devices.greet(device) else { return }
        handle(.connected(device, of: owner))
    }

    /// - Parameter wait: called if the request waits for the store.
    private func receive(_ request: CallRequest, number: UInt64?, from device: DeviceID, wait: () -> Void) {
        let requester = CallStateMachine.Requester.device(device, id: number)
        guard !workers.contains(device) else {
            return answer(
                .failure(CallError(.notAllowed, "a registered worker takes jobs; its agent leaves the room to hang up")), requester)
        }
        switch devices.admit(request, number: number, from: device) {
        case .handle where Callees.needsNoLookup(request): handle(.request(request, from: requester))
        case .handle:
            devices.pause(device, with: request, number: number)
            wait()
        case .deferred, .unknownDevice: break
        case .tooMany:
            answer(
                .failure(CallError(.limitExceeded, "wait for `hello` and for the answers to earlier requests", retryable: true)), requester)
        }
    }

    /// Handles a device's waiting requests in order.
    private func workOff(_ device: DeviceID) async {
        while let (request, number) = devices.nextWaiting(of: device) {
            let requester = CallStateMachine.Requester.device(device, id: number)
            guard let owner = devices.owner(of: device) else { continue }
            do {
                let (resolved, unknown) = try await callees.resolve(request, of: owner)
                if phase != .ended { handle(.request(resolved, from: requester, unknown: unknown)) }
            } catch {
                // The protocol's errors have no code for failures of the store.
                answer(.failure(error as? CallError ?? Self.noAnswer), requester)
            }
        }
    }

    private func close(_ device: DeviceID, _ reason: CloseReason) {
        guard let address = devices.address(of: device) else { return }
        if devices.remove(device) != nil { handle(.disconnected(device)) }
        send(.close(address.number, reason), to: address.shard)
    }

    /// In a drain, disconnect devices without a call at once: they would miss new calls here.
    private func closeIdleDevices() {
        // Closing a device is an input, too.
        guard !isClosingIdleDevices else { return }
        isClosingIdleDevices = true
        defer { isClosingIdleDevices = false }
        for (owner, ids) in devices.byOwner where calls.snapshot(of: owner).isEmpty {
            for id in ids { close(id, .serverShutdown) }
        }
    }

    private func send(_ command: ChannelCommand, to shard: Int) {
        rooms.shards.send(.device(command), shard)
    }

    private func send(_ message: [UInt8], to ids: [DeviceID]) {
        for (shard, addresses) in Dictionary(grouping: ids.compactMap(devices.address), by: \.shard) {
            send(.send(message, to: addresses.map(\.number)), to: shard)
        }
    }

    // MARK: Rooms

    private func note(_ change: CallRoomChange, in call: CallID) {
        switch change {
        case .joined(let identity):
            guard let party = CallParty(text: identity.text) else { return }
            applyDecisions(to: party, in: call)
            handle(.joinedRoom(call, party))
        case .left(let identity):
            if let party = CallParty(text: identity.text) { handle(.leftRoom(call, party)) }
        case .ended: handle(.roomEnded(call))
        }
    }

    /// Reapplies earlier decisions to a participant that has just joined, because the join may have raced with a leave or the end of the
    /// call.
    private func applyDecisions(to party: CallParty, in id: CallID) {
        let room = CallInfo.room(of: id)
        let identity = Identity(text: party.text)
        guard let call = calls.ongoing(id) else { return rooms.send(.close(.roomClosed), to: room) }
        guard let member = call.member(party) else { return }
        if member.state == .left { return rooms.send(.remove(identity), to: room) }
        if member.held { rooms.send(.hold(identity, true), to: room) }
        if member.muted { rooms.send(.muteParticipant(identity, true), to: room) }
    }

    // MARK: Effects

    private func perform(_ effect: CallStateMachine.Effect) {
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

    private func note(_ record: CallRecord) {
        collaborators.operatorLog.changed(record)
        if case .call(.started) = record.change, let trace = RequestContext.current?.trace {
            inbox.rooms.setTrace(trace, of: record.call.room)
        }
        var announcement = collaborators.announcement(record)
        announcement.call = history.note(record, at: .now)
        announcement.audio = conversations.note(record)
        store(announcement, in: record.call.room)
        pushes.note(record, at: .now)
        if case .member(let party, .invited) = record.change { push(record.call, to: party) }
    }

    private func store(_ announcement: Announcement, in room: String) {
        guard !announcement.isEmpty else { return }
        let (webhookStore, events, outlet, log) = (webhookStore, auditEvents, collaborators.conversations, log)
        let isTaken = events.append(
            RoomWrite(collaborators.writesAs ?? room) { fence in
                do {
                    try await events.persisting {
                        try await webhookStore.announce(announcement, telling: outlet, fencedBy: fence, at: .now)
                    }
                } catch StoreError.superseded(let number) {
                    throw StoreError.superseded(byNumber: number)
                } catch {
                    log.error("webhooks or the history of a call were lost", metadata: ["error": "\(error)"])
                }
            })
        if !isTaken { log.error("webhooks or the history of a call were dropped; the store was too slow") }
    }

    /// Asks for a push to a called user without a connected device, once for each invitation.
    private func push(_ call: CallInfo, to party: CallParty) {
        guard let identity = party.user, let user = UserID(text: identity.text), devices.all(of: identity).isEmpty,
            call.member(party)?.state == .invited, let invitedAt = pushes.take(call.id, party)
        else { return }
        collaborators.push(
            PushRequest(.call(call), user: user, expiresAt: invitedAt + settings.ringTime, trace: inbox.rooms.trace(of: call.room)))
    }

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

    private func answer(_ outcome: Result<CallReply, CallError>, _ requester: CallStateMachine.Requester) {
        switch requester {
        case .web: exchange.outcome = outcome
        case .device(let device, let number):
            guard let address = devices.address(of: device) else { return }
            switch outcome {
            case .success(let reply): if let number { send(reply.bytes(re: number), to: [device]) }
            case .failure(let error):
                send(.refuse(error.error.code, number.map { error.bytes(re: $0) }, to: address.number), to: address.shard)
            }
        }
    }
}
