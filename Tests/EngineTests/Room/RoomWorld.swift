import Testing
public import Wire

@testable import Engine

/// A room with a virtual clock, and the events its participants received.
struct RoomWorld {
    enum Answer: Equatable {
        case reply(Reply)
        case rejected(RequestError)

        var code: RequestError.Code? { if case .rejected(let error) = self { error.code } else { nil } }
    }

    struct SubscriptionOptions: Hashable {
        var subscriber: ParticipantHandle
        var alias: TrackAlias
    }

    var room: Room
    var now = Instant(nanoseconds: 1_000_000_000)
    /// Effects of the last step.
    var effects: [Room.Effect] = []
    var history: [Room.Effect] = []
    var received: [ParticipantHandle: [Event]] = [:]
    var answers: [ParticipantHandle: [UInt64: [Answer]]] = [:]
    var closed: [ParticipantHandle: CloseReason] = [:]
    var auditEvents: [Room.AuditEvent] = []
    /// Of the procedure calls of administrators.
    var outcomes: [UInt64: [Result<String, RequestError>]] = [:]
    var tokens: [(handle: ParticipantHandle, content: TokenContent, re: UInt64?)] = []
    /// The patch panels as changed by the effects.
    var options: Set<SubscriptionOptions> = []
    var gates: [TrackAlias: Room.Gate] = [:]
    /// Tracks whose speech is kept for an agent.
    var kept: Set<TrackAlias> = []
    private var names: [ParticipantHandle: String] = [:]
    private var lastID: UInt64 = 0
    private var lastSlot: UInt32 = 0

    init(_ settings: RoomSettings = RoomSettings(), seed: UInt64 = 1) {
        room = Room(
            name: "den", sid: RoomSID(text: "RM_den"), settings: settings, createdAt: 1_700_000_000, seed: seed,
            resumeTokens: Self.resumeToken, at: now)
    }

    /// A participant's tokens are `resume-ann`, `resume-ann-1`, `resume-ann-2` and so on.
    static func resumeToken(of secret: ResumeSecret, number: UInt32) -> String { "resume-\(secret.revealedText)-\(number)" }

    mutating func receive(_ input: Room.Input) {
        effects = []
        room.handle(input, at: now, into: &effects)
        history += effects
        for effect in effects { perform(effect) }
    }

