/// The simulated calls of a run: the content of a scenario file, overridden by command-line options. Every field has a default.
struct Scenario: Hashable, Sendable, Codable {
    enum Pattern: String, CaseIterable, Sendable, Codable {
        /// A frame every 20 ms in both directions.
        case constant
        /// Talkspurts and pauses of ITU-T P.59 (`Conversation`); no frames in pauses.
        case conversation
        /// Connections that send no frames.
        case silent
    }

    struct SlowListeners: Hashable, Sendable, Codable {
        /// Share of all subscribers, 0…1.
        var share: Double
        /// Duration of a pause, and the period from one pause to the next.
        var stopSeconds = 3.0
        var everySeconds = 10.0
    }

    struct ReconnectStorm: Hashable, Sendable, Codable {
        /// Share of all calls that lose their connections, 0…1.
        var share: Double
        var everySeconds = 10.0
        /// Reconnections are spread evenly over this time.
        var withinSeconds = 1.0
    }

    var name = "calls"
    /// Number of concurrent rooms.
    var calls = 50
    /// Nil: a room has a user and an assistant, and both publish. Otherwise: one publisher and this many subscribers.
    var listenersPerRoom: Int?
    /// Measurement time, after all have joined and the warm-up is over.
    var seconds = 20.0
    var warmupSeconds = 2.0
    /// New connections per second.
    var joinsPerSecond = 200.0
    var pattern = Pattern.constant
    /// Churn: mean of the exponentially distributed call duration; ended calls are replaced. Nil: calls do not end.
    var meanCallSeconds: Double?
    /// Measure until this many calls have ended instead of for `seconds`. Only with churn.
    var totalCalls: Int?
    /// Share of user interruptions that stop the assistant, 0…1. Only with `conversation`.
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

    /// One sentence about the first invalid setting; nil if all are valid.
    var problem: String? {
        if !(1...20_000).contains(calls) { return "calls must be 1 to 20000, not \(calls)" }
        if let listenersPerRoom, !(1...5_000).contains(listenersPerRoom) { return "listeners_per_room must be 1 to 5000" }
        if !(seconds > 0 && seconds <= 86_400) { return "seconds must be above 0, and at most a day" }
        if warmupSeconds < 0 { return "warmup_seconds must not be negative" }
        if joinsPerSecond <= 0 { return "joins_per_second must be above 0" }
        if let meanCallSeconds, meanCallSeconds <= 0 { return "mean_call_seconds must be above 0" }
        if totalCalls != nil, meanCallSeconds == nil { return "total_calls requires mean_call_seconds, because permanent calls never end" }
        if !(0...1).contains(bargeInShare) { return "barge_in_share must be 0 to 1" }
        if bargeInShare > 0, pattern == .constant { return "barge_in_share requires the pattern conversation" }
        if let slow = slowListeners, !(0...1).contains(slow.share) || slow.stopSeconds <= 0 || slow.everySeconds <= slow.stopSeconds {
            return "slow_listeners: share must be 0 to 1, stop_seconds above 0, and every_seconds above stop_seconds"
        }
        if let storm = reconnectStorm, !(0...1).contains(storm.share) || storm.everySeconds <= 0 || storm.withinSeconds < 0 {
            return "reconnect_storm: share must be 0 to 1, every_seconds above 0, and within_seconds not negative"
        }
        return nil
    }
}
