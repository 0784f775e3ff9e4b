package import Wire

/// The state of a room that survives its node: another node continues the room from its latest image.
///
/// An image may be older than the last events that clients have received. Except for `takenAt`, it holds no points in time, which mean
/// nothing on another node, but ages in milliseconds.
package struct RoomImage: Sendable, Hashable, Decodable {
    /// The version of the format. Adding a field does not change it, because unknown fields are ignored.
    package static let version = 1

    var version = Self.version
    package var room: RoomInfo
    var settings: Settings
    var counters: Counters
    /// In join order.
    package var members: [Member]
    /// In the order in which they were published.
    var tracks: [Track]
    var speakers: [Speaker]
    var agents: Agents
    var transcript: [Segment]
    /// The recording in progress.
    package var recording: RecordingID?
    /// When the image was taken, by the wall clock, in milliseconds since 1970. Added by the shell; nil from earlier versions.
    package var takenAt: Int64?

    /// The settings of the room that are not those of its gateway.
    struct Settings: Sendable, Hashable, Decodable {
        var emptyTimeoutMs: Int64
        var departureTimeoutMs: Int64
        /// Assistants to dispatch when the room opens.
        var agents: [AgentRequest]
        /// Whether a user has been present.
        var wasUsed: Bool
        /// The gateway was shutting down. That does not concern the next one.
        var isDraining: Bool
    }

    /// Numbers that continue.
    struct Counters: Sendable, Hashable, Decodable {
        var alias: UInt16
        var subscription: UInt32
    }

    /// Assistants that were requested.
    struct Agents: Sendable, Hashable, Decodable {
        struct Wait: Sendable, Hashable, Decodable {
            var agent: Identity
            var reason: AgentWaitReason
        }

        var waiting: [Wait]
        var expected: [Identity]
    }
}

extension RoomImage {
    package var isDraining: Bool { settings.isDraining }
    package var agentRequests: [AgentRequest] { settings.agents }

    /// JSON.
    package var bytes: [UInt8] { JSON.text(self, capacity: Self.usualBytes) }

    /// The typical size of an image, for a call with a few minutes of transcript.
    private static let usualBytes = 16 << 10

    /// - Returns: nil for bytes that are no image, or an image of another version.
    package init?(_ bytes: [UInt8]) {
        guard let image = try? JSON.decode(Self.self, from: bytes, names: .snakeCase), image.version == Self.version, image.isConsistent
        else { return nil }
        self = image
    }

    /// Whether a room can be restored without breaking an invariant.
    private var isConsistent: Bool {
        let identities = Set(members.map(\.stay.identity))
        let (aliases, sids) = (Set(tracks.map(\.info.alias)), Set(tracks.map(\.info.sid)))
        guard identities.count == members.count, aliases.count == tracks.count, sids.count == tracks.count else { return false }
        return members.allSatisfy(\.isValid) && tracks.allSatisfy { $0.isValid && identities.contains($0.info.participant) }
            && transcript.count <= Limits.segmentsKeptMax && agents.isValid && settings.isValid
    }
}

extension RoomImage.Settings {
    private static let timeoutMax: Int64 = 1 << 40

    fileprivate var isValid: Bool {
        0...Self.timeoutMax ~= emptyTimeoutMs && 0...Self.timeoutMax ~= departureTimeoutMs && agents.count <= Limits.jobsPerRoomMax
    }
}

extension RoomImage.Agents {
    fileprivate var isValid: Bool {
        waiting.count <= Limits.jobsPerRoomMax && expected.count <= Limits.jobsPerRoomMax && Set(expected).count == expected.count
    }
}

extension Duration {
    /// Whole milliseconds of an age.
    var age: UInt32 { UInt32(clamping: inMilliseconds) }

    static func age(_ milliseconds: UInt32) -> Duration { .milliseconds(Int64(milliseconds)) }
}

extension Instant {
    /// The instant of that age now.
    func before(_ age: UInt32) -> Instant { self + (.zero - .age(age)) }
}
