internal import Engine
internal import LiveKitProtocol
internal import Wire

extension LiveKitRoom {
    init(_ room: Room.Snapshot) {
        self.init()
        sid = room.info.sid.text
        name = room.info.name
        emptyTimeout = UInt32(clamping: room.emptyTimeout.components.seconds)
        departureTimeout = UInt32(clamping: room.departureTimeout.components.seconds)
        maxParticipants = UInt32(clamping: room.info.maxParticipants)
        creationTime = room.info.createdAt
        creationTimeMs = room.info.createdAt * 1_000
        metadata = room.info.metadata
        numParticipants = UInt32(clamping: room.participantCount)
        numPublishers = UInt32(clamping: room.publisherCount)
        activeRecording = room.recording != nil
    }
}

extension LiveKitParticipantInfo {
    init(_ participant: ParticipantInfo) {
        self.init()
        let tracks = participant.tracks ?? []
        sid = participant.sid.text
        identity = participant.identity.text
        state = .active
        self.tracks = tracks.map(LiveKitTrackInfo.init)
        metadata = participant.metadata
        joinedAt = participant.joinedAt
        joinedAtMs = participant.joinedAt * 1_000
        name = participant.name
        permission = LiveKitParticipantPermission(participant.permission)
        isPublisher = !tracks.isEmpty
        kind = Kind(participant.kind)
        attributes = participant.attributes
    }
}

extension LiveKitParticipantInfo.Kind {
    fileprivate init(_ kind: ParticipantKind) {
        self =
            switch kind {
            case .standard: .standard
            case .ingress: .ingress
            case .egress: .egress
            case .sip: .sip
            case .agent: .agent
            case .connector: .connector
            case .bridge: .bridge
            }
    }
}

extension LiveKitTrackInfo {
    /// To LiveKit an assistant's voice is a microphone too.
    init(_ track: TrackInfo) {
        self.init()
        sid = track.sid.text
        type = .audio
        name = track.name
        muted = track.muted
        disableDtx = !track.dtx
        source = .microphone
        mimeType = "audio/\(track.codec)"
        stereo = track.channels == 2
    }
}

extension LiveKitParticipantPermission {
    fileprivate init(_ permission: Permission) {
        self.init()
        canSubscribe = permission.canSubscribe
        canPublish = permission.canPublish
        canPublishData = permission.canPublishData
        canPublishSources = permission.canPublishSources.compactMap { name in
            LiveKitTrackSource.names.first { $0.name == name }?.source
        }
        canUpdateMetadata = permission.canUpdateMetadata
        hidden = permission.hidden
    }
}

extension Permission {
    /// Permissions that the gateway does not have are ignored, except that a source it does not know permits nothing.
    init(_ permission: LiveKitParticipantPermission) {
        self.init(
            canPublish: permission.canPublish, canSubscribe: permission.canSubscribe, canPublishData: permission.canPublishData,
            canPublishSources: permission.canPublishSources.map { source in
                LiveKitTrackSource.names.first { $0.source == source }?.name ?? LiveKitTrackSource.unknownName
            },
            canUpdateMetadata: permission.canUpdateMetadata, hidden: permission.hidden)
    }
}

extension LiveKitTrackSource {
    /// Their names in tokens.
    fileprivate static let names: [(source: LiveKitTrackSource, name: String)] = [
        (.unknown, unknownName), (.camera, "camera"), (.microphone, "microphone"), (.screenShare, "screen_share"),
        (.screenShareAudio, "screen_share_audio"),
    ]
    fileprivate static let unknownName = "unknown"
}

extension LiveKitAgentDispatch {
    /// A job is a dispatch with one job of the same id.
    init(_ job: JobInfo, _ times: DispatchRegistry.JobTimes?) {
        self.init()
        id = job.id.text
        agentName = job.assistant
        room = job.room
        metadata = job.metadata
        state.jobs = [LiveKitJob(job)]
        state.createdAt = (times?.createdAt ?? 0).asNanoseconds
        state.deletedAt = (times?.endedAt ?? 0).asNanoseconds
        // No worker has taken a pending one.
        if state.jobs[0].state.status != .jsPending { state.jobs[0].state.startedAt = state.createdAt }
        state.jobs[0].state.endedAt = state.deletedAt
        state.jobs[0].state.updatedAt = max(state.createdAt, state.deletedAt)
    }
}

extension LiveKitJob {
    fileprivate init(_ job: JobInfo) {
        self.init()
        id = job.id.text
        dispatchID = job.id.text
        type = .jtRoom
        room.name = job.room
        metadata = job.metadata
        agentName = job.assistant
        state.status =
            switch job.status {
            case .pending, .offered: .jsPending
            case .accepted, .running: .jsRunning
            case .succeeded: .jsSuccess
            case .failed: .jsFailed
            case .cancelled: .jsCancelled
            }
        state.error = job.error ?? ""
        state.participantIdentity = job.identity.text
    }
}

extension Int64 {
    /// Milliseconds as nanoseconds, LiveKit's unit in dispatches and recordings.
    var asNanoseconds: Int64 { self * 1_000_000 }
}
