internal import Engine
internal import HTTPServer
internal import HTTPTypes
internal import Identity
internal import ServiceLifecycle
internal import Store
internal import Wire

/// Runs the calls of a gateway, or of a whole cluster on its coordinator, around the pure `CallStateMachine`: feeds it inputs from devices,
/// HTTP requests and rooms, and performs its effects in order.
///
/// Shards reach it through the bounded `CallInbox`; HTTP handlers call its methods. `run()` returns once the inbox is finished, that is
/// when the gateway has stopped. Calls then end; only in a cluster the next coordinator continues them, as far as they are stored.
package actor CallService: Service {
    let inbox: CallInbox
    let accounts: AccountService
    let callees: Callees
    let rooms: RoomService
    let tokens: RoomTokenMinter
    let collaborators: CallCollaborators
    var calls: CallStateMachine
    var devices = CallDevices()
    /// Assistants' processes that take jobs instead of calls.
    var workers: Set<DeviceID> = []
    var exchange = Exchange()
    var records: CallRecords
    var pushes: CallPushes
    let settings: CallSettings
    private var timer = DeadlineTimer()
    var phase = Phase.serving
    /// Another node has become the coordinator.
    var isElsewhere = false
    var isClosingIdleDevices = false

    enum Phase {
        case serving, draining, ended
    }

    /// The HTTP request being handled, if any, and follow-up inputs caused by effects.
    struct Exchange {
        var lastNumber: UInt64 = 0
        var host: String?
        var outcome: Result<CallReply, CallError>?
        var followUps: [CallStateMachine.Input] = []
        /// The call of the last reply to a device.
        var repliedCall: CallInfo?
    }

    init(
        inbox: CallInbox, auditEvents: AuditEventQueue, accounts: AccountService, conversations: Conversations, webhookStore: Webhooks,
        rooms: RoomService, tokens: RoomTokenMinter, settings: CallSettings, collaborators: CallCollaborators
    ) {
        self.inbox = inbox
        self.accounts = accounts
        callees = Callees(accounts: accounts, conversations: conversations)
        records = CallRecords(auditEvents: auditEvents, webhookStore: webhookStore, collaborators: collaborators)
        pushes = CallPushes(waitsForStore: collaborators.writesAs != nil)
        self.rooms = rooms
        (self.tokens, self.collaborators, self.settings) = (tokens, collaborators, settings)
        calls = CallStateMachine(settings: settings, seed: .random(in: 0 ... .max))
    }

    package func run() async throws {
        await withDiscardingTaskGroup { group in
            for await message in inbox.messages {
                receive(message) { lookup in group.addTask { await lookup(self) } }
            }
            phase = .ended
            timer.cancel()
            records.finish()
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
    /// - Throws: `CallError`; `StoreError` if the store fails; `HTTPError` with status 503 if another node serves calls.
    func perform(_ request: CallRequest, of user: UserID, host: String?) async throws -> CallReply {
        let (request, unknown) = try await callees.resolve(request, of: Identity(text: user.text))
        let reply = try answer(to: request, of: user, unknown: unknown, host: host)
        if case .start = request, let call = reply.call { try await settleStart(of: call) }
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
        await records.settle(calls.left(by: Identity(text: user.text)).map(\.room))
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

    static let noAnswer = CallError(.limitExceeded, "the gateway cannot answer now; try again", retryable: true)

    func checkNotEnded() throws(CallError) {
        guard phase != .ended, !isElsewhere else { throw Self.noAnswer }
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
        case .resign:
            begin(with: [])
            isElsewhere = true
        }
    }

    private func receive(_ message: CallServiceMessage) {
        switch message {
        case .room(let call, let change, _, _): note(change, in: call)
        case .notice(let message, let owner): send(message, to: owner)
        case .revoked(let user): closeDevices(of: user)
        case .deleted(let user): remove(user)
        }
    }

    /// Replaces the calls by those that another node has left, or by none.
    private func begin(with stored: [CallInfo]) {
        timer.cancel()
        isElsewhere = false
        calls = CallStateMachine(settings: settings, seed: .random(in: 0 ... .max))
        calls.restore(stored, at: .now)
        records.begin(with: stored)
        pushes = CallPushes(waitsForStore: collaborators.writesAs != nil)
        inbox.rooms.begin(with: stored)
        arm()
    }

    func handle(_ input: CallStateMachine.Input) {
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
}
