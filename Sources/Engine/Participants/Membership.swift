internal import Wire

/// The participants of a room, in join order, and the agents that it awaits.
///
/// Invariants:
/// - A handle and an identity each name at most one participant.
/// - `independentCount` counts the participants that fill the room and keep it alive. Agents and recorders do neither.
/// - The timeout of an empty room runs exactly while that count is zero.
/// - A restored participant is unknown to the patch panels until it resumes.
/// - No agent is present and delayed.
struct Membership: Sendable {
    private var roster = Roster<ParticipantHandle, Participant>()
    private var handlesByIdentity: [Identity: ParticipantHandle] = [:]
    private(set) var independentCount = 0
    private var emptyRoomTimeout: EmptyRoomTimeout
    /// Participants from an image that have not resumed yet.
    private var restored: Set<ParticipantHandle> = []
    var awaited = AwaitedAgents()

    /// - Parameter now: start of `emptyTimeout`.
    init(emptyTimeout: Duration, departureTimeout: Duration, at now: Instant) {
        emptyRoomTimeout = EmptyRoomTimeout(createdAt: now, emptyTimeout: emptyTimeout, departureTimeout: departureTimeout)
    }

    var participants: [Participant] { roster.values }
    var handles: [ParticipantHandle] { roster.keys }
    var count: Int { roster.count }
    var isEmpty: Bool { roster.isEmpty }

    func contains(_ handle: ParticipantHandle) -> Bool { roster.contains(handle) }
    func handle(of identity: Identity) -> ParticipantHandle? { handlesByIdentity[identity] }
    func index(of handle: ParticipantHandle) -> Int? { roster.index(of: handle) }
    func index(of identity: Identity) -> Int? { handlesByIdentity[identity].flatMap(roster.index) }

    subscript(_ handle: ParticipantHandle) -> Participant? { roster[handle] }
    subscript(_ identity: Identity) -> Participant? { handlesByIdentity[identity].flatMap { roster[$0] } }

    /// The participant at an index, modified in place. Indices are valid until the next removal.
    subscript(at index: Int) -> Participant {
        @inline(__always) _read { yield roster[at: index] }
        _modify { yield &roster[at: index] }
    }

    // MARK: Joining and leaving

    mutating func insert(_ participant: Participant) {
        roster.append(participant, for: participant.handle)
        handlesByIdentity[participant.identity] = participant.handle
        awaited.removeDelay(of: participant.identity)
        guard !participant.kind.isDependent else { return }
        independentCount += 1
        emptyRoomTimeout.cancel()
    }

    /// Inserts a participant from an image.
    mutating func restore(_ participant: Participant) {
        insert(participant)
        restored.insert(participant.handle)
    }

    /// Whether a participant comes from an image and has not resumed yet.
    func isRestored(_ handle: ParticipantHandle) -> Bool { restored.contains(handle) }
    var hasRestored: Bool { !restored.isEmpty }

    /// Removes a participant. It stays counted until `countDeparture`, because the audit events of its departure include it.
    mutating func remove(_ handle: ParticipantHandle) {
        restored.remove(handle)
        guard let participant = roster.remove(handle) else { return }
        if roster.isEmpty { handlesByIdentity = [:] } else { handlesByIdentity[participant.identity] = nil }
    }

    mutating func countDeparture(of participant: Participant, at now: Instant) {
        guard !participant.kind.isDependent else { return }
        independentCount -= 1
        if independentCount == 0 { emptyRoomTimeout.restart(at: now) }
    }

    mutating func removeAll() {
        restored = []
        roster.removeAll()
        handlesByIdentity = [:]
        independentCount = 0
        awaited = AwaitedAgents()
    }

    /// Gives a participant the handle of its new socket.
    ///
    /// - Returns: its index; nil if the old handle is unknown.
    mutating func rename(_ old: ParticipantHandle, to new: ParticipantHandle) -> Int? {
        guard let index = roster.index(of: old) else { return nil }
        restored.remove(old)
        roster.rename(old, to: new)
        roster[at: index].move(to: new)
        handlesByIdentity[roster[at: index].identity] = new
        return index
    }

    /// The count without the participant of that identity, which a join would replace.
    func independentCount(without identity: Identity) -> Int {
        independentCount - (self[identity].map { $0.kind.isDependent ? 0 : 1 } ?? 0)
    }

    /// When the room ends because it is empty; nil while somebody is present.
    var emptyDeadline: Instant? { emptyRoomTimeout.deadline }

    func isTimeoutOver(at now: Instant) -> Bool { emptyRoomTimeout.isOver(at: now) }

    /// Whether a participant has been present and has left.
    var wasUsed: Bool { independentCount > 0 || emptyRoomTimeout.isAfterDeparture }

    /// Starts the timeout of a room that was used and that nobody uses now.
    mutating func restartEmptyTimeout(at now: Instant) { emptyRoomTimeout.restart(at: now) }

    mutating func extendEmptyTimeout(by pause: Duration, at now: Instant) { emptyRoomTimeout.extend(by: pause, at: now) }

    // MARK: Recipients

    func handles(except one: ParticipantHandle) -> [ParticipantHandle] {
        roster.keys.filter { $0 != one }
    }

    /// The handles among these that may receive text.
    func readers(among handles: [ParticipantHandle]) -> [ParticipantHandle] {
        handles.filter { roster[$0]?.stay.receivesText ?? false }
    }

    /// Recipients of events about this participant.
    func audience(of participant: Participant) -> [ParticipantHandle] {
        participant.isHidden ? [participant.handle] : handles
    }

    /// Recipients of events about this participant, itself excluded.
    func witnesses(of participant: Participant) -> [ParticipantHandle] {
        participant.isHidden ? [] : handles(except: participant.handle)
    }

    /// The named participants, without duplicates and unknown identities. An empty list means everybody, as in LiveKit.
    func recipients(of identities: [Identity]?) -> [ParticipantHandle] {
        guard let identities, !identities.isEmpty else { return handles }
        var seen: Set<ParticipantHandle> = []
        return identities.compactMap { handlesByIdentity[$0] }.filter { seen.insert($0).inserted }
    }
}
