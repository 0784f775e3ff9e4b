internal import Wire

extension RoomImage {
    /// A participant.
    package struct Member: Sendable, Hashable, Decodable {
        package var stay: ParticipantStay
        var profile: Profile
        var permission: Permission
        var tokens: ResumeTokens
        var state: State

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
        stay = participant.stay
        let known = participant.profile
        profile = Profile(name: known.name, metadata: known.metadata, attributes: known.attributes)
        permission = participant.permission
        tokens = participant.connection.resumeTokens
        let overrides = participant.subscriptionOverrides
        state = State(
            isHeld: participant.callMedia.held, isMutedByAdmin: participant.callMedia.muted,
            subscribed: tracks.filter { overrides[$0] == true }, unsubscribed: tracks.filter { overrides[$0] == false },
            agent: participant.status.activity.announced, refreshMs: (participant.updates.tokenDueAt - now).age)
    }
}

extension Participant {
    /// A participant without a connection. Its tracks are restored later.
    init(restoring member: RoomImage.Member, handle: ParticipantHandle, _ settings: RoomSettings, at now: Instant) {
        let profile = Profile(name: member.profile.name, metadata: member.profile.metadata, attributes: member.profile.attributes)
        let window = ReconnectWindow(since: now, length: settings.resumeWindow, reason: .signalClose)
        self.init(
            member.stay, profile, member.permission,
            ParticipantConnection(resumeTokens: member.tokens, reconnectWindow: window, needsSnapshot: true), handle: handle,
            silenceLimit: settings.silenceLimit, tokenDueAt: now + .age(member.state.refreshMs))
        callMedia = CallMediaState(held: member.state.isHeld, muted: member.state.isMutedByAdmin)
        for sid in member.state.subscribed { subscriptionOverrides[sid] = true }
        for sid in member.state.unsubscribed { subscriptionOverrides[sid] = false }
        status.activity = AgentActivity(announced: member.state.agent)
    }
}
