import ArgumentParser
import PatchbayClient
import Wire

struct ParticipantCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "participant",
        abstract: "Remove participants from rooms of a running gateway, or mute their tracks.",
        discussion: """
            EXAMPLES
              patchbay participant remove lobby alice --dev
              patchbay participant mute lobby TR_AMd5KczdwEiJmB --dev
              patchbay participant mute lobby TR_AMd5KczdwEiJmB --unmute --dev
            """,
        subcommands: [ParticipantRemoveCommand.self, ParticipantMuteCommand.self])
}

struct ParticipantRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove a participant from a room.",
        discussion: """
            EXAMPLES
              patchbay participant remove lobby alice --dev
              patchbay participant remove lobby alice --profile staging --curl
            """)

    @Argument(help: "The room's name.")
    var room: String
    @Argument(help: "The participant's identity.")
    var identity: String
    @OptionGroup var options: AdministratorOptions

    func run() async throws {
        try await options.perform(.remove(Identity(text: identity), from: room), in: room) {
            options.printDone("removed \(identity) from \(room)")
        }
    }
}

struct ParticipantMuteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mute",
        abstract: "Mute a track; `patchbay room show` lists them.",
        discussion: """
            EXAMPLES
              patchbay participant mute lobby TR_AMd5KczdwEiJmB --dev
              patchbay participant mute lobby TR_AMd5KczdwEiJmB --unmute --dev
            """)

    @Argument(help: "The room's name.")
    var room: String
    @Argument(help: "The track's sid.")
    var track: String
    @Flag(help: "Unmute the track.")
    var unmute = false
    @OptionGroup var options: AdministratorOptions

    func run() async throws {
        try await options.perform(.mute(TrackSID(text: track), in: room, muted: !unmute), in: room) {
            options.printDone("\(unmute ? "unmuted" : "muted") \(track)")
        }
    }
}
