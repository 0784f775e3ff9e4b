/// The first failed check of a world.
package struct Failure: Sendable {
    package let text: String
    /// Time since the start of the world.
    package let time: Duration
}

/// A world of one seed, as the command runs it.
package protocol SimulatedWorld: AnyObject {
    init(seed: UInt64)
    /// Runs the world to its end or to the first failed check.
    func run() -> Failure?
    /// What the seed has selected, on one line.
    var selection: String { get }
    /// One-line statistics of a world that passed.
    var summary: String { get }
    /// Receives the trace.
    var trace: ((String) -> Void)? { get set }
}
