internal import Engine
internal import HTTPServer
internal import Identity
internal import LiveKitProtocol
internal import Wire

/// Recording, for LiveKit's Egress service: which rooms may be recorded, and the recordings.
package struct RoomRecordings: Sendable {
    /// Only rooms of sessions whose user allows it.
    let mayRecord: @Sendable (_ room: String) -> Bool
    let log: RecordingLog
}

/// LiveKit's Egress service, as far as recordings go. A recording is one file per track, kept sealed with its session, and neither mixed
/// nor uploaded.
struct EgressMethods: Sendable {
    let rooms: RoomService
    /// Nil: recording is not configured.
    let recordings: RoomRecordings?
    let service: TwirpService

    private static let grant = "`roomRecord`"

    var routes: [Route] {
        [
            service.method(
                "StartRoomCompositeEgress", "Records all tracks of a room, or returns the recording in progress", Self.grant,
                grant: { _ in .record }, perform: start),
            service.method("StopEgress", "Stops a recording", Self.grant, grant: { _ in .record }, perform: stop),
            service.method(
                "ListEgress", "Lists the recordings in progress and the latest finished ones", Self.grant, grant: { _ in .record },
                perform: list),
        ]
            + Self.others.map { name in
                service.unimplemented(name, Self.grant, grant: { (_: LiveKitOtherOutput) in .record }, Self.onlyRooms)
            }
    }

    private static let others = [
        "StartWebEgress", "StartParticipantEgress", "StartTrackCompositeEgress", "StartTrackEgress", "StartEgress", "UpdateLayout",
        "UpdateStream",
    ]
    private static let onlyRooms =
        "this gateway records whole rooms, one audio file per track: use StartRoomCompositeEgress with audio_only"

    private func start(_ request: LiveKitRoomCompositeEgressRequest, _: HTTPServerRequest) async throws -> LiveKitEgressInfo {
        try request.check()
        guard let recordings else { throw TwirpError(.failedPrecondition, "recording is not configured on this gateway") }
        guard try await rooms.isOpen(request.roomName) else { throw TwirpError(.notFound, "requested room does not exist") }
        guard recordings.mayRecord(request.roomName) else {
            throw TwirpError(.failedPrecondition, "only rooms of sessions whose user allows recording are recorded, and this is none")
        }
        try await rooms.perform(.startRecording, in: request.roomName)
        guard let id = try await rooms.detail(of: request.roomName).snapshot.recording,
            let entry = recordings.log.entries.first(where: { $0.id == id })
        else { throw TwirpError(.failedPrecondition, "the recording has ended at once; see the gateway's log") }
        return LiveKitEgressInfo(entry)
    }

    private func stop(_ request: LiveKitStopEgressRequest, _: HTTPServerRequest) async throws -> LiveKitEgressInfo {
        guard let recordings, let entry = try await entry(request.egressID, recordings) else {
            throw TwirpError(.notFound, "egress does not exist")
        }
        guard entry.endedAt == nil else {
            let status = entry.end == .failed ? "EGRESS_FAILED" : "EGRESS_COMPLETE"
            throw TwirpError(.failedPrecondition, "egress with status \(status) cannot be stopped")
        }
        // If another node is the room's home, the error names it, and the request is forwarded.
        try await rooms.perform(.stopRecording(entry.id, .asked), in: entry.roomName)
        return LiveKitEgressInfo(recordings.log.entries.first { $0.id == entry.id } ?? entry)
    }

    /// A recording of any node.
    private func entry(_ id: String, _ recordings: RoomRecordings) async throws -> RecordingLog.Entry? {
        if let entry = recordings.log.entries.first(where: { $0.id.text == id }) { return entry }
        let elsewhere = await rooms.recordingsElsewhere()
        return try elsewhere.elements.inOrder.first { $0.id.text == id } ?? elsewhere.checked().first { $0.id.text == id }
    }

    /// The recordings of all nodes.
    private func entries() async throws -> [RecordingLog.Entry] {
        guard let recordings else { return [] }
        let elsewhere = try await rooms.recordingsElsewhere().checked()
        return (recordings.log.entries + elsewhere).inOrder
    }

    private func list(_ request: LiveKitListEgressRequest, _: HTTPServerRequest) async throws -> LiveKitListEgressResponse {
        var response = LiveKitListEgressResponse()
        response.items = try await entries()
            .filter { request.roomName.isEmpty || $0.roomName == request.roomName }
            .filter { request.egressID.isEmpty || $0.id.text == request.egressID }
            .filter { !request.active || $0.endedAt == nil }
            .map(LiveKitEgressInfo.init)
        return response
    }
}

extension LiveKitRoomCompositeEgressRequest {
    /// Refuses what would need more than recording: video, mixing into other formats, uploads.
    fileprivate func check() throws(TwirpError) {
        guard audioOnly else { throw Self.unimplemented("there is no video: set audio_only") }
        let files: [LiveKitEncodedFileOutput] =
            switch output {
            case .file(let file): [file] + fileOutputs
            case .stream, .segments: throw Self.unimplemented("recordings are files: no streams and segments")
            case nil: fileOutputs
            }
        guard streamOutputs.isEmpty, segmentOutputs.isEmpty, imageOutputs.isEmpty else {
            throw Self.unimplemented("recordings are files: no streams, segments and images")
        }
        guard files.allSatisfy({ $0.output == nil }) else {
            throw Self.unimplemented("recordings stay with their session: no uploads")
        }
        guard files.allSatisfy({ $0.fileType == .defaultFiletype || $0.fileType == .ogg }) else {
            throw Self.unimplemented("recordings are Ogg Opus files: use file_type OGG")
        }
    }

    private static func unimplemented(_ reason: String) -> TwirpError { TwirpError(.unimplemented, reason) }
}

extension LiveKitEgressInfo {
    fileprivate init(_ recording: RecordingLog.Entry) {
        self.init()
        egressID = recording.id.text
        roomID = recording.room.text
        roomName = recording.roomName
        sourceType = .sdk
        status =
            switch recording.end {
            case nil: .egressActive
            case .asked: .egressComplete
            case .failed: .egressFailed
            }
        if recording.end == .failed { error = "writing failed, or the room has moved to another node; see the gateway's log" }
        startedAt = recording.startedAt.asNanoseconds
        endedAt = (recording.endedAt ?? 0).asNanoseconds
        updatedAt = (recording.endedAt ?? recording.startedAt).asNanoseconds
        roomComposite.roomName = recording.roomName
        roomComposite.audioOnly = true
        fileResults = recording.files.map { file in
            var info = LiveKitFileInfo()
            info.filename = file.name
            info.startedAt = file.startedAt.asNanoseconds
            info.endedAt = (file.startedAt + file.milliseconds).asNanoseconds
            info.duration = file.milliseconds.asNanoseconds
            info.size = Int64(file.byteCount)
            return info
        }
    }
}
