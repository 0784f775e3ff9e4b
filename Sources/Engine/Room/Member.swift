import Wire

/// One participant as its room knows it.
struct Member: Sendable {
    /// Another one after it came back.
    var handle: ParticipantHandle
    let sid: ParticipantSID
    let identity: Identity
    let kind: ParticipantKind
    let sessionID: String?
    let isRoomAdmin: Bool
    let autoSubscribe: Bool
    /// Whether it may be sent what people read.
    let receivesText: Bool
    /// Seconds since 1970.
    let joinedAt: Int64

    var profile: Profile
    var updateBudget = ProfileUpdateBudget()
    var permission: Permission
    /// What takes this index back; a new one for each socket.
    var resumeToken: String
    /// What took it back last. It may do so again as long as nobody knows whether the new one arrived.
    var formerToken: String?
    /// Its socket is lost.
    var reconnectWindow: ReconnectWindow?
    /// The call is on hold: it neither hears nor is heard.
    var isHeld = false
    /// Muted as a whole from outside: none of its tracks is heard, whatever each of them says of itself.
    var isMutedByAdmin = false
    /// What it publishes, in order.
    var tracks: [TrackSID] = []
    /// Tracks that it asked to hear or not to hear. For the others `autoSubscribe` speaks.
    var subscriptionOverrides: [TrackSID: Bool] = [:]
    var quality = QualityScore()
    /// What it is doing, if it is an agent.
    var activity = AgentActivity()
    var silence: SilenceDetector
    /// When it is due for a fresh token.
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

    /// How others name it in what it says to them: not at all if it is hidden, as in LiveKit.
    var signature: Identity { isHidden ? Identity(text: "") : identity }

    /// `tracks` is nil in messages that do not tell them.
    func info(tracks: [TrackInfo]? = nil) -> ParticipantInfo {
        ParticipantInfo(
            sid: sid, identity: identity, name: profile.name, kind: kind, metadata: profile.metadata, attributes: profile.attributes,
            permission: permission, joinedAt: joinedAt, tracks: tracks)
    }

    /// What a fresh token says of it. The assistant's state is no property to come back with.
    func tokenContent(room: String) -> TokenContent {
        var attributes = profile.attributes
        attributes[AgentState.attribute] = nil
        return TokenContent(
            identity: identity, name: profile.name, kind: kind, metadata: profile.metadata, attributes: attributes, permission: permission,
            isRoomAdmin: isRoomAdmin, sessionID: sessionID, receivesText: receivesText, room: room)
    }

    /// Whether that track's frames are to reach it.
    func isSubscribed(to track: Track) -> Bool {
        permission.canSubscribe && !isHeld && track.publisher != handle && (subscriptionOverrides[track.info.sid] ?? autoSubscribe)
    }
}
