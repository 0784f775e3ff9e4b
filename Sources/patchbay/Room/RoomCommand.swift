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
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List open rooms.")

    @OptionGroup var options: AdministratorOptions

    func run() async throws {
        let rooms = try await options.administrator { $0.roomList = true }.rooms()
        if options.json { return try options.printJSON(rooms) }
        var table = Table("ROOM", "PARTICIPANTS", "TRACKS", "OPEN SINCE", "SID")
        for room in rooms.sorted(by: { $0.name < $1.name }) {
            table.add(room.name, String(room.numParticipants), String(room.numTracks), Table.time(room.createdAt), room.sid.text)
        }
        Console.say(rooms.isEmpty ? "no rooms are open" : table.text)
    }
}

struct RoomShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "show", abstract: "Show a room's participants and their tracks.")

    @Argument(help: "The room's name.")
    var room: String
    @OptionGroup var options: AdministratorOptions

    func run() async throws {
        let detail = try await options.administrator(of: room).room(room)
        if options.json { return try options.printJSON(detail) }
        Console.say("\(detail.room.name) \(detail.room.sid), open since \(Table.time(detail.room.createdAt))")
        if !detail.room.metadata.isEmpty { Console.say("metadata: \(detail.room.metadata)") }
        var table = Table("IDENTITY", "KIND", "JOINED", "TRACK", "SOURCE", "MUTED")
        for participant in detail.participants {
            let tracks = participant.tracks ?? []
            let who = [participant.identity.text, participant.kind.rawValue, Table.time(participant.joinedAt)]
            if tracks.isEmpty { table.add(who + ["-", "-", "-"]) }
            for track in tracks { table.add(who + [track.sid.text, track.source.rawValue, track.muted ? "yes" : "no"]) }
        }
        Console.say(detail.participants.isEmpty ? "no participants" : table.text)
    }
}

struct RoomDeleteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "delete", abstract: "Close a room and disconnect its participants.")

    @Argument(help: "The room's name.")
    var room: String
    @OptionGroup var options: AdministratorOptions

    func run() async throws {
        try await options.administrator { $0.roomCreate = true }.deleteRoom(room)
        options.printDone("closed \(room)")
    }
}
