import ArgumentParser

/// Options for the scenario: a file, and overrides of its settings.
struct ScenarioOptions: ParsableArguments {
    @Argument(help: "A scenario file, as in loadtest/scenarios (default: permanent calls with 20 ms frames in both directions).")
    var file: String?
    @Option(help: "Number of concurrent rooms.")
    var calls: Int?
    @Option(help: "Use one publisher and this many subscribers per room instead of a user and an assistant.")
    var listeners: Int?
    @Option(help: "Measurement time in seconds.")
    var seconds: Double?
    @Option(help: "Seconds between the last join and the measurement.")
    var warmup: Double?
    @Option(help: "New connections per second.")
    var rate: Double?
    @Option(help: "constant: continuous frames. conversation: talkspurts and pauses after ITU-T P.59.")
    var pattern: Scenario.Pattern?
    @Option(help: "Mean call duration in seconds; ended calls are replaced by new ones.")
    var meanCall: Double?
    @Option(help: "Measure until this many calls have ended; requires a mean duration.")
    var totalCalls: Int?
    @Option(help: "Share of user interruptions that stop the assistant, 0 to 1.")
    var bargeIn: Double?
    @Option(help: "Seed of the random numbers; equal seeds produce equal conversations.")
    var seed: UInt64?

    func scenario() throws(UsageError) -> Scenario {
        var scenario = try file.map(ScenarioFile.load) ?? Scenario()
        scenario.calls = calls ?? scenario.calls
        scenario.listenersPerRoom = listeners ?? scenario.listenersPerRoom
        scenario.seconds = seconds ?? scenario.seconds
        scenario.warmupSeconds = warmup ?? scenario.warmupSeconds
        scenario.joinsPerSecond = rate ?? scenario.joinsPerSecond
        scenario.pattern = pattern ?? scenario.pattern
        scenario.meanCallSeconds = meanCall ?? scenario.meanCallSeconds
        scenario.totalCalls = totalCalls ?? scenario.totalCalls
        scenario.bargeInShare = bargeIn ?? scenario.bargeInShare
        scenario.seed = seed ?? scenario.seed
        if let problem = scenario.problem { throw UsageError(file.map { "\($0): \(problem)" } ?? problem) }
        return scenario
    }
}

extension Scenario.Pattern: ExpressibleByArgument {}
