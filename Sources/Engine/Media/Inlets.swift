package import Wire

/// Tracks that are published on other shards and heard on this one: who listens here, and whether anybody may.
///
/// What must not be heard is dropped at the publisher's shard; the gate is kept here as well because frames may be on their
/// way between two threads when a track is muted.
package struct Inlets: Sendable {
    private struct Key: Hashable {
        let publisher: ParticipantHandle
        let alias: TrackAlias
    }

    private struct Inlet {
        var gate = Room.Gate.open
        var listeners: [UInt32] = []
    }

    private var inlets: [Key: Inlet] = [:]

    package init() {}

    /// Tracks that somebody here hears.
    package var count: Int { inlets.count }

    /// Who hears a frame: nobody if the track has ended or is closed.
    package func listeners(to alias: TrackAlias, of publisher: ParticipantHandle) -> [UInt32] {
        guard let inlet = inlets[Key(publisher: publisher, alias: alias)], inlet.gate == .open else { return [] }
        return inlet.listeners
    }

    /// Whether a frame that comes now is heard by anybody.
    package func hasListeners(to alias: TrackAlias, of publisher: ParticipantHandle) -> Bool {
        inlets[Key(publisher: publisher, alias: alias)]?.gate == .open
    }

    package mutating func add(listener: UInt32, to alias: TrackAlias, of publisher: ParticipantHandle) {
        let key = Key(publisher: publisher, alias: alias)
        guard inlets[key]?.listeners.contains(listener) != true else { return }
        inlets[key, default: Inlet()].listeners.append(listener)
    }

    package mutating func remove(listener: UInt32, from alias: TrackAlias, of publisher: ParticipantHandle) {
        let key = Key(publisher: publisher, alias: alias)
        inlets[key]?.listeners.removeAll { $0 == listener }
        if inlets[key]?.listeners.isEmpty == true { inlets[key] = nil }
    }

    /// A track goes on under another handle of its publisher.
    package mutating func move(_ alias: TrackAlias, from old: ParticipantHandle, to new: ParticipantHandle) {
        inlets[Key(publisher: new, alias: alias)] = inlets.removeValue(forKey: Key(publisher: old, alias: alias))
    }

    /// A track's gate; of no interest where nobody listens, for whoever comes later is told what it is then.
    package mutating func setGate(_ gate: Room.Gate, of alias: TrackAlias, by publisher: ParticipantHandle) {
        inlets[Key(publisher: publisher, alias: alias)]?.gate = gate
    }

    /// The track has ended.
    package mutating func remove(_ alias: TrackAlias, of publisher: ParticipantHandle) {
        inlets[Key(publisher: publisher, alias: alias)] = nil
    }
}
