import ArgumentParser

struct RoomCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "room")

    func run() async throws {}
}
