import Testing
import Wire

@testable import Engine

extension RoomWorld {
    /// The image as the next node reads it.
    func image() throws -> RoomImage {
        try #require(RoomImage(room.image(at: now).bytes))
    }

    /// The room's node dies, and another one continues it from an image. Its clock differs, and its patch panels are empty.
    ///
    /// - Parameters:
    ///   - image: nil for one of this moment.
    ///   - unseen: the time for which the node went on after it.
    /// - Returns: the members' handles on the new node.
    @discardableResult
    mutating func loseNode(
        _ reason: Room.RestoreReason = .nodeLost, over settings: RoomSettings = RoomSettings(), image: RoomImage? = nil,
        after unseen: Duration = .zero, isReported: Bool = true
    ) throws -> [Identity: ParticipantHandle] {
        let image = try image ?? self.image()
        now = Instant(nanoseconds: 77_000_000_000_000)
        var handles: [Identity: ParticipantHandle] = [:]
        let inOrder = image.members.map { member in
            let handle = newHandle(member.stay.identity.text)
            handles[member.stay.identity] = handle
            return handle
        }
        (options, gates, kept, answers, closed) = ([], [:], [], [:], [:])
        (auditEvents, tokens) = ([], [])
        discardEvents()
        let seed = UInt64(1_000 + history.count)
        room = Room(
            restoring: image, over: settings, seed: seed, resumeTokens: Self.resumeToken, handles: inOrder, reason: reason,
            after: unseen, at: now)
        effects = []
        if isReported { receive(.restored) }
        return handles
    }

    /// A client that resumes and presents the resume token of its first join.
    mutating func comeBack(_ name: String, kind: ParticipantKind = .standard, briefing: SessionBriefing? = nil) -> ParticipantHandle {
        join(name, kind: kind, briefing: briefing, resuming: "resume-\(name)")
    }
}

extension [Event] {
    var hello: Hello? { if case .hello(let hello) = first { hello } else { nil } }
}
