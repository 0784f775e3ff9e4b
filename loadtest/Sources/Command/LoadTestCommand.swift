import ArgumentParser
import Foundation

/// The program `patchbay-loadtest`.
struct LoadTestCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "patchbay-loadtest",
        abstract: "Simulates calls on a Patchbay gateway and reports loss and latency.",
        discussion: """
            EXAMPLES
              patchbay-loadtest --dev --calls 200 --seconds 10
              patchbay-loadtest --dev loadtest/scenarios/churn.yaml --html churn.html
              patchbay-loadtest --dev --find-capacity --server-pid PID
              patchbay-loadtest --url wss://gw.example.com --calls 50 --max-p99-ms 20

            EXIT CODES
              0 success
              1 frames were lost, joins failed, or a bound was exceeded
              2 usage error
            """)

    @OptionGroup var scenario: ScenarioOptions
    @OptionGroup(title: "Gateway") var gateway: GatewayOptions
    @OptionGroup(title: "Measurement and output") var output: OutputOptions

    func run() throws {
        let requested = try scenario.scenario()
        try output.check(requested)
        let target = try gateway.target()
        let speech = try SpeechPackets.load(output.speech, bitsPerSecond: requested.bitsPerSecond)
        OpenFiles.raiseLimit(for: requested)
        Interruption.watch()
        let progress = ProgressLine(isForced: output.progress)
        let rooms = try gateway.feed(for: requested, isSearching: output.findCapacity)
        func measure(_ scenario: Scenario) throws -> RunReport {
            try Swarm(scenario, target: target, speech: speech, serverPid: output.serverPid, progress: progress, rooms: rooms).run()
        }
        if output.findCapacity {
            try output.finish(try CapacityRun(first: requested, measure: measure, isJSON: output.json).run())
        } else {
            try output.finish(measure(requested))
        }
    }
}

@main
enum Main {
    static func main() {
        do {
            var command = try LoadTestCommand.parseAsRoot()
            try command.run()
        } catch let error as UsageError {
            printError("patchbay-loadtest: \(error)")
            exit(2)
        } catch let code as ExitCode {
            exit(code.rawValue)
        } catch {
            let code = LoadTestCommand.exitCode(for: error)
            if code == .success { print(LoadTestCommand.fullMessage(for: error)) }
            if code == .validationFailure { printError("patchbay-loadtest: \(LoadTestCommand.message(for: error))") }
            if code == .failure { printError("patchbay-loadtest: \(error)") }
            exit(code == .success ? 0 : code == .validationFailure ? 2 : 1)
        }
    }

    private static func printError(_ line: String) {
        FileHandle.standardError.write(Data((line + "\n").utf8))
    }
}

/// An error that the caller has to correct: one line, exit code 2.
struct UsageError: Error, Hashable, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// The limit of open files, whose default of 1,024 is too low for many connections.
enum OpenFiles {
    /// Raises the soft limit, at most to the hard limit.
    static func raiseLimit(for scenario: Scenario) {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        let wanted = rlim_t(scenario.calls * scenario.membersPerCall * 2 + 1_000)
        limit.rlim_cur = min(limit.rlim_max, max(limit.rlim_cur, min(wanted, 65_536)))
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
}
