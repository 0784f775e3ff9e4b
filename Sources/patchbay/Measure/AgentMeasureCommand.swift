import ArgumentParser
import Audio
import Foundation
import PatchbayAgents
import PatchbayClient
import Wire

struct AgentMeasureCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "measure",
        abstract: "Measure how well and how fast an assistant understands, answers and yields on this machine.",
        discussion: """
            Speaks recordings to the embedded engines through a gateway on a free loopback port, in real time. A recording is a WAV file with
            its words in a text file of the same name.

              words         word error rate, turns, the time from voice to voice
              greeting      the time from a user's join to the first audio
              barge-in      the time from a user's first sound to the assistant's last
              false-starts  how often noises interrupt the assistant
              calls         how many calls at once are answered within 1.2 s
              openings      whether fresh agents speak their greetings to the end
              turnover      whether calls that follow one another find an assistant

            For `openings`, each call has an agent that has just started, in all voices and with many names. For `turnover`, there are four
            calls at a time, of 8 s, and one agent of the default capacity.

            EXAMPLES
              patchbay agent measure words --recordings speech
              patchbay agent measure barge-in --recordings speech --tries 20 --json
            """)

    enum Task: String, ExpressibleByArgument, CaseIterable {
        case words, greeting, calls, openings, turnover
        case bargeIn = "barge-in"
        case falseStarts = "false-starts"

        var speaksRecordings: Bool {
            switch self {
            case .words, .bargeIn, .calls, .turnover: true
            case .greeting, .falseStarts, .openings: false
            }
        }
    }

    @Argument(help: "words, greeting, barge-in, false-starts, calls, openings or turnover.")
    var task: Task
    @Option(help: "A folder of WAV files with transcripts.")
    var recordings = "demo"
    @Option(help: "Greetings, interruptions, noises, openings or calls of `turnover`, 1 to 1000.")
    var tries = 20
    @Flag(help: "Print the result as JSON.")
    var json = false

    func validate() throws {
        guard 1...1_000 ~= tries else { throw ValidationError("--tries \(tries): pass 1 to 1000") }
    }

    func run() async throws {
        LogSettings.startWithErrorsOnly()
        let spoken = task.speaksRecordings ? try SpokenRecording.all(in: recordings) : []
        let engines = try await EmbeddedEngines.load()
        let report = try await DemoGateway.run(assistants: AgentMeasurement.openers) { gateway in
            let measurement = AgentMeasurement(gateway: gateway, engines: engines) { line in
                if !json { Console.say(line) }
            }
            return switch task {
            case .words: try await measurement.words(of: spoken)
            case .greeting: try await measurement.greetings(tries: tries)
            case .bargeIn: try await measurement.bargeIn(with: spoken, tries: tries)
            case .falseStarts: try await measurement.falseStarts(tries: tries)
            case .calls: try await measurement.calls(with: spoken)
            case .openings: try await measurement.openings(tries: tries)
            case .turnover: try await measurement.turnover(with: spoken, calls: tries)
            }
        }
        if json { try Console.say(json: report) } else { Console.say(report.text) }
    }
}

/// A recording and what is said in it.
struct SpokenRecording: Sendable {
    let name: String
    let sound: PCMBuffer
    let text: String

    /// The WAV files of a folder that have a transcript, by name.
    static func all(in folder: String) throws -> [SpokenRecording] {
        let names = ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).filter { $0.hasSuffix(".wav") }.sorted()
        let recordings = try names.compactMap { name -> SpokenRecording? in
            let path = folder + "/" + name
            let stem = String(path.dropLast(4))
            guard let text = try? String(contentsOfFile: stem + ".txt", encoding: .utf8) else { return nil }
            return SpokenRecording(name: name, sound: try PCMBuffer(wavFile: path), text: text)
        }
        guard !recordings.isEmpty else {
            throw UsageError("--recordings \(folder): no WAV file there has a transcript (NAME.wav, NAME.txt)")
        }
        return recordings
    }
}
