internal import Wire

/// A participant of a room.
struct Participant: Sendable {
    /// Changes on resume.
    private(set) var handle: ParticipantHandle
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
        resumeTokens = ResumeTokens(admission)
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

    /// Its resume tokens after an admission has resumed it, or nil if that one does not. The resume token must match, and everything that
    /// the access token fixes must be the same: a stolen resume token is useless without an access token for the same identity.
    ///
    /// - Parameter count: the number of tokens after the current one that match, too.
    func tokens(resumedBy admission: Admission, orAhead count: Int, _ derive: ResumeTokenDerivation) -> ResumeTokens? {
        guard let token = admission.resuming, !token.isEmpty, admission.identity == identity, admission.sessionID == sessionID,
            admission.kind == kind, admission.receivesText == receivesText
        else { return nil }
        return resumeTokens.renewed(by: token, orAhead: count, admission, derive)
    }

    /// Continues under the handle of another socket.
    mutating func move(to handle: ParticipantHandle) {
        self.handle = handle
    }

    /// Continues on another socket, whose `hello` announces the current one of those tokens.
    mutating func resume(with tokens: ResumeTokens) {
        reconnectWindow = nil
        resumeTokens = tokens
    }

    mutating func confirmResume() {
        resumeTokens.confirm()
        needsSnapshot = false
    }

    /// Whether it receives that track's frames.
    func isSubscribed(to track: Track) -> Bool {
        permission.canSubscribe && !isHeld && track.publisher != handle && (subscriptionOverrides[track.info.sid] ?? autoSubscribe)
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
