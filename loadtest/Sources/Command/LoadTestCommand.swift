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
    @OptionGroup(title: "The gateway") var gateway: GatewayOptions
    @OptionGroup(title: "What to do and tell") var output: OutputOptions

    func run() throws {
        let wanted = try scenario.scenario()
        try output.check(wanted)
        let gate = try gateway.gate()
        let speech = try SpeechPackets.load(output.speech, bitsPerSecond: wanted.bitsPerSecond)
        OpenFiles.raise(for: wanted)
        Interruption.watch()
        let progress = ProgressLine(isWanted: output.progress)
        func measure(_ scenario: Scenario) throws -> RunReport {
            try Swarm(scenario, gate: gate, speech: speech, serverPid: output.serverPid, progress: progress).run()
        }
        if output.findCapacity {
            try output.finish(try CapacityRun(first: wanted, measure: measure, isJSON: output.json).run())
        } else {
            try output.finish(measure(wanted))
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
            complain("patchbay-loadtest: \(error)")
            exit(2)
        } catch let code as ExitCode {
            exit(code.rawValue)
        } catch {
            let code = LoadTestCommand.exitCode(for: error)
            if code == .success { print(LoadTestCommand.fullMessage(for: error)) }
            if code == .validationFailure { complain("patchbay-loadtest: \(LoadTestCommand.message(for: error))") }
            if code == .failure { complain("patchbay-loadtest: \(error)") }
            exit(code == .success ? 0 : code == .validationFailure ? 2 : 1)
        }
    }

    private static func complain(_ line: String) {
        FileHandle.standardError.write(Data((line + "\n").utf8))
    }
}
