import ArgumentParser
import Foundation
import PatchbayAgents
import PatchbayClient
import Testing
import Wire

@testable import patchbay

/// `patchbay agent` and `patchbay dispatch`: what they say when something is wrong, and that they do not say "ready" too early.
@Suite(.timeLimit(.minutes(4)))
struct AgentCommandTests {
    /// A port on which nobody listens.
    private static let closed = "wss://127.0.0.1:1"

    @Test(arguments: [
        ["room", "list", "--dev"], ["join", "--dev", "--room", "r", "--identity", "i"],
        ["dispatch", "create", "--dev", "--room", "r", "--assistant", "default"],
    ])
    func refusedConnectionIsOneSentenceWithTheAddressAndTheRemedy(_ arguments: [String]) async throws {
        let outcome = try await Program.run(nil, arguments + ["--url", Self.closed], seconds: 30)
        #expect(outcome.status == 1)
        #expect(
            outcome.complaint
                == "patchbay: no gateway answers at 127.0.0.1 port 1: the connection was refused; check host and port, and that the gateway runs\n"
        )
    }

    @Test func unknownHostIsOneSentence() async throws {
        let outcome = try await Program.run(nil, ["room", "list", "--dev", "--url", "wss://nobody.invalid"], seconds: 60)
        #expect(outcome.status == 1)
        #expect(
            outcome.complaint == "patchbay: the host nobody.invalid is not known; check the URL, and that this machine has a name server\n")
    }

    @Test func dispatchOfAnUnknownAssistantFailsAndNamesTheKnownOnes() async throws {
        let gateway = try await ServedGateway()
        let outcome = try await Program.run(
            nil, ["dispatch", "create", "--dev", "--url", gateway.url, "--room", "r", "--assistant", "robyn"], seconds: 30)
        #expect(outcome.status == 1)
        #expect(outcome.complaint.contains("there is no assistant \"robyn\"; use one of default, or define it"), "\(outcome.complaint)")
        #expect(outcome.complaint.split(separator: "\n").count == 1)
    }

    @Test func agentOfAnUnknownAssistantIsRefusedAndNeverReady() async throws {
        let gateway = try await ServedGateway()
        let outcome = try await Program.run(nil, ["agent", "start", "--dev", "--url", gateway.url, "--assistant", "robyn"], seconds: 120)
        #expect(outcome.status == 1 && outcome.output.isEmpty, "\(outcome.output)")
        let last = try #require(outcome.complaint.split(separator: "\n").last)
        #expect(last.contains("there is no assistant \"robyn\"; use one of default"), "\(outcome.complaint)")
    }

    @Test func agentWithAWrongSecretIsNeverReady() async throws {
        let gateway = try await ServedGateway()
        let outcome = try await Program.run(
            nil, ["agent", "start", "--dev", "--url", gateway.url, "--api-secret", "wrong"], seconds: 120)
        #expect(outcome.status == 1 && outcome.output.isEmpty, "\(outcome.output)")
        #expect(outcome.complaint.contains("check the API secret"), "\(outcome.complaint)")
    }

    @Test func agentIsReadyWhenTheGatewayHasAdmittedIt() async throws {
        let gateway = try await ServedGateway()
        let agent = try RunningProgram(Program.process(nil, ["agent", "start", "--dev", "--url", gateway.url], [:]))
        await agent.waits { !$0.isEmpty }
        #expect(agent.lines.first?.text == "Assistant default ready for \(gateway.url).")
        let job = try await gateway.administrator().dispatch("default", to: "r")
        #expect(job.status == .offered, "it has a worker")
        agent.stop(times: 2)
        await agent.ends()
    }

    // MARK: Secrets

    private static let environment = ["LLM_KEY": "key", "EMPTY": "", "PATCHBAY_API_SECRET": "secret"]

    private func read(_ options: String...) throws -> ProviderSecrets {
        try SecretOptions.read(options, environment: Self.environment)
    }

    @Test func secretsAreReadFromTheEnvironmentAndFromFiles() throws {
        let folder = try TemporaryFolder()
        let file = folder.file("key")
        try Data("of a file\n".utf8).write(to: file)
        #expect("\(try read("LLM_KEY", "OTHER=\(file.path)"))" == "(secrets: LLM_KEY, OTHER)")
        #expect("\(try read())" == "(secrets: )")
    }

    @Test(arguments: [
        ("MISSING", "the environment variable is not set"), ("EMPTY", "the environment variable is not set"),
        ("LLM_KEY=/nowhere", "the file cannot be read"), ("PATCHBAY_API_SECRET", "settings of Patchbay are not sent to providers"),
        ("patchbay_x=/etc/hostname", "settings of Patchbay are not sent to providers"), ("", "write NAME"), ("a key", "write NAME"),
        ("sk-secret", "write NAME"), ("=file", "write NAME"),
    ])
    func secretsThatCannotBeUsedAreRefusedWithoutRepeatingThem(_ option: String, _ message: String) throws {
        let error = try #require(throws: UsageError.self) { try read(option) }
        #expect(error.description.contains(message) && !error.description.contains("sk-"), "\(error)")
    }
}

/// `patchbay agent measure`.
struct MeasureCommandTests {
    @Test func defaultRecordingsHaveTheTranscriptsThatMeasurementsNeed() throws {
        let command = try AgentMeasureCommand.parse(["words"])
        let recordings = try SpokenRecording.all(in: Program.package.appending(path: command.recordings).path)
        #expect(recordings.map(\.name) == ["ps-cards-002.wav", "ps-goforward.wav", "ps-librivox-0890.wav"])
    }
}
