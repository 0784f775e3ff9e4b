private import Simulation

/// Runs one world and prints its description and result.
func show(_ seed: UInt64, _ options: Options) -> Bool {
    let world = options.world(seed)
    printLine("seed \(seed): \(world.selection)")
    if options.isTraced { world.trace = { printLine($0) } }
    guard let failure = world.run() else {
        printLine("seed \(seed) passed: \(world.summary)")
        return true
    }
    printLine(
        "seed \(seed) FAILED after \(milliseconds(failure.time)) ms: \(failure.text); reproduce with: \(options.reproduction(of: seed))")
    return false
}

/// Runs worlds for the coordinator. Prints a line before and after each, so that a crash can be attributed to a seed.
func work(_ options: Options) -> Bool {
    for index in 0..<options.seeds {
        let seed = options.first &+ UInt64(index) &* options.step
        printLine("begin \(seed)")
        if let failure = options.world(seed).run() {
            printLine("fail \(seed) after \(milliseconds(failure.time)) ms: \(failure.text)")
            return false
        }
        printLine("done \(seed)")
    }
    return true
}

private func milliseconds(_ span: Duration) -> Int64 {
    span.components.seconds * 1_000 + span.components.attoseconds / 1_000_000_000_000_000
}
