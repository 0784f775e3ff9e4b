import ArgumentParser
import Identity
import PatchbayClient
import Wire

struct RoomCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "room",
        abstract: "List, show and delete rooms of a running gateway.",
        discussion: """
            Each command signs its own token with the API key, valid for one minute.

            EXAMPLES
              patchbay room list --dev
              patchbay room show lobby --dev --json
              patchbay room delete lobby --url wss://voice.example --api-key my-app
            """,
        subcommands: [RoomListCommand.self, RoomShowCommand.self, RoomDeleteCommand.self])
}

struct RoomListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List open rooms.",
        discussion: """
            EXAMPLES
              patchbay room list --dev
              patchbay room list --url wss://voice.example --api-key my-app --json
              patchbay room list --profile staging --curl
            """)

    @OptionGroup var options: AdministratorOptions

    func run() async throws {
        try await options.perform(.rooms, granted: { $0.roomList = true }) { rooms in
            if options.json { return try Console.say(json: rooms) }
            let rows = rooms.sorted { $0.name < $1.name }.map { room in
                [room.name, String(room.numParticipants), String(room.numTracks), Table.time(room.createdAt), room.sid.text]
            }
            Table.say(["ROOM", "PARTICIPANTS", "TRACKS", "OPEN SINCE", "SID"], rows, none: "no rooms are open")
        }
    }
}

struct RoomShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show a room's participants and their tracks.",
        discussion: """
            EXAMPLES
              patchbay room show lobby --dev
              patchbay room show lobby --dev --json
            """)

    @Argument(help: "The room's name.")
    var room: String
    @OptionGroup var options: AdministratorOptions

    func run() async throws {
        try await options.perform(.room(room), in: room) { detail in
            if options.json { try Console.say(json: detail) } else { describe(detail) }
        }
    }

    private func describe(_ detail: RoomDetail) {
        Console.say("\(detail.room.name) \(detail.room.sid), open since \(Table.time(detail.room.createdAt))")
        if !detail.room.metadata.isEmpty { Console.say("metadata: \(detail.room.metadata)") }
        let rows = detail.participants.flatMap { participant -> [[String]] in
            let who = [participant.identity.text, participant.kind.rawValue, Table.time(participant.joinedAt)]
            let tracks = (participant.tracks ?? []).map { [$0.sid.text, $0.source.rawValue, $0.muted ? "yes" : "no"] }
            return (tracks.isEmpty ? [["-", "-", "-"]] : tracks).map { who + $0 }
        }
        Table.say(["IDENTITY", "KIND", "JOINED", "TRACK", "SOURCE", "MUTED"], rows, none: "no participants")
    }
}

struct RoomDeleteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Close a room and disconnect its participants.",
        discussion: """
            EXAMPLES
              patchbay room delete lobby --dev
            """)

    @Argument(help: "The room's name.")
    var room: String
    @OptionGroup var options: AdministratorOptions

    func run() async throws {
        try await options.perform(.deleteRoom(room), granted: { $0.roomCreate = true }) { options.printDone("closed \(room)") }
    }
}
