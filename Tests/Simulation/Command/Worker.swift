private import Simulation

/// Runs one world and tells all about it.
func show(_ seed: UInt64, isTraced: Bool) -> Bool {
    let world = World(seed: seed)
    say("seed \(seed): \(world.swarm.summary)")
    if isTraced { world.trace = { say($0) } }
    guard let failure = world.run() else {
        say("seed \(seed) passed: \(world.summary)")
        return true
    }
    say("seed \(seed) FAILED after \(milliseconds(failure.time)) ms: \(failure.text); again with: make simulate SEEDS=1 FROM=\(seed)")
    return false
}

/// Runs worlds for the overseer, a line before each and one after each: a world that brings the process down is known by its first.
func work(_ options: Options) -> Bool {
    for index in 0..<options.seeds {
        let seed = options.first &+ UInt64(index) &* options.step
        say("begin \(seed)")
        if let failure = World(seed: seed).run() {
            say("fail \(seed) after \(milliseconds(failure.time)) ms: \(failure.text)")
            return false
        }
        say("done \(seed)")
    }
    return true
}

private func milliseconds(_ span: Duration) -> Int64 {
    span.components.seconds * 1_000 + span.components.attoseconds / 1_000_000_000_000_000
}
