public import ArgumentParser
import Foundation
import Identity
public import Wire

struct TokenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token",
        abstract: "Mint an access token in LiveKit's format.",
        discussion: """
            Prints only the token, signed with HS256.

            EXAMPLES
              patchbay token --room lobby --identity alice
              patchbay token --room lobby --identity helper --kind agent --ttl 3600
              patchbay token --room lobby --identity guest --can-publish=false
              patchbay token --profile staging --assistant helper
              patchbay token --list --admin --room lobby --create
            """)

    @OptionGroup var key: APIKeyOptions
    @Option(help: "The room to join.")
    var room: String?
    @Option(help: "The participant's identity, unique in the room.")
    var identity: String?
    @Option(help: "The assistant whose call channel the token opens; replaces --room and --identity.")
    var assistant: String?
    @Option(help: "The display name.")
    var name: String?
    @Option(parsing: .unconditional, help: "The token's lifetime in seconds.")
    var ttl: Int64 = 21_600
    @Option(help: "The kind of participant: standard or agent.")
    var kind: ParticipantKind = .standard
    @Option(help: "The session that the token is bound to.")
    var session: String?
    @Option(help: "The participant's metadata.")
    var metadata: String?
    @Option(help: "An attribute, as key=value; may be repeated.")
    var attribute: [String] = []
    @Option(name: .customLong("can-publish"), help: "Whether the participant may publish tracks.")
    var canPublish: Bool?
    @Option(name: .customLong("can-subscribe"), help: "Whether the participant may subscribe to tracks.")
    var canSubscribe: Bool?
    @Option(name: .customLong("can-publish-data"), help: "Whether the participant may send data and text.")
    var canPublishData: Bool?
    @Option(name: .customLong("can-update-own-metadata"), help: "Whether the participant may change its name, metadata and attributes.")
    var canUpdateOwnMetadata: Bool?
    @Option(name: .customLong("allow-source"), help: "A source that may be published (microphone, assistant); may be repeated.")
    var allowSource: [String] = []
    @Flag(help: "Hide the participant from others.")
    var hidden = false
    @Flag(help: "Allow administering the room (roomAdmin).")
    var admin = false
    @Flag(help: "Allow listing rooms (roomList).")
    var list = false
    @Flag(help: "Allow creating and deleting rooms (roomCreate).")
    var create = false
    @Flag(help: "Print a JSON object with the token and its claims.")
    var json = false

    /// A hundred years.
    private static let ttlMax: Int64 = 3_155_760_000

    func run() async throws {
        guard 1...Self.ttlMax ~= ttl else {
            throw UsageError("--ttl \(ttl): must be positive, and at most \(Self.ttlMax); pass seconds, such as --ttl 3600")
        }
        if assistant != nil, room != nil || identity != nil {
            throw UsageError("--assistant cannot be combined with a room or grants: the gateway issues a token for the room of each call")
        }
        if room == nil || identity == nil, assistant == nil, !list, !create, !admin {
            throw UsageError(
                "pass --room and --identity for a token that joins a room, or --list, --create or --admin for one that administers")
        }
        if admin, room == nil { throw UsageError("--admin requires --room, the room to administer") }
        let identity = assistant.map { CallParty.assistantPrefix + $0 } ?? identity
        if let identity, assistant != nil, CallParty(text: identity) == nil {
            throw UsageError("--assistant requires a name of 1 to \(ProtocolLimits.identityBytesMax) bytes")
        }
        let signer = try GatewayAccess(key.flags).signer()
        let now = Int64(Date().timeIntervalSince1970)
        let claims = AccessToken(
            issuer: signer.issuer, identity: identity ?? "", notBefore: now, expires: now + ttl, name: name ?? "",
            metadata: metadata ?? "", attributes: try attributes(), kind: kind, video: grant, sessionID: session)
        let token = try TokenMinter.mint(claims, with: signer)
        guard json else { return Console.say(token) }
        let fields: [String: String] = ["token": token, "identity": identity ?? "", "room": room ?? "", "expires_at": String(now + ttl)]
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        Console.say(String(decoding: try encoder.encode(fields), as: UTF8.self))
    }

    private var grant: VideoGrant {
        var grant = room.map(VideoGrant.joining) ?? VideoGrant()
        grant.roomJoin = identity != nil && room != nil
        grant.canPublish = canPublish
        grant.canSubscribe = canSubscribe
        grant.canPublishData = canPublishData
        grant.canUpdateOwnMetadata = canUpdateOwnMetadata
        grant.canPublishSources = allowSource
        grant.hidden = hidden
        grant.agent = assistant != nil
        grant.roomAdmin = admin
        grant.roomList = list
        grant.roomCreate = create
        return grant
    }

    private func attributes() throws -> [String: String] {
        try attribute.reduce(into: [:]) { attributes, text in
            guard let equals = text.firstIndex(of: "="), equals != text.startIndex else {
                throw UsageError("--attribute \(text): write it as key=value")
            }
            attributes[String(text[..<equals])] = String(text[text.index(after: equals)...])
        }
    }
}

extension ParticipantKind: ExpressibleByArgument {}
