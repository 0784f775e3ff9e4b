import ArgumentParser

struct JoinCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "join")

    func run() async throws {}
}
