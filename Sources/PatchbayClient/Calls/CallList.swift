public import Wire

/// The calls of one user as seen by one of its devices. A pure value.
///
/// `apply` accepts the messages of the user's channel and the responses of `POST /v1/calls` in any order: of two descriptions of a call, the
/// one with the higher `seq` counts.
public struct CallList: Sendable {
    /// Remembered calls; the oldest ended call is dropped first. Far more than one user may have at once.
    static let callsMax = 64
    /// Earlier connections of this device that a call may still name.
    static let devicesMax = 16

    private struct Entry {
        var call: Call
        /// Reported by `appeared` and not yet by `ended`.
        var isShown = false
    }

    private var entries: [Entry] = []
    /// The ids of this device's connections, the current one last.
    private var devices: [DeviceID] = []
    /// Nil before the first `hello`.
    public private(set) var user: Identity?
    /// The channel that returned calls send requests on; nil for a list without a channel.
    var channel: ChannelHandle?

    public init() {}

    /// The calls that ring, are active or are held on this device, oldest first.
    public var calls: [Call] { entries.filter(\.isShown).map { attach($0.call) } }

    /// The calls that the user has joined with another device; `Channel.join` takes one over.
    public var callsElsewhere: [CallInfo] {
        entries.map(\.call).filter { $0.mine?.state == .joined && !$0.isHere }.map(\.info)
    }

    var rememberedCount: Int { entries.count }

    public subscript(_ id: CallID) -> Call? { entries.first { $0.call.id == id && $0.isShown }.map { attach($0.call) } }

    /// A call, whether shown or not.
    func latest(_ id: CallID) -> Call? { entries.first { $0.call.id == id }?.call }

    private func attach(_ call: Call) -> Call {
        var call = call
        call.channel = channel
        return call
    }

    /// Updates the list with a message of the channel.
    ///
    /// - Returns: what changes on the call screen.
    public mutating func apply(_ message: CallMessage) -> [CallUpdate] {
        switch message {
        case .hello(let hello): replace(with: hello)
        case .event(let event): update(event.call, because: event)
        case .reply(_, let reply): apply(reply)
        case .error(_, let error): error.call.map { update($0) } ?? []
        case .job, .unknownEvent: []
        }
    }

    /// Updates the list with the reply to a request, including requests by HTTP.
    public mutating func apply(_ reply: CallReply) -> [CallUpdate] {
        // Only the device that joins the call receives a token.
        reply.call.map { update($0, isHere: reply.livekitToken != nil) } ?? []
    }

    private mutating func replace(with hello: CallsHello) -> [CallUpdate] {
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
        return updates + hello.calls.flatMap { update($0) }
    }

    private mutating func update(_ info: CallInfo, isHere: Bool = false, because event: CallEvent? = nil) -> [CallUpdate] {
        guard let user else { return [] }
        let index = entries.firstIndex { $0.call.id == info.id } ?? entries.endIndex
        let isNew = index == entries.endIndex
        if isNew { entries.append(Entry(call: Call(info: info, user: user, isHere: false))) }
        let before = entries[index].call
        if info.seq >= before.info.seq { entries[index].call.info = info }
        if isHere || wasTakenByHTTP(entries[index].call, since: before, because: event) { entries[index].call.isHere = isHere }
        updateLocation(of: &entries[index].call, since: before)
        let updates = screenUpdate(&entries[index], since: before, because: event)
        if isNew && entries.count > Self.callsMax, let oldest = entries.firstIndex(where: { !$0.isShown }) { entries.remove(at: oldest) }
        return updates
    }

    /// The device named in the call decides; joining by HTTP names none.
    private func updateLocation(of call: inout Call, since before: Call) {
        guard let mine = call.mine else { return }
        if mine.state == .invited { call.isHere = false }
        if mine.state == .joined, let device = mine.device { call.isHere = devices.contains(device) }
        call.hasMoved = mine.state == .joined && !call.isHere && (before.isHere || before.hasMoved)
    }

    /// Whether the user joined by HTTP: on another device, unless the reply to that request was applied here.
    private func wasTakenByHTTP(_ call: Call, since before: Call, because event: CallEvent?) -> Bool {
        guard let mine = call.mine, mine.state == .joined, mine.device == nil, call.info.seq > before.info.seq else { return false }
        return before.mine?.device != nil || (event?.kind == .moved && event?.by == mine.party)
    }

    private func screenUpdate(_ entry: inout Entry, since before: Call, because event: CallEvent?) -> [CallUpdate] {
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

/// A change on a call screen.
public enum CallUpdate: Sendable, Hashable {
    /// Show a call: an incoming one that rings, or one that this device made or took over.
    case appeared(Call)
    /// Update a call. The event is nil if a reply reported the change first.
    case changed(Call, CallEvent?)
    /// Remove a call. Once for each `appeared`.
    case ended(Call, CallEnding)
}
