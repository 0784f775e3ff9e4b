import ArgumentParser

/// The scenario: a file, and what is changed in it.
struct ScenarioOptions: ParsableArguments {
    @Argument(help: "A scenario, as in loadtest/scenarios. Without one: calls that stay, 20 ms frames both ways.")
    var file: String?
    @Option(help: "Rooms at once.")
    var calls: Int?
    @Option(help: "One speaker and so many listeners in each room, instead of a user and an assistant.")
    var listeners: Int?
    @Option(help: "How long to measure.")
    var seconds: Double?
    @Option(help: "Seconds between the last join and measuring.")
    var warmup: Double?
    @Option(help: "Connections that begin a second.")
    var rate: Double?
    @Option(help: "constant: frames all the time. conversation: talkspurts and pauses of ITU-T P.59.")
    var pattern: Scenario.Pattern?
    @Option(help: "Mean length of a call in seconds, after which another takes its place.")
    var meanCall: Double?
    @Option(help: "Measure until so many calls have ended; needs a mean length.")
    var totalCalls: Int?
    @Option(help: "Share of the user's interruptions that make the assistant stop, 0 to 1.")
    var bargeIn: Double?
    @Option(help: "Where chance begins: the same seed, the same conversations.")
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
