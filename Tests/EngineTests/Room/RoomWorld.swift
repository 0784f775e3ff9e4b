import Engine
import Testing
import Wire

/// A room with a clock, and all that its participants have heard.
struct RoomWorld {
    enum Answer: Equatable {
        case reply(Reply)
        case refused(RequestError)

        var code: RequestError.Code? { if case .refused(let error) = self { error.code } else { nil } }
    }

    struct SubscriptionOptions: Hashable {
        var subscriber: ParticipantHandle
        var alias: TrackAlias
    }

    var room: Room
    var now = Instant(nanoseconds: 1_000_000_000)
    /// What the last step had for effect.
    var effects: [Room.Effect] = []
    var history: [Room.Effect] = []
    var heard: [ParticipantHandle: [Event]] = [:]
    var answers: [ParticipantHandle: [UInt64: [Answer]]] = [:]
    var closed: [ParticipantHandle: CloseReason] = [:]
    var facts: [Room.AuditEvent] = []
    var tokens: [(handle: ParticipantHandle, content: TokenContent, re: UInt64?)] = []
    /// The patch panels, as the effects have made them.
    var options: Set<SubscriptionOptions> = []
    var gates: [TrackAlias: Room.Gate] = [:]
    private var names: [ParticipantHandle: String] = [:]
    private var lastID: UInt64 = 0
    private var lastSlot: UInt32 = 0

    init(_ settings: RoomSettings = RoomSettings(), seed: UInt64 = 1) {
        room = Room(name: "den", sid: RoomSID(text: "RM_den"), settings: settings, createdAt: 1_700_000_000, seed: seed, at: now)
    }

    mutating func happens(_ input: Room.Input) {
        effects = []
        room.handle(input, at: now, into: &effects)
        history += effects
        for effect in effects { perform(effect) }
    }

