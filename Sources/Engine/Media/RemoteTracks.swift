package import Wire

/// Tracks published on other shards with subscribers on this one.
///
/// The publisher's shard drops frames of closed gates; the gate is kept here as well, because frames may be under way between
/// threads when a track is muted.
package struct RemoteTracks: Sendable {
    private struct Key: Hashable {
        let publisher: ParticipantHandle
        let alias: TrackAlias
    }

    private struct RemoteTrack {
        var gate = Room.Gate.open
        var subscribers: [UInt32] = []
        /// Agents that receive earlier speech first; live frames follow when it has ended.
        var awaiting: [UInt32] = []
    }

    private var remoteTracks: [Key: RemoteTrack] = [:]

    package init() {}

    /// Tracks with subscribers here.
    package var count: Int { remoteTracks.count }

    /// Subscribers of a frame: none if the track has ended or its gate is closed.
    package func subscribers(to alias: TrackAlias, of publisher: ParticipantHandle) -> [UInt32] {
        guard let remoteTrack = remoteTracks[Key(publisher: publisher, alias: alias)], remoteTrack.gate == .open else { return [] }
        return remoteTrack.subscribers
    }

    /// Whether a frame has subscribers now.
    package func hasSubscribers(to alias: TrackAlias, of publisher: ParticipantHandle) -> Bool {
        remoteTracks[Key(publisher: publisher, alias: alias)]?.gate == .open
    }

    package mutating func add(subscriber: UInt32, to alias: TrackAlias, of publisher: ParticipantHandle) {
        let key = Key(publisher: publisher, alias: alias)
        remoteTracks[key]?.awaiting.removeAll { $0 == subscriber }
        guard remoteTracks[key]?.subscribers.contains(subscriber) != true else { return }
        remoteTracks[key, default: RemoteTrack()].subscribers.append(subscriber)
    }

    /// Adds an agent that receives no live frames until the earlier ones have arrived from the publisher's shard.
    package mutating func add(awaiting agent: UInt32, to alias: TrackAlias, of publisher: ParticipantHandle) {
        let key = Key(publisher: publisher, alias: alias)
        guard remoteTracks[key]?.subscribers.contains(agent) != true, remoteTracks[key]?.awaiting.contains(agent) != true else { return }
        remoteTracks[key, default: RemoteTrack()].awaiting.append(agent)
    }

    /// Whether the record's agent awaits it.
    package func isAwaiting(_ record: EarlierRecord, of publisher: ParticipantHandle) -> Bool {
        remoteTracks[Key(publisher: publisher, alias: record.alias)]?.awaiting.contains(record.agent.slot) == true
    }

    package mutating func remove(subscriber: UInt32, from alias: TrackAlias, of publisher: ParticipantHandle) {
        let key = Key(publisher: publisher, alias: alias)
        remoteTracks[key]?.subscribers.removeAll { $0 == subscriber }
        remoteTracks[key]?.awaiting.removeAll { $0 == subscriber }
        if let track = remoteTracks[key], track.subscribers.isEmpty, track.awaiting.isEmpty { remoteTracks[key] = nil }
    }

    /// A track goes on under another handle of its publisher. Earlier speech that has not arrived yet names the old one and is lost.
    package mutating func move(_ alias: TrackAlias, from old: ParticipantHandle, to new: ParticipantHandle) {
        guard var track = remoteTracks.removeValue(forKey: Key(publisher: old, alias: alias)) else { return }
        let awaiting = track.awaiting
        track.awaiting = []
        track.subscribers += awaiting
        remoteTracks[Key(publisher: new, alias: alias)] = track
    }

    /// Sets the gate of a track. Ignored without subscribers here; later ones learn the current gate.
    package mutating func setGate(_ gate: Room.Gate, of alias: TrackAlias, by publisher: ParticipantHandle) {
        remoteTracks[Key(publisher: publisher, alias: alias)]?.gate = gate
    }

    /// The track has ended.
    package mutating func remove(_ alias: TrackAlias, of publisher: ParticipantHandle) {
        remoteTracks[Key(publisher: publisher, alias: alias)] = nil
    }
}