    /// Advances the clock and processes each deadline on the way.
    mutating func pass(_ span: Duration) {
        let end = now + span
        var passed: [Room.Effect] = []
        while let deadline = room.deadline, deadline <= end {
            now = max(now, deadline)
            receive(.deadlinePassed)
            passed += effects
            if let next = room.deadline { #expect(next > now, "a deadline that has passed must be removed") }
        }
        now = end
        effects = passed
    }

    @discardableResult
    mutating func join(
        _ name: String, kind: ParticipantKind = .standard, permission: Permission = Permission(), isRoomAdmin: Bool = false,
        autoSubscribe: Bool = true, receivesText: Bool = true, attributes: [String: String] = [:], session: String? = nil,
        briefing: SessionBriefing? = nil, resuming: String? = nil
    ) -> ParticipantHandle {
        let handle = newHandle(name)
        let admission = Admission(
            identity: Identity(text: name), name: name.uppercased(), kind: kind, attributes: attributes, permission: permission,
            isRoomAdmin: isRoomAdmin, sessionID: session ?? "session-\(name)", briefing: briefing, autoSubscribe: autoSubscribe,
            receivesText: receivesText,
            resumeToken: "resume-\(name)", resumeSecret: ResumeSecret(name), resuming: resuming, joinedAt: 1_700_000_001)
        receive(.joined(handle, admission))
        return handle
    }

    mutating func newHandle(_ name: String) -> ParticipantHandle {
        lastSlot += 1
        let handle = ParticipantHandle(shard: 0, slot: lastSlot, generation: 1)
        names[handle] = name
        return handle
    }

    /// Sends a request with an id. Nil if there is no answer (yet).
    @discardableResult
    mutating func send(_ handle: ParticipantHandle, _ request: Request) -> Answer? {
        lastID += 1
        receive(.request(request, id: lastID, from: handle))
        return answers[handle]?[lastID]?.first
    }

    mutating func publish(
        _ handle: ParticipantHandle, _ description: PublishTrack = PublishTrack(), sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> TrackInfo {
        guard case .reply(.published(let info)) = send(handle, .publish(description)) else {
            throw Unexpected(what: "publishing was rejected: \(effects)")
        }
        return info
    }

    func receives(_ subscriber: ParticipantHandle, _ track: TrackInfo) -> Bool {
        options.contains(SubscriptionOptions(subscriber: subscriber, alias: track.alias)) && gates[track.alias] == .open
    }

    /// Events received since the last call.
    mutating func takeEvents(_ handle: ParticipantHandle) -> [Event] {
        received.removeValue(forKey: handle) ?? []
    }

    mutating func discardEvents() {
        received = [:]
    }

    /// Short descriptions of the last step's effects.
    var trace: [String] { effects.map(line) }

    func line(_ effect: Room.Effect) -> String {
        func name(_ handle: ParticipantHandle) -> String { names[handle] ?? "?" }
        return switch effect {
        case .send(let event, let audience): "\(Self.word(event)) > \(audience.map(name).joined(separator: " "))"
        case .replay(let event, let handle): "\(Self.word(event)) > \(name(handle))"
        case .reply(_, _, let handle): "reply > \(name(handle))"
        case .reject(let error, _, let handle): "reject \(error.code) > \(name(handle))"
        case .patch(.publish(let track, let publisher)): "patch publish \(track.alias.value) by \(name(publisher))"
        case .patch(.unpublish(let alias, let publisher)): "patch unpublish \(alias.value) by \(name(publisher))"
        case .patch(.move(let track, let old, let new, _, let subscribers)):
            "patch move \(track.alias.value) from \(name(old)) to \(name(new)) subscribed by \(subscribers.map(name).joined(separator: " "))"
        case .patch(.gate(let alias, _, let gate)): "patch gate \(alias.value) \(gate)"
        case .patch(.clear(let alias, _, let epoch)): "patch clear \(alias.value) to \(epoch)"
        case .patch(.retain(let alias, _, let time)): "patch retain \(alias.value) from \(time?.ticks.description ?? "now")"
        case .patch(.keep(let track, _, let isKept)): "patch \(isKept ? "keep" : "forget") \(track.alias.value)"
        case .patch(.subscribe(let subscriber, let alias, _, _)): "patch subscribe \(name(subscriber)) to \(alias.value)"
        case .patch(.unsubscribe(let subscriber, let alias, _)): "patch unsubscribe \(name(subscriber)) to \(alias.value)"
        case .mintToken(let handle, _, let id): "token\(id == nil ? "" : " re") > \(name(handle))"
        case .handOver(let old, let new): "hand over \(name(old)) to \(name(new))"
        case .close(let handle, let reason): "close \(reason) \(name(handle))"
        case .record(let event, _): "record \(String(String(describing: event).prefix { $0 != "(" }))"
        case .agent(let identity, let presence): "agent \(identity) \(presence)"
        case .attended(let isAttended): isAttended ? "attended" : "unattended"
        case .tap(let order, let publisher): "tap \(order.track.alias.value) by \(name(publisher))"
        case .untap(let track, let publisher): "untap \(track.alias.value) by \(name(publisher))"
        case .procedureEnded(let number, .success): "answer \(number)"
        case .procedureEnded(let number, .failure(let error)): "error \(error.code) \(number)"
        case .closed: "closed"
        }
    }

    /// The name of an event's case.
    static func word(_ event: Event) -> String {
        String(String(describing: event).prefix { $0 != "(" })
    }

    private mutating func perform(_ effect: Room.Effect) {
        switch effect {
        case .send(let event, let audience):
            for handle in audience { received[handle, default: []].append(event) }
        case .replay(let event, let handle): received[handle, default: []].append(event)
        case .reply(let reply, let id, let handle): answers[handle, default: [:]][id, default: []].append(.reply(reply))
        case .reject(let error, let id, let handle):
            if let id { answers[handle, default: [:]][id, default: []].append(.rejected(error)) }
        case .patch(let change): perform(change)
        case .mintToken(let handle, let content, let id): tokens.append((handle, content, id))
        case .close(let handle, let reason): closed[handle] = reason
        case .record(let event, _): auditEvents.append(event)
        case .procedureEnded(let number, let outcome): outcomes[number, default: []].append(outcome)
        case .agent, .attended, .handOver, .tap, .untap, .closed: break
        }
    }

    private mutating func perform(_ change: Room.PatchChange) {
        switch change {
        case .publish(let track, _):
            #expect(gates[track.alias] == nil, "the alias is in use")
            gates[track.alias] = .open
        case .unpublish(let alias, _):
            #expect(gates[alias] != nil, "no such patch")
            gates[alias] = nil
            kept.remove(alias)
            options = options.filter { $0.alias != alias }
        case .move(let track, _, _, let gate, let subscribers):
            #expect(gates[track.alias] == gate, "a move must not change the gate")
            let renewed = subscribers.map { SubscriptionOptions(subscriber: $0, alias: track.alias) }
            #expect(Set(renewed) == options.filter { $0.alias == track.alias }, "a move must not change the subscribers")
        case .gate(let alias, _, let gate):
            #expect(gates[alias] != nil && gates[alias] != gate, "the gate is unchanged")
            gates[alias] = gate
        case .clear(let alias, _, _), .retain(let alias, _, _): #expect(gates[alias] != nil, "no such patch")
        case .keep(let track, _, let isKept):
            #expect(gates[track.alias] != nil, "no such patch")
            if isKept { kept.insert(track.alias) } else { #expect(kept.remove(track.alias) != nil, "it is not kept") }
        case .subscribe(let subscriber, let alias, _, _):
            #expect(gates[alias] != nil, "no such patch")
            #expect(options.insert(SubscriptionOptions(subscriber: subscriber, alias: alias)).inserted, "already subscribed")
        case .unsubscribe(let subscriber, let alias, _):
            #expect(options.remove(SubscriptionOptions(subscriber: subscriber, alias: alias)) != nil, "not subscribed")
        }
    }
}

struct Unexpected: Error {
    var what: String
}

extension [Event] {
    var words: [String] { map(RoomWorld.word) }
}

extension Duration {
    static func minutes(_ count: Int) -> Duration { .seconds(60 * count) }
}

/// Lets tests write identities as string literals.
extension Identity: ExpressibleByStringLiteral {
    public init(stringLiteral text: String) { self.init(text: text) }
}
