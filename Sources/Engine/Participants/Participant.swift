package import Wire

/// A participant of a room.
struct Participant: Sendable {
    /// Changes on resume.
    var handle: ParticipantHandle
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
    /// Resume token of the current socket.
    var resumeToken: String
    /// Resume token that was used last. Valid until the client confirms the resume.
    var formerToken: String?
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
        resumeToken = admission.resumeToken
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

    /// Whether it receives that track's frames.
    func isSubscribed(to track: Track) -> Bool {
        permission.canSubscribe && !isHeld && track.publisher != handle && (subscriptionOverrides[track.info.sid] ?? autoSubscribe)
    }
}

/// The time in which a participant with a lost connection may resume.
package struct ReconnectWindow: Sendable, Hashable {
    /// When the index is given up.
    package let until: Instant
    /// Reason to report if it does not resume.
    package let reason: DisconnectReason

    package init(until: Instant, reason: DisconnectReason) {
        self.until = until
        self.reason = reason
    }
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
