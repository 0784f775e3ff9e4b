package import Engine
internal import HTTPServer
internal import HTTPTypes
internal import Identity
internal import Logging
internal import ServiceLifecycle
package import Store
package import Wire

/// Runs the calls of one gateway around the pure `CallStateMachine`: feeds it inputs from devices, HTTP requests and rooms, and performs
/// its effects in order.
///
/// Shards reach it through the bounded `CallInbox`; HTTP handlers call its methods. `run()` returns once the inbox is finished, that is
/// when the gateway has stopped. Calls are not persisted.
package actor CallService: Service {
    /// How long a response waits until what it promises or lists is stored.
    private static let storeWaitMax = Duration.seconds(1)

    private let inbox: CallInbox
    /// Webhooks and the history of calls are stored in order with the events of the calls' rooms.
    private let auditEvents: AuditEventQueue
    private let accounts: AccountService
    private let conversationStore: Conversations
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
        conversationStore = conversations
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
        let (request, unknown) = try await resolve(request, of: Identity(text: user.text))
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

    private static let tooManyUnknown = CallError(.limitExceeded, "too many callees were not found; wait a minute", retryable: true)

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
        case .handle where called(by: request).isEmpty && request.conversation == nil: handle(.request(request, from: requester))
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
                let (resolved, unknown) = try await resolve(request, of: owner)
                if phase != .ended { handle(.request(resolved, from: requester, unknown: unknown)) }
            } catch {
                // The protocol's errors have no code for failures of the store.
                answer(.failure(error as? CallError ?? Self.noAnswer), requester)
            }
        }
    }

    /// The users that a request calls: only the store knows whether they exist and are reachable. Empty if there are more than a call may
    /// have, because such a request is refused.
    private func called(by request: CallRequest) -> [CallParty] {
        let parties: [CallParty] =
            switch request {
            case .start(let start): start.to
            case .invite(_, let parties): parties
            default: []
            }
        guard parties.count < ProtocolLimits.callMembersMax else { return [] }
        return parties.filter { !$0.isAssistant }
    }

    /// Replaces the addresses of the users that a request calls by their ids.
    ///
    /// - Returns: the request, and those of its parties that do not exist or are not reachable for the requester.
    /// - Throws: `CallError`, with `limitExceeded` for a requester of too many such parties, whomever it calls; `StoreError`.
    private func resolve(_ request: CallRequest, of caller: Identity) async throws -> (CallRequest, unknown: Set<CallParty>) {
        if case .start(let start) = request, let conversation = start.conversation {
            return (.start(start.calling(try await members(of: conversation, for: caller, besides: start.to))), [])
        }
        let parties = called(by: request)
        guard !parties.isEmpty else { return (request, []) }
        let (guesses, names) = (accounts.guesses, [AccountService.callees(of: caller.text)])
        guard let reservation = guesses.reserve(parties.count, for: names) else { throw Self.tooManyUnknown }
        var unknown: Set<CallParty> = []
        defer { guesses.settle(reservation, failures: unknown.count) }
        let addresses = Dictionary(parties.map { ($0, UserAddress(text: $0.text)) }) { first, _ in first }.compactMapValues(\.self)
        let found = try await accounts.store.callees(
            at: Array(addresses.values), for: UserID(text: caller.text), isConfirmed: accounts.settings.confirmsEmail)
        let users = addresses.compactMapValues { found[$0].map { CallParty.user(Identity(text: $0.text)) } }
        unknown = Set(parties.filter { users[$0] == nil })
        return (request.calling { users[$0] ?? $0 }, unknown)
    }

    /// Returns the other members who have joined a conversation and whom the caller can reach.
    ///
    /// - Parameter parties: must be empty, because a call has a single list of callees.
    private func members(
        of conversation: String, for caller: Identity, besides parties: [CallParty]
    ) async throws -> [CallParty] {
        guard parties.isEmpty else { throw CallError(.invalidArgument, "give either `to` or `conversation`") }
        guard let user = UserID(text: caller.text), let id = ConversationID(text: conversation) else { throw CallError.noSuchConversation }
        do {
            var others: [UserID] = []
            var cursor: NumberCursor?
            repeat {
                let page = try await conversationStore.members(of: id, for: user, after: cursor, limit: StoreLimits.linesPerPageMax)
                others += page.elements.filter { $0.state == .joined && $0.user != user }.map(\.user)
                cursor = page.next
            } while cursor != nil
            guard others.count < ProtocolLimits.callMembersMax else {
                throw CallError(.limitExceeded, "a call has at most \(ProtocolLimits.callMembersMax) members; the conversation has more")
            }
            let reachable = try await accounts.store.callees(at: others.map(UserAddress.id), for: user)
            let callees = others.filter { reachable[.id($0)] != nil }
            guard !callees.isEmpty else { throw CallError(.notFound, "nobody else in this conversation can be called") }
            return callees.map { .user(Identity(text: $0.text)) }
        } catch StoreError.notFound {
            throw CallError.noSuchConversation
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
            let expiresIn = devices.address(of: device)?.expiresIn
            let hello = CallsHello(server: collaborators.server, user: user, device: device, calls: calls, expiresIn: expiresIn)
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

/// `CallService`'s dependencies. The closures must not block.
package struct CallCollaborators: Sendable {
    package var server: ServerInfo
    /// The webhooks for a change.
    package var announcement: @Sendable (CallRecord) -> Announcement
    /// Dispatches an assistant that has no channel to a call's room. Returns false for an unknown assistant, which then fails the call at
    /// once.
    package var dispatch: @Sendable (_ assistant: String, CallInfo) -> Bool
    /// Cancels a dispatch.
    package var recall: @Sendable (_ assistant: String, CallID) -> Void
    package var operatorLog = OperatorLog.silent
    /// In a cluster, the name under which changes of all calls are stored in order, and refused once another node serves calls; nil: each
    /// call's room.
    package var writesAs: String?
    /// Wakes the devices of a called user.
    package var push: @Sendable (PushRequest) -> Void = { _ in }
    /// Receives changes of who is talking in calls to the members of conversations.
    package var conversations = ConversationOutlet.none

    package init(
        server: ServerInfo, announcement: @escaping @Sendable (CallRecord) -> Announcement = { _ in Announcement() },
        dispatch: @escaping @Sendable (_ assistant: String, CallInfo) -> Bool = { _, _ in false },
        recall: @escaping @Sendable (_ assistant: String, CallID) -> Void = { _, _ in }
    ) {
        self.server = server
        self.announcement = announcement
        self.dispatch = dispatch
        self.recall = recall
    }
}

extension CallError {
    /// The error for an unknown conversation, and for one of other users.
    fileprivate static var noSuchConversation: CallError { CallError(.notFound, "you are in no such conversation") }
}

extension CallStart {
    fileprivate func calling(_ parties: [CallParty]) -> CallStart {
        var start = self
        start.to = parties
        return start
    }
}

extension CallRequest {
    /// The conversation whose members are called.
    fileprivate var conversation: String? {
        if case .start(let start) = self { start.conversation } else { nil }
    }

    /// The request with the parties that it calls replaced.
    fileprivate func calling(_ replacement: (CallParty) -> CallParty) -> CallRequest {
        switch self {
        case .start(var start):
            start.to = start.to.map(replacement)
            return .start(start)
        case .invite(let call, let parties): return .invite(call, parties.map(replacement))
        default: return self
        }
    }
}
