import ArgumentParser
import Audio
import Backend
import Foundation
import PatchbayAgents
import PatchbayClient
import Wire
import YAMLSettings

struct AgentEvaluateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "evaluate",
        abstract: "Test an assistant with scripted callers: answers, response times, interruptions.",
        discussion: """
            Plays the callers of a YAML file to an assistant, in real time, and reports for each scenario: answers, cut-ins, word errors,
            response times from sound to sound, talk-over, stop times after interruptions, unheard words and false stops.
            docs/EVALUATE.md describes the file; without one, the scenarios of the installation are played.

            Starts a gateway and an embedded assistant of its own. With --url or --profile, it calls an assistant of a running gateway:
            one of any framework that the gateway dispatches to a new room for each scenario, or with --room one that waits in that room.

            EXAMPLES
              patchbay agent evaluate
              patchbay agent evaluate scenarios.yaml --html report.html --record calls
              patchbay agent evaluate --only "two questions" --repeat 5 --json
              patchbay agent evaluate --config patchbay.yaml --assistant helper
              patchbay agent evaluate scenarios.yaml --dev --url wss://127.0.0.1:7880
              patchbay agent evaluate scenarios.yaml --profile staging

            EXIT CODES
              0 all expectations and thresholds hold
              1 some do not, or no call was possible
              2 wrong usage or a wrong file
            """)

    @Argument(help: "The YAML file of scenarios.")
    var scenarios: String?
    @Option(help: "The assistant's id.")
    var assistant = "default"
    @Option(help: "A configuration file of a gateway, whose assistants the gateway of this command has.")
    var config: String?
    @Option(
        name: .customLong("secret"),
        help: ArgumentHelp("A secret that the assistant's providers may use, as of `agent start`. Repeatable.", valueName: "NAME[=FILE]"))
    var secrets: [String] = []
    @Option(help: "A running gateway's URL.")
    var url: String?
    @Option(help: "With --url or --profile: the room in which the assistant waits.")
    var room: String?
    @OptionGroup var trust: TrustOptions
    @OptionGroup var key: APIKeyOptions

    @Option(help: "Only the scenario of this name. Repeatable.")
    var only: [String] = []
    @Option(name: .customLong("repeat"), help: "Calls for each scenario, 1 to 100.")
    var calls = 1
    @Flag(help: "Print the result as JSON.")
    var json = false
    @Option(help: "Write a page with waveforms and transcripts to this file.")
    var html: String?
    @Option(help: "Record each call to a WAV file in this folder; left: caller, right: assistant.")
    var record: String?

    /// Whether an assistant of a running gateway is called. A default profile alone does not choose one.
    private var callsGateway: Bool { url != nil || key.profile != nil }

    func validate() throws {
        guard 1...100 ~= calls else { throw ValidationError("--repeat \(calls): pass 1 to 100") }
        if !callsGateway, room != nil {
            throw ValidationError("--room: this is a room of a running gateway; pass its --url or --profile, too")
        }
        if callsGateway, config != nil || !secrets.isEmpty {
            let option = url == nil ? "--profile" : "--url"
            throw ValidationError("--config, --secret: with \(option) the running assistant has its own; omit them")
        }
    }

    func run() async throws {
        LogSettings.startWithErrorsOnly()
        let file = try ScenarioFile(path: scenarios ?? DemoRecordings().path(of: "scenarios.yaml"))
        let selected = try selection(of: file.scenarios)
        let definition = try definition()
        let secrets = try SecretOptions.read(secrets)
        try prepareOutput()
        let running = callsGateway ? try runningTarget() : nil
        let engines = running == nil || selected.contains(where: \.needsSynthesis) ? try await loadEngines(secrets) : nil
        var prepared: [(scenario: Scenario, sounds: [Int: CallerSound])] = []
        for scenario in selected { prepared.append((scenario, try await CallerVoices(engines: engines).sounds(of: scenario))) }
        let evaluated: [EvaluatedCall]
        if let running {
            evaluated = try await evaluate(prepared, running)
        } else if let engines {
            evaluated = try await DemoGateway.run(assistants: [definition]) { [prepared] gateway in
                let worker = gateway.worker(of: definition.id, speakingWith: engines)
                async let working: Void = worker.run()
                if await !worker.registered() { try await working }
                let evaluated = try await evaluate(prepared, .embedded(definition, in: gateway))
                await worker.drain()
                try await working
                return evaluated
            }
        } else {
            evaluated = []
        }
        try report(EvaluationReport(selected, evaluated.map(\.result), thresholds: file.thresholds), evaluated)
    }

    private func evaluate(
        _ prepared: [(scenario: Scenario, sounds: [Int: CallerSound])], _ target: EvaluationTarget
    ) async throws -> [EvaluatedCall] {
        var evaluated: [EvaluatedCall] = []
        for (index, (scenario, sounds)) in prepared.enumerated() {
            for run in 1...calls {
                let call = try await EvaluationCall(scenario, sounds: sounds, in: target.join()).run(run)
                let figures = EvaluationFigures(of: [call.result])
                let median = figures.responseMs.map { ", \($0.median) ms to the answer" } ?? ""
                let number = calls > 1 ? ", call \(run) of \(calls)" : ""
                say(
                    "\(index + 1) of \(prepared.count), \(scenario.name)\(number): \(figures.answered) of \(figures.asked) answered\(median)"
                )
                for failure in call.result.failures { say("  \(failure)") }
                evaluated.append(call)
            }
        }
        return evaluated
    }

    // MARK: Input

    private func selection(of scenarios: [Scenario]) throws -> [Scenario] {
        let names = scenarios.map(\.name)
        for name in only where !names.contains(name) {
            let hint =
                Suggestion.nearest(to: name, among: names).map { "did you mean \"\($0)\"?" }
                ?? "use one of \(names.joined(separator: ", "))"
            throw UsageError("--only: there is no scenario \"\(name)\"; \(hint)")
        }
        return only.isEmpty ? scenarios : scenarios.filter { only.contains($0.name) }
    }

    /// The embedded assistant. The built-in one greets with a word, because the greeting is not evaluated.
    private func definition() throws -> AssistantDefinition {
        guard let config else {
            guard callsGateway || assistant == AssistantDefinition.builtIn.id else {
                throw UsageError(
                    "--assistant \(assistant): pass --config with the file that defines it, or the --url or --profile of its gateway")
            }
            var definition = AssistantDefinition.builtIn
            definition.greetings = ["Hello."]
            return definition
        }
        let definitions = try ConfigurationFile(path: config).assistants()
        guard let definition = definitions.first(where: { $0.id == assistant }) else {
            throw UsageError(
                "--assistant \(assistant): \(config) defines \(definitions.map(\.id).joined(separator: ", ")); choose one of them")
        }
        return definition
    }

    private func runningTarget() throws -> EvaluationTarget {
        let access = try trust.access(to: url, with: key)
        return .running(at: access.url, trust: try access.trust(), key: try access.signer(), assistant: assistant, room: room)
    }

    private func loadEngines(_ secrets: ProviderSecrets) async throws -> EmbeddedEngines {
        if let problem = ModelsFolder.standard.problem {
            throw CommandFailure(
                !callsGateway
                    ? "the embedded assistant cannot speak: \(problem)"
                    : "the lines with `say` cannot be spoken: \(problem); or use recordings (`play`)")
        }
        say("Loading the speech models.")
        return try await EmbeddedEngines.load(secrets: secrets)
    }

    // MARK: Output

    private func say(_ line: String) {
        if !json { Console.say(line) }
    }

    /// Creates the folders before the calls, so that nothing is lost after them.
    private func prepareOutput() throws {
        let folders = [("--html", html.map { URL(filePath: $0).deletingLastPathComponent().path }), ("--record", record)]
        for case (let option, let folder?) in folders {
            do {
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            } catch {
                throw UsageError("\(option): cannot create the folder \(folder); choose another one")
            }
        }
    }

    private func report(_ report: EvaluationReport, _ calls: [EvaluatedCall]) throws {
        if let record {
            for call in calls { try call.write(to: record) }
        }
        if let html {
            do { try Data(EvaluationPage(report: report, calls: calls).html.utf8).write(to: URL(filePath: html)) } catch {
                throw CommandFailure("cannot write \(html): \(error.localizedDescription)")
            }
        }
        if json {
            try Console.say(json: report)
        } else {
            Console.say("")
            Table.say(EvaluationReport.heads, report.rows, none: "")
            Console.say("\n" + report.verdict)
        }
        if !report.passed { throw ExitCode.failure }
    }
}

extension Scenario {
    fileprivate var needsSynthesis: Bool {
        lines.contains { if case .synthesized = $0.line.source { true } else { false } }
    }
}

extension EvaluatedCall {
    /// The name of its recording: letters, digits and hyphens.
    var fileName: String {
        let words = result.scenario.lowercased().split { !($0.isLetter || $0.isNumber) }
        return (words.isEmpty ? "scenario" : words.joined(separator: "-")) + (result.run > 1 ? "-\(result.run)" : "") + ".wav"
    }

    fileprivate func write(to folder: String) throws {
        let path = folder + "/" + fileName
        do { try Data(WAVFile.write(recording.stereo)).write(to: URL(filePath: path)) } catch {
            throw CommandFailure("cannot write \(path): \(error.localizedDescription)")
        }
    }
}
