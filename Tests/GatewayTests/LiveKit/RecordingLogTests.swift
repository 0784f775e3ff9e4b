import Testing
import Wire

@testable import Backend
@testable import Engine

/// A node's recordings: bounded, and none in progress after its end, however it ends.
struct RecordingLogTests {
    private let log = RecordingLog()
    private let track = TrackInfo(
        sid: TrackSID(text: "TR_1"), alias: TrackAlias(1), participant: Identity(text: "ana"), description: PublishTrack())

    private func note(_ event: RoomAuditEvent.Event, at time: Int64) {
        let info = RoomInfo(sid: RoomSID(text: "RM_1"), name: "r", metadata: "long", createdAt: 0, maxParticipants: 0)
        log.note(RoomAuditEvent(event, room: Room.Snapshot(info: info), at: time))
    }

    private func start(_ id: String, at time: Int64) { note(.room(.recordingStarted(RecordingID(text: id))), at: time) }

    private func stop(_ id: String, at time: Int64) { note(.room(.recordingStopped(RecordingID(text: id), .asked)), at: time) }

    private func record(_ name: String, in id: String) {
        let file = RecordedFile(
            name: name, recording: RecordingID(text: id), track: track, startedAt: 1, milliseconds: 2, byteCount: 3, framesLost: 0,
            hasFailed: false)
        note(.recorded(file), at: 4)
    }

    private var ids: [String] { log.entries.map(\.id.text) }

    @Test func thoseInProgressComeFirstAndTheOldestOfEach() {
        for (time, id) in ["a", "b", "c", "d"].enumerated() { start(id, at: Int64(time)) }
        stop("c", at: 10)
        stop("a", at: 11)
        #expect(ids == ["b", "d", "c", "a"])
    }

    @Test func aRecordingThatEndedWithoutAnEventStaysEnded() {
        start("a", at: 1)
        start("b", at: 2)
        log.finish(RecordingID(text: "a"), .failed, at: 3)
        stop("a", at: 4)
        record("a.ogg", in: "a")
        #expect(log.entries.map(\.end) == [nil, .failed] && log.entries.map(\.endedAt) == [nil, 3])
        #expect(log.entries.last?.files.map(\.name) == ["a.ogg"], "its file is complete only now")
    }

    @Test func otherNodesReadItsEntries() throws {
        start("a", at: 1)
        record("a.ogg", in: "a")
        stop("a", at: 2)
        start("b", at: 3)
        let entries = try JSON.decode([RecordingLog.Entry].self, from: JSON.encode(log.entries, names: .asDeclared), names: .asDeclared)
        #expect(entries.map(\.id.text) == ["b", "a"] && entries.map(\.roomName) == ["r", "r"])
        #expect(entries.map(\.end) == [nil, .asked] && entries.map(\.files.count) == [0, 1])
    }

    @Test func theOldestRecordingsAreForgotten() {
        for number in 0...RecordingLog.activeMax { start("\(number)", at: Int64(number)) }
        #expect(log.entries.count == RecordingLog.activeMax && ids.first == "1")
        for number in 1...RecordingLog.finishedMax + 1 { stop("\(number)", at: Int64(RecordingLog.activeMax + number)) }
        let finished = log.entries.filter { $0.endedAt != nil }.map(\.id.text)
        #expect(finished.count == RecordingLog.finishedMax && finished.first == "2")
    }

    @Test func aRecordingHasABoundedNumberOfFiles() {
        start("a", at: 1)
        for number in 0..<RecordingLog.filesMax + 10 { record("\(number).ogg", in: "a") }
        #expect(log.entries.first?.files.count == RecordingLog.filesMax)
    }
}
