internal import Wire

/// The users of a room. Agents, recorders and the like are none. A pure value.
struct UsersPresent: Sendable {
    private var users: Set<Identity> = []

    /// - Returns: which users have come or left.
    mutating func take(_ event: Event) -> [AgentRoomEvent] {
        switch event {
        case .hello(let hello):
            let isResumed = hello.resumed == true
            // Missed events came before, unless it is a snapshot.
            guard !isResumed || hello.snapshot == true else { return [] }
            let present = hello.participants.filter { !$0.kind.isDependent }
            // The reason is unknown for users who left during a reconnect.
            let missing = users.subtracting(present.map(\.identity))
            // For those who stayed, the assistant is the same one after a resume.
            let joined = isResumed ? present.filter { !users.contains($0.identity) } : present
            users = Set(present.map(\.identity))
            return missing.map { .userLeft($0, mayReturn: true) } + joined.map { .userJoined($0.identity, name: $0.name) }
        case .participantJoined(let info):
            guard !info.kind.isDependent else { return [] }
            users.insert(info.identity)
            return [.userJoined(info.identity, name: info.name)]
        case .participantLeft(let who, let reason):
            guard users.remove(who) != nil else { return [] }
            return [.userLeft(who, mayReturn: !reason.isFarewell)]
        default: return []
        }
    }
}

extension DisconnectReason {
    /// Whether a user who leaves for this reason has ended the conversation, rather than lost the connection.
    fileprivate var isFarewell: Bool {
        switch self {
        case .clientInitiated, .userUnavailable, .userRejected, .participantRemoved, .roomDeleted, .roomClosed: true
        default: false
        }
    }
}

/// The users in a room, and how long the assistant waits for others. A pure value.
///
/// It waits for the first user, and for those whose connection was lost, but not for those who have ended the conversation.
struct Attendance: Sendable, Hashable {
    /// How long it waits.
    static let waitMax = Duration.seconds(20)

    private(set) var users: Set<Identity> = []
    /// Until when the first user may come; nil afterwards.
    private var firstUntil: Instant?
    /// Users whose connection was lost, and until when they may come back.
    private var lost: [Identity: Instant] = [:]

    /// The assistant has joined.
    mutating func begin(at now: Instant) {
        firstUntil = now + Self.waitMax
    }

    mutating func join(_ user: Identity) {
        users.insert(user)
        lost[user] = nil
        firstUntil = nil
    }

    /// - Parameter mayReturn: the connection was lost.
    mutating func leave(_ user: Identity, mayReturn: Bool, at now: Instant) {
        guard users.remove(user) != nil else { return }
        lost = lost.filter { $0.value > now }
        if mayReturn { lost[user] = now + Self.waitMax }
    }

    /// Whether the room has no user and none is expected.
    func isOver(at now: Instant) -> Bool {
        users.isEmpty && now >= firstUntil ?? now && lost.values.allSatisfy { now >= $0 }
    }
}

/// Whether a room's users are on hold. The assistant pauses while all of them are: the others go on talking with it. A pure value.
struct UsersOnHold: Sendable {
    private var present: Set<Identity> = []
    private var held: Set<Identity> = []
    private var isPaused = false

    /// - Returns: whether the assistant pauses from now on; nil if that has not changed.
    mutating func take(_ event: Event) -> Bool? {
        switch event {
        case .hello(let hello):
            present = Set(hello.participants.filter { !$0.kind.isDependent }.map(\.identity))
            // Unless missed events came before, the snapshot that follows names all who are on hold.
            held = hello.resumed == true && hello.snapshot != true ? held.intersection(present) : []
        case .participantJoined(let info):
            guard !info.kind.isDependent else { return nil }
            present.insert(info.identity)
            held.remove(info.identity)
        case .participantLeft(let who, _):
            present.remove(who)
            held.remove(who)
        case .callHeld(let who): held.insert(who)
        case .callResumed(let who): held.remove(who)
        default: return nil
        }
        // To an empty room nothing is said.
        guard !present.isEmpty, present.isSubset(of: held) != isPaused else { return nil }
        isPaused.toggle()
        return isPaused
    }
}
