internal import Wire

/// A participant of a room.
struct Participant: Sendable {
    /// Changes on resume.
    fileprivate(set) var handle: ParticipantHandle
    let sid: ParticipantSID
    let identity: Identity
    let kind: ParticipantKind
    let sessionID: String?
    let isRoomAdmin: Bool
    let autoSubscribe: Bool
    /// Whether it may receive text.
    let receivesText: Bool
    /// Seconds since 1970.
    let joinedAt: Int64

    var profile: Profile
    var updateBudget = ProfileUpdateBudget()
    var permission: Permission
    var resumeTokens: ResumeTokens
    /// Its state comes from an image, and its client has not received a `hello` with the whole state since.
    var needsSnapshot = false
    /// Set while its connection is lost.
    var reconnectWindow: ReconnectWindow?
    /// The call is on hold: it neither sends nor receives media.
    var isHeld = false
    /// All of its tracks are muted by an administrator.
    var isMutedByAdmin = false
    /// Published tracks, in order.
    var tracks: [TrackSID] = []
    /// Explicit subscriptions and unsubscriptions; other tracks follow `autoSubscribe`.
    var subscriptionOverrides: [TrackSID: Bool] = [:]
    var quality = QualityScore()
    /// Its activity, if it is an agent.
    var activity = AgentActivity()
    var silence: SilenceDetector
    /// When its token is refreshed next.
    var refreshAt: Instant

    init(_ admission: Admission, handle: ParticipantHandle, sid: ParticipantSID, silenceLimit: Duration, at now: Instant) {
        self.handle = handle
        self.sid = sid
        identity = admission.identity
        kind = admission.kind
        sessionID = admission.sessionID
        isRoomAdmin = admission.isRoomAdmin
        autoSubscribe = admission.autoSubscribe
        receivesText = admission.receivesText
        joinedAt = admission.joinedAt
        profile = Profile(name: admission.name, metadata: admission.metadata, attributes: admission.attributes)
        permission = admission.permission
        resumeTokens = ResumeTokens(current: admission.resumeToken)
        silence = SilenceDetector(limit: silenceLimit)
        refreshAt = now + Limits.tokenRefreshInterval
    }

    var isHidden: Bool { permission.hidden }
    var connectionState: ConnectionState { reconnectWindow == nil ? .connected : .reconnecting }

    /// Its identity as a sender: empty if it is hidden, as in LiveKit.
    var signature: Identity { isHidden ? Identity(text: "") : identity }

    /// - Parameter tracks: nil in messages without tracks.
    func info(tracks: [TrackInfo]? = nil) -> ParticipantInfo {
        ParticipantInfo(
            sid: sid, identity: identity, name: profile.name, kind: kind, metadata: profile.metadata, attributes: profile.attributes,
            permission: permission, joinedAt: joinedAt, tracks: tracks)
    }

    /// Content of a fresh token. Omits the agent state, which is not a property to rejoin with.
    func tokenContent(room: String) -> TokenContent {
        var attributes = profile.attributes
        attributes[AgentState.attribute] = nil
        return TokenContent(
            identity: identity, name: profile.name, kind: kind, metadata: profile.metadata, attributes: attributes, permission: permission,
            isRoomAdmin: isRoomAdmin, sessionID: sessionID, receivesText: receivesText, room: room)
    }

    /// Whether an admission resumes it. The resume token must match, and everything that the access token fixes must be the same: a stolen
    /// resume token is useless without an access token for the same identity.
    func isResumable(by admission: Admission) -> Bool {
        guard let token = admission.resuming, !token.isEmpty, admission.identity == identity, admission.sessionID == sessionID,
            admission.kind == kind, admission.receivesText == receivesText
        else { return false }
        return resumeTokens.accept(token)
    }

    /// Continues on the socket of that admission. The token it used stays valid until `confirmResume`, in case its `hello` is lost.
    mutating func resume(with admission: Admission) {
        reconnectWindow = nil
        resumeTokens = ResumeTokens(current: admission.resumeToken, former: admission.resuming)
    }

    mutating func confirmResume() {
        resumeTokens.former = nil
        needsSnapshot = false
    }

    /// Whether it receives that track's frames.
    func isSubscribed(to track: Track) -> Bool {
        permission.canSubscribe && !isHeld && track.publisher != handle && (subscriptionOverrides[track.info.sid] ?? autoSubscribe)
    }
}

/// The resume tokens of a participant.
struct ResumeTokens: Sendable, Hashable, Decodable {
    /// The token of the current socket.
    var current: String
    /// The token that was used last. Valid until the client confirms the resume.
    var former: String?

    func accept(_ token: String) -> Bool {
        let isNewest = isSameSecret(token, current)
        let isFormer = former.map { isSameSecret(token, $0) } ?? false
        return isNewest || isFormer
    }
}

/// Compares two secrets in a time that depends only on their lengths.
private func isSameSecret(_ left: String, _ right: String) -> Bool {
    guard left.utf8.count == right.utf8.count else { return false }
    return zip(left.utf8, right.utf8).reduce(0 as UInt8) { $0 | ($1.0 ^ $1.1) } == 0
}

/// The participants of a room, in join order.
///
/// Invariants:
/// - A handle and an identity each name at most one participant.
/// - `independentCount` counts the participants that fill the room and keep it alive. Agents and recorders do neither.
/// - The timeout of an empty room runs exactly while that count is zero.
/// - A restored participant is unknown to the patch panels until it resumes.
struct Membership: Sendable {
    private var roster = Roster<ParticipantHandle, Participant>()
    private var handlesByIdentity: [Identity: ParticipantHandle] = [:]
    private(set) var independentCount = 0
    private var emptyRoomTimeout: EmptyRoomTimeout
    /// Participants from an image that have not resumed yet.
    private var restored: Set<ParticipantHandle> = []

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
    }

    /// Gives a participant the handle of its new socket.
    ///
    /// - Returns: its index; nil if the old handle is unknown.
    mutating func rename(_ old: ParticipantHandle, to new: ParticipantHandle) -> Int? {
        guard let index = roster.index(of: old) else { return nil }
        restored.remove(old)
        roster.rename(old, to: new)
        roster[at: index].handle = new
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
        handles.filter { roster[$0]?.receivesText ?? false }
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

/// The time in which a participant with a lost connection may resume.
struct ReconnectWindow: Sendable, Hashable {
    /// When the connection was lost.
    let since: Instant
    /// When the participant is removed.
    var until: Instant
    /// Reason to report if it does not resume.
    let reason: DisconnectReason
}

/// Identifies a participant's connection to the shell: the shard that serves it, and its slot there.
///
/// Eight bytes, copied trivially. The generation prevents reuse for another participant, so messages between threads may name
/// participants that have left.
package struct ParticipantHandle: Hashable, Sendable {
    package let shard: UInt16
    package let generation: UInt16
    package let slot: UInt32

    package init(shard: UInt16, slot: UInt32, generation: UInt16) {
        self.shard = shard
        self.slot = slot
        self.generation = generation
    }
}
