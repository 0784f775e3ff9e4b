internal import Engine
package import Wire

/// Configuration of a world, drawn from its seed. Each world enables only some features and faults, at random rates, so that frequent
/// faults do not mask rare ones (Groce et al., "Swarm Testing", 2012).
package struct Swarm: Sendable {
    package var shardCount = 1
    package var roomCount = 1
    package var peerCount = 2
    /// Duration of fault injection.
    package var chaos: Duration = .seconds(5)
    /// Minimum one-way latency, and the maximum added to it.
    package var latency: Duration = .milliseconds(5)
    package var jitter: Duration = .zero
    package var bytesPerSecond = 10_000_000
    package var sendBuffer = 256 * 1_024
    package var receiveBuffer = 64 * 1_024
    package var storedFramesMax = Limits.storedFramesMax
    package var outboxFramesMax = Limits.outboxFramesMax
    package var trunkBytesMax = 4 << 20
    /// Maximum delay until a posted message wakes the other thread.
    package var wakeDelay: Duration = .microseconds(100)
    /// Maximum duration of a shard pause, and of a clogged path.
    package var pauseMax: Duration = .milliseconds(200)
    package var clogMax: Duration = .seconds(1)
    /// Probability that another thread runs at an interleaving point.
    package var interleaving = 0.0
    package var frameMilliseconds = 20.0
    package var talkMean: Duration = .seconds(2)
    package var pauseMean: Duration = .milliseconds(800)
    /// 0 means no limit.
    package var maxParticipants = 0
    /// Probability that a reconnecting peer tries to resume.
    package var resuming = 0.0
    // Fractions of the peers.
    package var agents = 0.2
    package var hidden = 0.0
    package var admins = 0.1
    package var nonPublishers = 0.0
    package var nonSubscribers = 0.0
    package var manualSubscribers = 0.0
    /// Rates per second, indexed by `Doing` and `Trouble`; 0 disables one.
    package var actions = [Double](repeating: 0, count: PeerAction.allCases.count)
    package var faults = [Double](repeating: 0, count: Fault.allCases.count)
    /// Rate per second at which rooms expect an agent, or do not any more: earlier speech is kept for it.
    package var expectations = 0.0
    /// Rate per second at which administrators change profiles, end subscriptions and call procedures.
    package var administration = 0.0

    package init(drawnFrom random: inout SplitMix64) {
        shardCount = random.pick([1, 1, 2, 2, 3, 4]) ?? 1
        roomCount = random.between(1, 3)
        peerCount = random.between(2, 10)
        chaos = random.between(.seconds(2), .seconds(10))
        latency = random.pick([.milliseconds(1), .milliseconds(5), .milliseconds(20), .milliseconds(80), .milliseconds(250)]) ?? .zero
        if random.chance(0.5) { jitter = random.between(.zero, .milliseconds(150)) }
        if random.chance(0.3) { bytesPerSecond = random.between(4_000, 40_000) }
        if random.chance(0.5) { sendBuffer = random.between(4_096, 100_000) }
        if random.chance(0.5) { receiveBuffer = random.between(4_096, 100_000) }
        if random.chance(0.2) { storedFramesMax = 256 }
        if random.chance(0.2) { outboxFramesMax = random.between(2, 50) }
        if random.chance(0.1) { trunkBytesMax = random.between(200, 2_000) }
        if random.chance(0.5) { wakeDelay = random.between(.microseconds(10), .milliseconds(20)) }
        pauseMax = random.between(.milliseconds(10), .milliseconds(400))
        clogMax = random.between(.milliseconds(50), .seconds(4))
        if shardCount > 1, random.chance(0.7) { interleaving = random.unit() * 0.5 }
        frameMilliseconds = random.pick([20, 20, 20, 10, 2.5, 60]) ?? 20
        talkMean = random.between(.milliseconds(100), .seconds(4))
        pauseMean = random.between(.milliseconds(20), .seconds(2))
        if random.chance(0.2) { maxParticipants = random.between(1, 4) }
        if random.chance(0.5) { agents = random.unit() }
        if random.chance(0.3) { hidden = random.unit() * 0.5 }
        if random.chance(0.5) { admins = random.unit() }
        if random.chance(0.3) { nonPublishers = random.unit() * 0.5 }
        if random.chance(0.3) { nonSubscribers = random.unit() * 0.5 }
        if random.chance(0.3) { manualSubscribers = random.unit() * 0.7 }
        if random.chance(0.7) { resuming = random.pick([0.5, 0.9, 1]) ?? 1 }
        for action in PeerAction.allCases where random.chance(0.5) {
            actions[action.rawValue] = action.meanRate * random.exponential(mean: .seconds(1)).inSeconds
        }
        for fault in Fault.allCases where random.chance(0.4) {
            faults[fault.rawValue] = fault.meanRate * random.exponential(mean: .seconds(1)).inSeconds
        }
        // Drawn apart, so that the other draws of a seed stay the same.
        var apart = random
        if apart.chance(0.4) { expectations = apart.exponential(mean: .seconds(4)).inSeconds }
        if apart.chance(0.4) { administration = apart.exponential(mean: .seconds(4)).inSeconds }
    }

    /// Whether queues are so small that they overflow without faults.
    var hasSmallQueues: Bool { outboxFramesMax < Limits.outboxFramesMax || storedFramesMax < Limits.storedFramesMax }

    /// Maximum time until a room's decision takes effect on another shard.
    package var propagationDelayMax: Duration {
        shardCount == 1 ? .zero : wakeDelay * 3 + (faults[Fault.pauseShard.rawValue] > 0 ? pauseMax * 3 : .zero) + .milliseconds(5)
    }

    /// Maximum lateness of a shard's timers.
    var turnDelayMax: Duration { faults[Fault.pauseShard.rawValue] > 0 ? pauseMax + .milliseconds(5) : .zero }

    /// One-line description.
    package var summary: String {
        var parts = [
            "\(shardCount) shards", "\(roomCount) rooms", "\(peerCount) peers", "\(chaos.inMilliseconds) ms",
            "latency \(latency.inMilliseconds)+\(jitter.inMilliseconds) ms", "\(bytesPerSecond) B/s", "frames of \(frameMilliseconds) ms",
        ]
        if interleaving > 0 { parts.append("interleaving \(percent(interleaving))") }
        if storedFramesMax < Limits.storedFramesMax { parts.append("frame store \(storedFramesMax)") }
        if outboxFramesMax < Limits.outboxFramesMax { parts.append("outbox \(outboxFramesMax)") }
        if trunkBytesMax < 4 << 20 { parts.append("trunk \(trunkBytesMax) B") }
        if maxParticipants > 0 { parts.append("participants per room \(maxParticipants)") }
        if resuming > 0 { parts.append("resume \(percent(resuming))") }
        if expectations > 0 { parts.append("expected agents \(perSecond(expectations))") }
        if administration > 0 { parts.append("administration \(perSecond(administration))") }
        for action in PeerAction.allCases where actions[action.rawValue] > 0 {
            parts.append("\(action) \(perSecond(actions[action.rawValue]))")
        }
        for fault in Fault.allCases where faults[fault.rawValue] > 0 {
            parts.append("\(fault) \(perSecond(faults[fault.rawValue]))")
        }
        return parts.joined(separator: ", ")
    }

    private func percent(_ share: Double) -> String { "\(Int(share * 100))%" }

    private func perSecond(_ rate: Double) -> String { "\(Double(Int(rate * 100)) / 100)/s" }
}

extension Duration {
    var inSeconds: Double { Double(inNanoseconds) / 1e9 }
}
