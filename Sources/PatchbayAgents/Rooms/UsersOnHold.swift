internal import Wire

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
            // Unless missed events follow, the snapshot names all who are on hold.
            held = hello.resumed == true ? held.intersection(present) : []
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
