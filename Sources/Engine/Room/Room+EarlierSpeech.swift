package import Wire

/// Speech before an agent's arrival: while an assistant is on its way, the shards keep the latest frames of the users' microphones, and its
/// agent receives them when it subscribes. The room decides for which tracks and agents; frames never visit it.
extension Room {
    /// A job of the room waits for its agent from now on, or does not any more.
    mutating func expect(_ agent: Identity, _ isExpected: Bool) {
        guard isExpected else { return endWait(for: agent) }
        // It may have joined before this arrived.
        guard members.handle(of: agent) == nil, !expectedAgents.contains(agent), expectedAgents.count < Limits.jobsPerRoomMax else {
            return
        }
        let isFirst = expectedAgents.isEmpty
        expectedAgents.insert(agent, since: isFirst ? nil : now)
        if isFirst { for track in tracks.values { keepSpeech(of: track) } }
    }

    /// Keeps the frames of a new track, if it is a user's microphone and an agent is expected.
    mutating func keepSpeech(of track: Track) {
        guard !expectedAgents.isEmpty, track.info.mode == .live, track.info.source == .microphone,
            let publisher = members[track.publisher], !publisher.kind.isDependent
        else { return }
        if let oldest = expectedAgents.insert(track: track.info.sid), let track = tracks[oldest] {
            patch(.keep(track.info, by: track.publisher, false))
        }
        patch(.keep(track.info, by: track.publisher, true))
    }

    /// The publisher has a new handle, perhaps on another shard, which begins anew.
    mutating func keepSpeechAgain(of track: Track) {
        if expectedAgents.tracks.contains(track.info.sid) { patch(.keep(track.info, by: track.publisher, true)) }
    }

    /// Which earlier frames of a track a new subscriber receives; nil if none.
    func earlierSpeech(of track: Track, for subscriber: ParticipantHandle) -> EarlierSpeechLimit? {
        guard expectedAgents.tracks.contains(track.info.sid), let participant = members[subscriber], participant.kind == .agent else {
            return nil
        }
        return expectedAgents.limit(for: participant.identity)
    }

    /// An expected agent has subscribed: it has what was kept.
    mutating func noteSubscribed(_ handle: ParticipantHandle) {
        guard !expectedAgents.isEmpty, let participant = members[handle], participant.kind == .agent else { return }
        endWait(for: participant.identity)
    }

    mutating func endWait(for agent: Identity) {
        guard expectedAgents.remove(agent), expectedAgents.isEmpty else { return }
        for track in expectedAgents.takeTracks().compactMap({ tracks[$0] }) { patch(.keep(track.info, by: track.publisher, false)) }
    }
}

extension Room {
    /// The earlier frames that an agent may receive.
    package enum EarlierSpeechLimit: Sendable, Hashable {
        case all
        /// Those that arrived after the agent was asked for: for an earlier agent of its assistant, others were live.
        case since(Instant)

        package var instant: Instant? { if case .since(let instant) = self { instant } else { nil } }
    }
}

/// Assistants that were asked for and whose agents have not subscribed yet, and the microphones whose speech is kept for them.
struct ExpectedAgents: Sendable {
    /// Nil for the first, with which keeping began.
    private var agents: [(identity: Identity, since: Instant?)] = []
    /// Kept tracks, the one that was published first in front.
    private(set) var tracks: [TrackSID] = []

    var isEmpty: Bool { agents.isEmpty }
    var count: Int { agents.count }
    var identities: [Identity] { agents.map(\.identity) }

    func contains(_ agent: Identity) -> Bool { agents.contains { $0.identity == agent } }

    func limit(for agent: Identity) -> Room.EarlierSpeechLimit? {
        agents.first { $0.identity == agent }.map { $0.since.map { .since($0) } ?? .all }
    }

    mutating func insert(_ agent: Identity, since: Instant?) {
        agents.append((agent, since))
    }

    /// - Returns: whether it was expected.
    mutating func remove(_ agent: Identity) -> Bool {
        guard let index = agents.firstIndex(where: { $0.identity == agent }) else { return false }
        agents.remove(at: index)
        return true
    }

    /// - Returns: the track that is not kept any more, because of the limit: the one that was published first.
    mutating func insert(track: TrackSID) -> TrackSID? {
        let oldest = tracks.count < Limits.earlierTracksPerRoomMax ? nil : tracks.removeFirst()
        tracks.append(track)
        return oldest
    }

    mutating func remove(track: TrackSID) {
        tracks.removeAll { $0 == track }
    }

    mutating func takeTracks() -> [TrackSID] {
        defer { tracks = [] }
        return tracks
    }
}
