public import Wire

/// The calls of one user, as one of its devices is told of them.
///
/// It takes in every message of the user's own channel, and what `POST /v1/calls` answers, in whatever order the two come: of two accounts
/// of a call the one with the higher `seq` counts. It does no networking.
public struct CallBook: Sendable {
    /// Calls that are remembered; the oldest goes first. Far more than one user may have at once.
    static let callsMax = 64
    /// Former connections of this device by which a call may still be known to be ours.
    static let devicesMax = 16

    private struct Entry {
        var call: Call
        /// It is on the screen: told of, and not told to have ended.
        var isShown = false
    }

    private var entries: [Entry] = []
    /// This device's connections, the present one last.
    private var devices: [DeviceID] = []
    /// Nil before the first `hello`.
    public private(set) var user: Identity?
    /// What the calls that are handed out lead to; nil where no channel keeps the book.
    var door: ChannelDoor?

    public init() {}

    /// Those that ring, are active or are held here, oldest first.
    public var calls: [Call] { entries.filter(\.isShown).map { handOut($0.call) } }

    /// Those that the user has joined with another device: `call.join` brings one here.
    public var callsElsewhere: [CallInfo] {
        entries.map(\.call).filter { $0.mine?.state == .joined && !$0.isHere }.map(\.info)
    }

    var rememberedCount: Int { entries.count }

    public subscript(_ id: CallID) -> Call? { entries.first { $0.call.id == id && $0.isShown }.map { handOut($0.call) } }

    /// A call also when it is on no screen (any more).
    func latest(_ id: CallID) -> Call? { entries.first { $0.call.id == id }?.call }

    private func handOut(_ call: Call) -> Call {
        var call = call
        call.door = door
        return call
    }

    /// Takes in a message of the channel, and tells what it means for the screen.
    public mutating func apply(_ message: CallMessage) -> [CallUpdate] {
        switch message {
        case .hello(let hello): greet(hello)
        case .event(let event): take(event.call, because: event)
        case .reply(_, let reply): apply(reply)
        case .error(_, let error): error.call.map { take($0) } ?? []
        case .unknownEvent: []
        }
    }

    /// Takes in the answer to a request, also one made by HTTP.
    public mutating func apply(_ reply: CallReply) -> [CallUpdate] {
        // Only the device that is let into the room is given a token.
        reply.call.map { take($0, isHere: reply.livekitToken != nil) } ?? []
    }

    private mutating func greet(_ hello: CallsHello) -> [CallUpdate] {
        if user != hello.user {
            entries.removeAll()
            devices.removeAll()
        }
        user = hello.user
        devices.append(hello.device)
        if devices.count > Self.devicesMax { devices.removeFirst() }
        var updates: [CallUpdate] = []
        for entry in entries where !hello.calls.contains(where: { $0.id == entry.call.id }) {
            if entry.isShown { updates.append(.ended(entry.call, .whileAway)) }
        }
        entries.removeAll { entry in !hello.calls.contains { $0.id == entry.call.id } }
        return updates + hello.calls.flatMap { take($0) }
    }

    private mutating func take(_ info: CallInfo, isHere: Bool = false, because event: CallEvent? = nil) -> [CallUpdate] {
        guard let user else { return [] }
        let index = entries.firstIndex { $0.call.id == info.id } ?? entries.endIndex
        let isNew = index == entries.endIndex
        if isNew { entries.append(Entry(call: Call(info: info, user: user, isHere: false))) }
        let before = entries[index].call
        if info.seq >= before.info.seq { entries[index].call.info = info }
        if isHere || wasTakenByHTTP(entries[index].call, since: before, because: event) { entries[index].call.isHere = isHere }
        settlePlace(of: &entries[index].call, since: before)
        let updates = show(&entries[index], since: before, because: event)
        if isNew && entries.count > Self.callsMax, let oldest = entries.firstIndex(where: { !$0.isShown }) { entries.remove(at: oldest) }
        return updates
    }

    /// Where the account names the device, that decides; a call by HTTP names none.
    private func settlePlace(of call: inout Call, since before: Call) {
        guard let mine = call.mine else { return }
        if mine.state == .invited { call.isHere = false }
        if mine.state == .joined, let device = mine.device { call.isHere = devices.contains(device) }
        call.hasMoved = mine.state == .joined && !call.isHere && (before.isHere || before.hasMoved)
    }

    /// Whether the user goes on with a call by HTTP, which is with another device unless the answer to that comes here.
    private func wasTakenByHTTP(_ call: Call, since before: Call, because event: CallEvent?) -> Bool {
        guard let mine = call.mine, mine.state == .joined, mine.device == nil, call.info.seq > before.info.seq else { return false }
        return before.mine?.device != nil || (event?.kind == .moved && event?.by == mine.party)
    }

    private func show(_ entry: inout Entry, since before: Call, because event: CallEvent?) -> [CallUpdate] {
        if case .ended(let ending) = entry.call.state {
            guard entry.isShown else { return [] }
            entry.isShown = false
            return [.ended(entry.call, ending)]
        }
        guard entry.isShown else {
            entry.isShown = true
            return [.appeared(entry.call)]
        }
        return entry.call == before ? [] : [.changed(entry.call, event)]
    }
}

/// What the screen is to show.
public enum CallUpdate: Sendable, Hashable {
    /// A call to show: an incoming one that rings, or one that this device made or has taken over.
    case appeared(Call)
    /// The event is nil where an answer to a request told it first.
    case changed(Call, CallEvent?)
    /// Take it off the screen. Comes once for each `appeared`.
    case ended(Call, CallEnding)
}
