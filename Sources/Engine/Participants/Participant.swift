internal import Wire

/// A participant of a room.
struct Participant: Sendable {
    /// Changes on resume.
    private(set) var handle: ParticipantHandle
    let stay: ParticipantStay
    var profile: Profile
    /// When its profile is sent next.
    var updates: ProfileUpdates
    var permission: Permission
    var connection: ParticipantConnection
    /// On hold it neither sends nor receives media, muted by an administrator it does not send.
    var callMedia = CallMediaState(held: false, muted: false)
    /// Published tracks, in order.
    var tracks: [TrackSID] = []
    /// Explicit subscriptions and unsubscriptions; other tracks follow `autoSubscribe`.
    var subscriptionOverrides: [TrackSID: Bool] = [:]
    var status: ParticipantStatus

    init(_ admission: Admission, handle: ParticipantHandle, sid: ParticipantSID, silenceLimit: Duration, at now: Instant) {
        self.init(
            ParticipantStay(admission, sid: sid),
            Profile(name: admission.name, metadata: admission.metadata, attributes: admission.attributes), admission.permission,
            ParticipantConnection(resumeTokens: ResumeTokens(admission)), handle: handle, silenceLimit: silenceLimit,
            tokenDueAt: now + Limits.tokenRefreshInterval)
    }

    /// - Parameter tokenDueAt: when its token is refreshed.
    init(
        _ stay: ParticipantStay, _ profile: Profile, _ permission: Permission, _ connection: ParticipantConnection,
        handle: ParticipantHandle, silenceLimit: Duration, tokenDueAt: Instant
    ) {
        self.handle = handle
        self.stay = stay
        self.profile = profile
        self.permission = permission
        self.connection = connection
        updates = ProfileUpdates(tokenDueAt: tokenDueAt)
        status = ParticipantStatus(silenceLimit: silenceLimit)
    }

    var identity: Identity { stay.identity }
    var kind: ParticipantKind { stay.kind }
    var isHidden: Bool { permission.hidden }

    /// Its identity as a sender: empty if it is hidden, as in LiveKit.
    var signature: Identity { isHidden ? Identity(text: "") : identity }

    /// Its earliest deadline.
    var deadline: Instant? {
        var deadline = EarliestDeadline()
        deadline.include(updates.tokenDueAt)
        deadline.include(updates.updateDueAt)
        deadline.include(connection.reconnectWindow?.until)
        deadline.include(status.activity.deadline)
        deadline.include(status.silence.deadline)
        return deadline.instant
    }

    /// Extends its timeouts by a pause that ends now.
    mutating func extendTimeouts(by pause: Duration, resumeWindow: Duration, at now: Instant) {
        status.silence.extend(by: pause, at: now)
        connection.reconnectWindow?.extend(by: pause, upTo: resumeWindow, at: now)
    }

    /// - Parameter tracks: nil in messages without tracks.
    func info(tracks: [TrackInfo]? = nil) -> ParticipantInfo {
        ParticipantInfo(
            sid: stay.sid, identity: identity, name: profile.name, kind: kind, metadata: profile.metadata, attributes: profile.attributes,
            permission: permission, joinedAt: stay.joinedAt, tracks: tracks)
    }

    /// Content of a fresh token. Omits the agent state, which is not a property to rejoin with.
    func tokenContent(room: String) -> TokenContent {
        var attributes = profile.attributes
        attributes[AgentState.attribute] = nil
        return TokenContent(
            identity: identity, name: profile.name, kind: kind, metadata: profile.metadata, attributes: attributes, permission: permission,
            isRoomAdmin: stay.isRoomAdmin, sessionID: stay.session, receivesText: stay.receivesText, room: room)
    }

    /// Its resume tokens after an admission has resumed it, or nil if that one does not. The resume token must match, and everything that
    /// the access token fixes must be the same: a stolen resume token is useless without an access token for the same identity.
    ///
    /// - Parameter count: the number of tokens after the current one that match, too.
    func tokens(resumedBy admission: Admission, orAhead count: Int, _ derive: ResumeTokenDerivation) -> ResumeTokens? {
        guard let token = admission.resuming, !token.isEmpty, admission.identity == identity, admission.sessionID == stay.session,
            admission.kind == kind, admission.receivesText == stay.receivesText
        else { return nil }
        return connection.resumeTokens.renewed(by: token, orAhead: count, admission, derive)
    }

    /// Continues under the handle of another socket.
    mutating func move(to handle: ParticipantHandle) {
        self.handle = handle
    }

    /// Continues on another socket, whose `hello` announces the current one of those tokens.
    mutating func resume(with tokens: ResumeTokens) {
        connection.reconnectWindow = nil
        connection.resumeTokens = tokens
    }

    mutating func confirmResume() {
        connection.resumeTokens.confirm()
        connection.needsSnapshot = false
    }

    /// Whether it receives that track's frames.
    func isSubscribed(to track: Track) -> Bool {
        permission.canSubscribe && !callMedia.held && track.publisher != handle
            && (subscriptionOverrides[track.info.sid] ?? stay.autoSubscribe)
    }
}

/// The connection of a participant: whether it is lost, and how its client resumes.
struct ParticipantConnection: Sendable {
    var resumeTokens: ResumeTokens
    /// Set while it is lost.
    var reconnectWindow: ReconnectWindow?
    /// The participant's state comes from an image, and its client has not received a `hello` with the whole state since.
    var needsSnapshot = false

    var isLost: Bool { reconnectWindow != nil }
    var state: ConnectionState { isLost ? .reconnecting : .connected }
}

/// The time in which a participant with a lost connection may resume.
struct ReconnectWindow: Sendable, Hashable {
    /// When the connection was lost.
    let since: Instant
    /// When the participant is removed.
    private(set) var until: Instant
    /// Reason to report if it does not resume.
    let reason: DisconnectReason

    init(since now: Instant, length: Duration, reason: DisconnectReason) {
        since = now
        until = now + length
        self.reason = reason
    }

    /// Extends it by a pause that ends now, in which no client could resume.
    ///
    /// - Parameter length: of a whole window; no more remains.
    mutating func extend(by pause: Duration, upTo length: Duration, at now: Instant) {
        until = min(until + pause, now + length)
    }
}
