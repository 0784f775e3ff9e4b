internal import Engine
package import Wire

/// What kind of world a seed makes. Drawn before anything happens, such that each world has only some of the faults, and some of those
/// hard: what one fault hides another world without it shows (Groce and others, "Swarm Testing", 2012).
package struct Swarm: Sendable {
    package var shardCount = 1
    package var roomCount = 1
    package var peerCount = 2
    /// How long the faults run.
    package var chaos: Duration = .seconds(5)
    /// One way, at least, and how much longer it may take.
    package var latency: Duration = .milliseconds(5)
    package var jitter: Duration = .zero
    package var bytesPerSecond = 10_000_000
    package var sendBuffer = 256 * 1_024
    package var receiveBuffer = 64 * 1_024
    package var storedFramesMax = Limits.storedFramesMax
    package var outboxFramesMax = Limits.outboxFramesMax
    package var trunkBytesMax = 4 << 20
    /// Until a posted message wakes the other thread, at most.
    package var wakeDelay: Duration = .microseconds(100)
    /// How long a shard may be away, and a path be clogged, at most.
    package var pauseMax: Duration = .milliseconds(200)
    package var clogMax: Duration = .seconds(1)
    /// How often two threads run into each other in the middle of what they do.
    package var interleaving = 0.0
    package var frameMilliseconds = 20.0
    package var talkMean: Duration = .seconds(2)
    package var pauseMean: Duration = .milliseconds(800)
    /// 0 is no limit.
    package var maxParticipants = 0
    /// How often who comes again wants its place back.
    package var resuming = 0.0
    // Shares of the peers.
    package var agents = 0.2
    package var hidden = 0.0
    package var admins = 0.1
    package var dumb = 0.0
    package var deaf = 0.0
    package var choosy = 0.0
    /// A second, by `Doing` and by `Trouble`; 0 is never.
    package var doings = [Double](repeating: 0, count: Doing.allCases.count)
    package var troubles = [Double](repeating: 0, count: Trouble.allCases.count)

    package init(drawnFrom chance: inout SplitMix64) {
        shardCount = chance.pick([1, 1, 2, 2, 3, 4]) ?? 1
        roomCount = chance.between(1, 3)
        peerCount = chance.between(2, 10)
        chaos = chance.between(.seconds(2), .seconds(10))
        latency = chance.pick([.milliseconds(1), .milliseconds(5), .milliseconds(20), .milliseconds(80), .milliseconds(250)]) ?? .zero
        if chance.chance(0.5) { jitter = chance.between(.zero, .milliseconds(150)) }
        if chance.chance(0.3) { bytesPerSecond = chance.between(4_000, 40_000) }
        if chance.chance(0.5) { sendBuffer = chance.between(4_096, 100_000) }
        if chance.chance(0.5) { receiveBuffer = chance.between(4_096, 100_000) }
        if chance.chance(0.2) { storedFramesMax = 256 }
        if chance.chance(0.2) { outboxFramesMax = chance.between(2, 50) }
        if chance.chance(0.1) { trunkBytesMax = chance.between(200, 2_000) }
        if chance.chance(0.5) { wakeDelay = chance.between(.microseconds(10), .milliseconds(20)) }
        pauseMax = chance.between(.milliseconds(10), .milliseconds(400))
        clogMax = chance.between(.milliseconds(50), .seconds(4))
        if shardCount > 1, chance.chance(0.7) { interleaving = chance.unit() * 0.5 }
        frameMilliseconds = chance.pick([20, 20, 20, 10, 2.5, 60]) ?? 20
        talkMean = chance.between(.milliseconds(100), .seconds(4))
        pauseMean = chance.between(.milliseconds(20), .seconds(2))
        if chance.chance(0.2) { maxParticipants = chance.between(1, 4) }
        if chance.chance(0.5) { agents = chance.unit() }
        if chance.chance(0.3) { hidden = chance.unit() * 0.5 }
        if chance.chance(0.5) { admins = chance.unit() }
        if chance.chance(0.3) { dumb = chance.unit() * 0.5 }
        if chance.chance(0.3) { deaf = chance.unit() * 0.5 }
        if chance.chance(0.3) { choosy = chance.unit() * 0.7 }
        if chance.chance(0.7) { resuming = chance.pick([0.5, 0.9, 1]) ?? 1 }
        for doing in Doing.allCases where chance.chance(0.5) {
            doings[doing.rawValue] = doing.usualRate * chance.exponential(mean: .seconds(1)).inSeconds
        }
        for trouble in Trouble.allCases where chance.chance(0.4) {
            troubles[trouble.rawValue] = trouble.usualRate * chance.exponential(mean: .seconds(1)).inSeconds
        }
    }

    /// Queues that are full before anything is wrong.
    var hasSmallQueues: Bool { outboxFramesMax < Limits.outboxFramesMax || storedFramesMax < Limits.storedFramesMax }

    /// For how long what a room decided may still be unknown to another shard, whatever happens to their threads.
    package var newsDelayMax: Duration {
        shardCount == 1 ? .zero : wakeDelay * 3 + (troubles[Trouble.pauseShard.rawValue] > 0 ? pauseMax * 3 : .zero) + .milliseconds(5)
    }

    /// How late a shard may come to what is due.
    var turnDelayMax: Duration { troubles[Trouble.pauseShard.rawValue] > 0 ? pauseMax + .milliseconds(5) : .zero }

    /// One line: what is different from a quiet world.
    package var summary: String {
        var parts = [
            "\(shardCount) shards", "\(roomCount) rooms", "\(peerCount) peers", "\(chaos.inMilliseconds) ms",
            "latency \(latency.inMilliseconds)+\(jitter.inMilliseconds) ms", "\(bytesPerSecond) B/s", "frames of \(frameMilliseconds) ms",
        ]
        if interleaving > 0 { parts.append("threads meet \(percent(interleaving))") }
        if storedFramesMax < Limits.storedFramesMax { parts.append("store of \(storedFramesMax)") }
        if outboxFramesMax < Limits.outboxFramesMax { parts.append("outbox of \(outboxFramesMax)") }
        if trunkBytesMax < 4 << 20 { parts.append("trunk of \(trunkBytesMax) B") }
        if maxParticipants > 0 { parts.append("rooms for \(maxParticipants)") }
        if resuming > 0 { parts.append("resume \(percent(resuming))") }
        for doing in Doing.allCases where doings[doing.rawValue] > 0 { parts.append("\(doing) \(perSecond(doings[doing.rawValue]))") }
        for trouble in Trouble.allCases where troubles[trouble.rawValue] > 0 {
            parts.append("\(trouble) \(perSecond(troubles[trouble.rawValue]))")
        }
        return parts.joined(separator: ", ")
    }

    private func percent(_ share: Double) -> String { "\(Int(share * 100))%" }

    private func perSecond(_ rate: Double) -> String { "\(Double(Int(rate * 100)) / 100)/s" }
}

extension Duration {
    var inSeconds: Double { Double(inNanoseconds) / 1e9 }
}
