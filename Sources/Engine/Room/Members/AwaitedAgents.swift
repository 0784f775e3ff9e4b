internal import Wire

/// Assistants that a room was asked for: those that cannot come yet, and those whose agents have not subscribed yet, with the microphones
/// whose speech is kept for them.
struct AwaitedAgents: Sendable {
    /// Those that cannot come yet, in the order of their first report.
    private(set) var delays: [(agent: Identity, reason: AgentWaitReason)] = []
    /// Those whose agents have not subscribed yet. The time is nil for the first, with which keeping began.
    private var expected: [(identity: Identity, since: Instant?)] = []
    /// Kept tracks, the one that was published first in front.
    private(set) var tracks: [TrackSID] = []

    // MARK: Delays

    /// Records why an assistant cannot come yet, or that it does not come any more.
    ///
    /// - Returns: whether this is a change.
    @discardableResult
    mutating func record(_ reason: AgentWaitReason, of agent: Identity) -> Bool {
        let known = delays.firstIndex { $0.agent == agent }
        guard known.map({ delays[$0].reason }) != reason else { return false }
        switch (reason, known) {
        case (.ended, nil): return false
        case (.ended, let index?): delays.remove(at: index)
        case (_, let index?): delays[index].reason = reason
        case (_, nil):
            guard delays.count < Limits.jobsPerRoomMax else { return false }
            delays.append((agent, reason))
        }
        return true
    }

    /// The agent has joined.
    mutating func removeDelay(of agent: Identity) {
        delays.removeAll { $0.agent == agent }
    }

    // MARK: Earlier speech

    /// Whether speech is kept.
    var keepsSpeech: Bool { !expected.isEmpty }
    var expectedCount: Int { expected.count }
    var expectedIdentities: [Identity] { expected.map(\.identity) }

    func isExpected(_ agent: Identity) -> Bool { expected.contains { $0.identity == agent } }

    func limit(for agent: Identity) -> Room.EarlierSpeechLimit? {
        expected.first { $0.identity == agent }.map { $0.since.map { .since($0) } ?? .all }
    }

    mutating func expect(_ agent: Identity, since: Instant?) {
        expected.append((agent, since))
    }

    /// - Returns: whether it was expected.
    mutating func endWait(for agent: Identity) -> Bool {
        guard let index = expected.firstIndex(where: { $0.identity == agent }) else { return false }
        expected.remove(at: index)
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