    /// Lets time pass, and wakes the room whenever it wants to be.
    mutating func pass(_ span: Duration) {
        let end = now + span
        var passed: [Room.Effect] = []
        while let deadline = room.deadline, deadline <= end {
            now = max(now, deadline)
            happens(.deadlinePassed)
            passed += effects
            if let next = room.deadline { #expect(next > now, "a deadline that has been met must not stay") }
        }
        now = end
        effects = passed
    }

    @discardableResult
    mutating func join(
        _ name: String, kind: ParticipantKind = .standard, permission: Permission = Permission(), isRoomAdmin: Bool = false,
        autoSubscribe: Bool = true, receivesText: Bool = true, attributes: [String: String] = [:], session: String? = nil,
        briefing: SessionBriefing? = nil, token: String? = nil,
        resuming: String? = nil
    ) -> ParticipantHandle {
        let handle = newHandle(name)
        let admission = Admission(
            identity: Identity(text: name), name: name.uppercased(), kind: kind, attributes: attributes, permission: permission,
            isRoomAdmin: isRoomAdmin, sessionID: session ?? "session-\(name)", briefing: briefing, autoSubscribe: autoSubscribe,
            receivesText: receivesText,
            resumeToken: token ?? "resume-\(name)", resuming: resuming, joinedAt: 1_700_000_001)
        happens(.joined(handle, admission))
        return handle
    }

    mutating func newHandle(_ name: String) -> ParticipantHandle {
        lastSlot += 1
        let handle = ParticipantHandle(shard: 0, slot: lastSlot, generation: 1)
        names[handle] = name
        return handle
    }

    /// Asks with an id. Nil if there was no answer (yet).
    @discardableResult
    mutating func ask(_ handle: ParticipantHandle, _ request: Request) -> Answer? {
        lastID += 1
        happens(.request(request, id: lastID, from: handle))
        return answers[handle]?[lastID]?.first
    }

    mutating func publish(
        _ handle: ParticipantHandle, _ description: PublishTrack = PublishTrack(), sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> TrackInfo {
        guard case .reply(.published(let info)) = ask(handle, .publish(description)) else {
            throw Unexpected(what: "publishing was refused: \(effects)")
        }
        return info
    }

    func hears(_ subscriber: ParticipantHandle, _ track: TrackInfo) -> Bool {
        options.contains(SubscriptionOptions(subscriber: subscriber, alias: track.alias)) && gates[track.alias] == .open
    }

    /// What this one has heard since it was last asked.
    mutating func news(_ handle: ParticipantHandle) -> [Event] {
        heard.removeValue(forKey: handle) ?? []
    }

    mutating func forgetNews() {
        heard = [:]
    }

    /// The last step's effects, a few words each.
    var trace: [String] { effects.map(line) }

    func line(_ effect: Room.Effect) -> String {
        func name(_ handle: ParticipantHandle) -> String { names[handle] ?? "?" }
        return switch effect {
        case .send(let event, let audience): "\(Self.word(event)) > \(audience.map(name).joined(separator: " "))"
        case .replay(let event, let handle): "\(Self.word(event)) > \(name(handle))"
        case .reply(_, _, let handle): "reply > \(name(handle))"
        case .reject(let error, _, let handle): "refuse \(error.code) > \(name(handle))"
        case .patch(.publish(let track, let publisher)): "patch publish \(track.alias.value) by \(name(publisher))"
        case .patch(.unpublish(let alias, let publisher)): "patch unpublish \(alias.value) by \(name(publisher))"
        case .patch(.move(let track, let old, let new, _, let subscribers)):
            "patch move \(track.alias.value) from \(name(old)) to \(name(new)) heard by \(subscribers.map(name).joined(separator: " "))"
        case .patch(.gate(let alias, _, let gate)): "patch gate \(alias.value) \(gate)"
        case .patch(.clear(let alias, _, let epoch)): "patch clear \(alias.value) to \(epoch)"
        case .patch(.retain(let alias, _, let time)): "patch keep \(alias.value) from \(time?.ticks.description ?? "now")"
        case .patch(.subscribe(let subscriber, let alias, _, _)): "patch listen \(name(subscriber)) to \(alias.value)"
        case .patch(.unsubscribe(let subscriber, let alias, _)): "patch stop \(name(subscriber)) to \(alias.value)"
        case .mintToken(let handle, _, let id): "token\(id == nil ? "" : " re") > \(name(handle))"
        case .handOver(let old, let new): "hand over \(name(old)) to \(name(new))"
        case .close(let handle, let reason): "close \(reason) \(name(handle))"
        case .record(let fact, _): "fact \(String(String(describing: fact).prefix { $0 != "(" }))"
        case .tap(let order, let publisher): "tap \(order.track.alias.value) by \(name(publisher))"
        case .untap(let track, let publisher): "untap \(track.alias.value) by \(name(publisher))"
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
            for handle in audience { heard[handle, default: []].append(event) }
        case .replay(let event, let handle): heard[handle, default: []].append(event)
        case .reply(let reply, let id, let handle): answers[handle, default: [:]][id, default: []].append(.reply(reply))
        case .reject(let error, let id, let handle):
            if let id { answers[handle, default: [:]][id, default: []].append(.refused(error)) }
        case .patch(let change): perform(change)
        case .mintToken(let handle, let content, let id): tokens.append((handle, content, id))
        case .close(let handle, let reason): closed[handle] = reason
        case .record(let fact, _): facts.append(fact)
        case .handOver, .tap, .untap, .closed: break
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
            options = options.filter { $0.alias != alias }
        case .move(let track, _, _, let gate, let subscribers):
            #expect(gates[track.alias] == gate, "moving changes no gate")
            let heard = subscribers.map { SubscriptionOptions(subscriber: $0, alias: track.alias) }
            #expect(Set(heard) == options.filter { $0.alias == track.alias }, "moving changes no listeners")
        case .gate(let alias, _, let gate):
            #expect(gates[alias] != nil && gates[alias] != gate, "a gate that moves nowhere")
            gates[alias] = gate
        case .clear(let alias, _, _), .retain(let alias, _, _): #expect(gates[alias] != nil, "no such patch")
        case .subscribe(let subscriber, let alias, _, _):
            #expect(gates[alias] != nil, "no such patch")
            #expect(options.insert(SubscriptionOptions(subscriber: subscriber, alias: alias)).inserted, "listens already")
        case .unsubscribe(let subscriber, let alias, _):
            #expect(options.remove(SubscriptionOptions(subscriber: subscriber, alias: alias)) != nil, "did not listen")
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
