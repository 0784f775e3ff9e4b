package import Wire

/// Images: a room is continued on another node after its own was lost.
extension Room {
    /// Why a room is restored on another node.
    package enum RestoreReason: String, Sendable, Hashable {
        /// Its node has died, or has lost its connection to the others.
        case nodeLost = "node_lost"
        /// Its node has given it away.
        case moved
    }

    /// The state that survives this node. Takes time linear in its size.
    ///
    /// - Parameter now: for playout positions and ages; nil is the time of the last input.
    package func image(at now: Instant? = nil) -> RoomImage {
        let now = now ?? self.now
        let sids = tracks.values.map(\.info.sid)
        return RoomImage(
            room: info,
            settings: RoomImage.Settings(
                emptyTimeoutMs: settings.emptyTimeout.inMilliseconds, departureTimeoutMs: settings.departureTimeout.inMilliseconds,
                agents: settings.agents, wasUsed: members.wasUsed, isDraining: phase == .draining),
            counters: RoomImage.Counters(alias: tracks.lastAlias, subscription: tracks.subscriptionCount),
            members: members.participants.map { RoomImage.Member($0, tracks: sids, at: now) },
            tracks: tracks.values.map { RoomImage.Track($0, tracks.playouts[$0.info.sid], at: now) }, speakers: tracks.speakers.active,
            agents: RoomImage.Agents(
                waiting: members.awaited.delays.map { RoomImage.Agents.Wait(agent: $0.agent, reason: $0.reason) },
                expected: members.awaited.expectedIdentities),
            transcript: transcript.entries.map { RoomImage.Segment($0, at: now) }, recording: recording)
    }

    /// Continues a room. All of its members are without a connection and may resume; the first input reports what was lost.
    ///
    /// - Parameters:
    ///   - base: settings of this gateway.
    ///   - seed: determines the generated names; must differ from that of the room's earlier node.
    ///   - deriveToken: as on the earlier node.
    ///   - handles: of the members, in their order.
    ///   - unseen: the time for which the earlier node went on after the image.
    ///   - now: start of the reconnect windows.
    package init(
        restoring image: RoomImage, over base: RoomSettings, seed: UInt64, resumeTokens deriveToken: @escaping ResumeTokenDerivation,
        handles: [ParticipantHandle], reason: RestoreReason, after unseen: Duration = .zero, at now: Instant
    ) {
        precondition(handles.count == image.members.count, "each member needs a handle")
        self.init(
            name: image.room.name, sid: image.room.sid, settings: RoomSettings(image, over: base), createdAt: image.room.createdAt,
            seed: seed, resumeTokens: deriveToken, at: now)
        phase = .restored(reason)
        restoreMembers(image, handles)
        restoreTracks(image, after: unseen)
        transcript = Transcript(restoring: image.transcript, at: now)
        recording = image.recording
        for wait in image.agents.waiting { members.awaited.record(wait.reason, of: wait.agent) }
        for agent in image.agents.expected { expect(agent, true) }
    }

    private mutating func restoreMembers(_ image: RoomImage, _ handles: [ParticipantHandle]) {
        for (member, handle) in zip(image.members, handles) {
            let participant = Participant(restoring: member, handle: handle, settings, at: now)
            members.restore(participant)
            wakeUp(by: participant.deadline)
        }
        if image.settings.wasUsed, members.independentCount == 0 { members.restartEmptyTimeout(at: now) }
        wakeUp(by: members.emptyDeadline)
    }

    private mutating func restoreTracks(_ image: RoomImage, after unseen: Duration) {
        tracks = PublishedTracks(lastAlias: image.counters.alias, subscriptionCount: image.counters.subscription)
        for track in image.tracks {
            guard let index = members.index(of: track.info.participant) else { continue }
            let publisher = members[at: index]
            let playout = track.playout.map {
                Playout(restoring: $0, epoch: track.info.epoch, by: publisher.handle, after: unseen, at: now)
            }
            tracks.restore(Track(restoring: track, by: publisher, at: now), playout, at: now)
            members[at: index].tracks.append(track.info.sid)
            if playout?.utterance != nil {
                members[at: index].status.activity = AgentActivity(announced: publisher.status.activity.announced, isPlaying: true)
            }
        }
        tracks.speakers.restore(image.speakers)
    }
}
