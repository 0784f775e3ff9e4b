package import Wire

extension RoomImage {
    /// A participant.
    package struct Member: Sendable, Hashable, Decodable {
        package var stay: Stay
        var profile: Profile
        var permission: Permission
        var tokens: ResumeTokens
        var state: State

        /// Properties that do not change after the join.
        package struct Stay: Sendable, Hashable, Decodable {
            package var sid: ParticipantSID
            package var identity: Identity
            package var kind: ParticipantKind
            package var session: String?
            package var isRoomAdmin: Bool
            package var autoSubscribe: Bool
            package var receivesText: Bool
            package var joinedAt: Int64
        }

        struct Profile: Sendable, Hashable, Decodable {
            var name: String
            var metadata: String
            var attributes: [String: String]
        }

        struct State: Sendable, Hashable, Decodable {
            var isHeld: Bool
            var isMutedByAdmin: Bool
            var subscribed: [TrackSID]
            var unsubscribed: [TrackSID]
            /// The state that an agent has announced.
            var agent: AgentState?
            /// Milliseconds until its token is refreshed.
            var refreshMs: UInt32
        }
    }
}

extension RoomImage.Member {
    var isValid: Bool { !stay.identity.text.isEmpty }

    init(_ participant: Participant, tracks: [TrackSID], at now: Instant) {
        stay = Stay(
            sid: participant.sid, identity: participant.identity, kind: participant.kind, session: participant.sessionID,
            isRoomAdmin: participant.isRoomAdmin, autoSubscribe: participant.autoSubscribe, receivesText: participant.receivesText,
            joinedAt: participant.joinedAt)
        let known = participant.profile
        profile = Profile(name: known.name, metadata: known.metadata, attributes: known.attributes)
        permission = participant.permission
        tokens = participant.resumeTokens
        let overrides = participant.subscriptionOverrides
        state = State(
            isHeld: participant.isHeld, isMutedByAdmin: participant.isMutedByAdmin, subscribed: tracks.filter { overrides[$0] == true },
            unsubscribed: tracks.filter { overrides[$0] == false }, agent: participant.activity.announced,
            refreshMs: (participant.refreshAt - now).age)
    }

    fileprivate var admission: Admission {
        Admission(
            identity: stay.identity, name: profile.name, kind: stay.kind, metadata: profile.metadata, attributes: profile.attributes,
            permission: permission, isRoomAdmin: stay.isRoomAdmin, sessionID: stay.session, autoSubscribe: stay.autoSubscribe,
            receivesText: stay.receivesText, joinedAt: stay.joinedAt)
    }
}

extension Participant {
    /// A participant without a connection. Its tracks are restored later.
    init(restoring member: RoomImage.Member, handle: ParticipantHandle, _ settings: RoomSettings, at now: Instant) {
        self.init(member.admission, handle: handle, sid: member.stay.sid, silenceLimit: settings.silenceLimit, at: now)
        resumeTokens = member.tokens
        reconnectWindow = ReconnectWindow(since: now, until: now + settings.resumeWindow, reason: .signalClose)
        needsSnapshot = true
        isHeld = member.state.isHeld
        isMutedByAdmin = member.state.isMutedByAdmin
        for sid in member.state.subscribed { subscriptionOverrides[sid] = true }
        for sid in member.state.unsubscribed { subscriptionOverrides[sid] = false }
        activity = AgentActivity(announced: member.state.agent)
        refreshAt = now + .age(member.state.refreshMs)
    }
}
