import ArgumentParser

struct ParticipantCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "participant")

    func run() async throws {}
}
