/// What a run does: a scenario file's content, with the command line's changes. Every field has a default.
struct Scenario: Hashable, Sendable, Codable {
    enum Pattern: String, CaseIterable, Sendable, Codable {
        /// A frame every 20 ms, both ways, all the time.
        case constant
        /// Talkspurts and pauses of ITU-T P.59 (`Conversation`); in pauses no frames.
        case conversation
        /// Nobody says a word: connections that are only there.
        case silent
    }

    struct SlowListeners: Hashable, Sendable, Codable {
        /// How many of all listeners, 0…1.
        var share: Double
        /// For how long one stops reading, and how long after its last stop it does so again.
        var stopSeconds = 3.0
        var everySeconds = 10.0
    }

    struct ReconnectStorm: Hashable, Sendable, Codable {
        /// How many of all calls lose their connections, 0…1.
        var share: Double
        var everySeconds = 10.0
        /// Those who lost it come back within this time, spread evenly.
        var withinSeconds = 1.0
    }

    var name = "calls"
    /// Rooms at once.
    var calls = 50
    /// Nil: a room is a user and an assistant, who both speak. Else one speaks and so many listen.
    var listenersPerRoom: Int?
    /// How long is measured, after everybody is there and the warm-up is over.
    var seconds = 20.0
    var warmupSeconds = 2.0
    /// Connections that begin a second.
    var joinsPerSecond = 200.0
    var pattern = Pattern.constant
    /// Churn: calls end after an exponential time with this mean, and new ones take their place. Nil: they stay.
    var meanCallSeconds: Double?
    /// Measure until so many calls have ended instead of for `seconds`. Only with churn.
    var totalCalls: Int?
    /// How many of the user's interruptions make the assistant stop, 0…1. Only with `conversation`.
    var bargeInShare = 0.0
    var slowListeners: SlowListeners?
    var reconnectStorm: ReconnectStorm?
    var bitsPerSecond = 24_000
    var seed: UInt64 = 1

    enum CodingKeys: String, CodingKey, CaseIterable {
        case name, calls, seconds, pattern, seed
        case listenersPerRoom = "listeners_per_room"
        case warmupSeconds = "warmup_seconds"
        case joinsPerSecond = "joins_per_second"
        case meanCallSeconds = "mean_call_seconds"
        case totalCalls = "total_calls"
        case bargeInShare = "barge_in_share"
        case slowListeners = "slow_listeners"
        case reconnectStorm = "reconnect_storm"
        case bitsPerSecond = "bits_per_second"
    }

    var membersPerCall: Int { listenersPerRoom.map { $0 + 1 } ?? 2 }
    var publishersPerCall: Int { listenersPerRoom == nil ? 2 : 1 }

    /// What does not make sense, in one sentence; nil if all does.
    var problem: String? {
        if !(1...20_000).contains(calls) { return "calls must be 1 to 20000, not \(calls)" }
        if let listenersPerRoom, !(1...5_000).contains(listenersPerRoom) { return "listeners_per_room must be 1 to 5000" }
        if !(seconds > 0 && seconds <= 86_400) { return "seconds must be above 0, and at most a day" }
        if warmupSeconds < 0 { return "warmup_seconds must not be negative" }
        if joinsPerSecond <= 0 { return "joins_per_second must be above 0" }
        if let meanCallSeconds, meanCallSeconds <= 0 { return "mean_call_seconds must be above 0" }
        if totalCalls != nil, meanCallSeconds == nil { return "total_calls needs mean_call_seconds: calls that stay never end" }
        if !(0...1).contains(bargeInShare) { return "barge_in_share must be 0 to 1" }
        if bargeInShare > 0, pattern == .constant { return "barge_in_share needs the pattern conversation" }
        if let slow = slowListeners, !(0...1).contains(slow.share) || slow.stopSeconds <= 0 || slow.everySeconds <= slow.stopSeconds {
            return "slow_listeners: share must be 0 to 1, and every_seconds above stop_seconds"
        }
        if let storm = reconnectStorm, !(0...1).contains(storm.share) || storm.everySeconds <= 0 || storm.withinSeconds < 0 {
            return "reconnect_storm: share must be 0 to 1, the times above 0"
        }
        return nil
    }
}
