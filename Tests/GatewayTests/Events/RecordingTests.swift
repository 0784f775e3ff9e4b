import Audio
import Backend
import Engine
import Foundation
import Gateway
import OggOpus
import Testing
import Wire

/// Recording of a room's tracks during a call.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(1)))
struct RecordingTests {
    private let scratch: Scratch
    private var directory: URL { scratch.directory }
    private let auditEvents = AuditEventQueue()
    private let gateway: TestGateway

    init() throws {
        scratch = try Scratch()
        gateway = try TestGateway(auditEvents: auditEvents, recordings: RecordingDirectory(scratch.directory)) {
            $0.room.resumeWindow = .seconds(20)
        }
    }

    private static var packets: [[UInt8]] { TestTone.packets }

    private func say(_ numbers: Range<Int>, on track: TrackInfo, by caller: Caller, epoch: UInt8 = 0) throws {
        for number in numbers {
            try caller.say(TestFrame.header(track.alias, number, epoch: epoch).bytes + Self.packets[number % 50])
        }
        try caller.settle()
    }

    private func read(_ file: RecordedFile) throws -> [OggOpusReader.Packet] {
        var reader = try OggOpusReader([UInt8](Data(contentsOf: directory.appending(path: file.name))))
        var packets: [OggOpusReader.Packet] = []
        while let packet = try reader.next() { packets.append(packet) }
        return packets
    }

    @Test(arguments: [0, 1])
    func recordingContainsEveryPacketUnmodified(shard: Int) async throws {
        let listener = try gateway.join("listener")
        let speaker = try gateway.join("speaker", onShard: shard)
        let track = try speaker.publish()
        try say(0..<5, on: track, by: speaker)
        #expect(await gateway.gateway.rooms.attempt(.startRecording, in: "r"))
        let id = try listener.event("the word") { if case .recordingStarted(let id) = $0 { id } else { nil } }
        _ = try speaker.event("the word") { if case .recordingStarted = $0 { true } else { nil } }
        try say(5..<40, on: track, by: speaker)
        #expect(await gateway.gateway.rooms.attempt(.stopRecording(nil, .asked), in: "r"))
        try listener.await(.recordingStopped(id, .asked))
        try speaker.await(.recordingStopped(id, .asked))
        try say(40..<45, on: track, by: speaker)
        let file = try await auditEvents.recordedFile()
        #expect(file.name == RecordedFile.name(of: track.sid, in: id) && file.recording == id)
        #expect(try read(file).map(\.bytes) == Array(Self.packets[5..<40]))
        #expect(file.milliseconds == 700 && file.framesLost == 0 && !file.hasFailed)
    }

    @Test func resumeOnAnotherShardContinuesTheFile() async throws {
        let listener = try gateway.join("listener")
        var speaker = try gateway.join("speaker", onShard: 0)
        let track = try speaker.publish()
        #expect(await gateway.gateway.rooms.attempt(.startRecording, in: "r"))
        _ = try speaker.event("the word") { if case .recordingStarted = $0 { true } else { nil } }
        try say(0..<10, on: track, by: speaker)
        speaker.socket.socket.reset()
        speaker = try Caller(resuming: speaker, on: gateway, shard: 1)
        try say(10..<20, on: track, by: speaker)
        try speaker.ask(.unpublish(track.sid))
        let file = try await auditEvents.recordedFile()
        #expect(try read(file).map(\.bytes) == Array(Self.packets[0..<20]))
        withExtendedLifetime(listener) {}
    }

    @Test func pauseKeepsItsLength() async throws {
        let speaker = try gateway.join("speaker")
        let track = try speaker.publish()
        #expect(await gateway.gateway.rooms.attempt(.startRecording, in: "r"))
        _ = try speaker.event("the word") { if case .recordingStarted = $0 { true } else { nil } }
        // 400 ms of silence by the track's clock, then a jump of hours, which must not fill the disk.
        try say(0..<10, on: track, by: speaker)
        try say(30..<40, on: track, by: speaker)
        try say(1_000_000..<1_000_001, on: track, by: speaker)
        #expect(await gateway.gateway.rooms.attempt(.stopRecording(nil, .asked), in: "r"))
        let file = try await auditEvents.recordedFile()
        #expect((820...3_000).contains(file.milliseconds), "\(file.milliseconds)")
        let sounds = try read(file).filter { $0.bytes.count > 2 }
        #expect(sounds.count == 21)
        #expect(sounds[10].granule == Int64(31 * 960))
    }

    @Test func aheadTrackIsRecordedAsPlayedWithoutClearedFrames() async throws {
        let listener = try gateway.join("listener")
        let helper = try gateway.join("helper", onShard: 1)
        let track = try helper.publish(PublishTrack(source: .assistant, mode: .ahead))
        #expect(await gateway.gateway.rooms.attempt(.startRecording, in: "r"))
        _ = try helper.event("the word") { if case .recordingStarted = $0 { true } else { nil } }
        try say(0..<500, on: track, by: helper)
        try listener.take(until: "half a second") { $0.frames.count >= 25 }
        try helper.ask(.playoutClear(track.sid, reason: nil))
        try say(500..<525, on: track, by: helper, epoch: 1)
        _ = try listener.event("its end") { if case .playoutFinished = $0 { true } else { nil } }
        #expect(await gateway.gateway.rooms.attempt(.stopRecording(nil, .asked), in: "r"))
        let file = try await auditEvents.recordedFile()
        #expect((900..<4_000).contains(file.milliseconds), "not the ten seconds that were published: \(file.milliseconds)")
        let sounds = try read(file).filter { $0.bytes.count > 2 }.map(\.bytes)
        #expect(sounds.suffix(25) == Self.packets[0..<25])
    }

    @Test func restartedRecordingHasItsOwnFiles() async throws {
        let speaker = try gateway.join("speaker")
        let track = try speaker.publish()
        for round in 0..<3 {
            #expect(await gateway.gateway.rooms.attempt(.startRecording, in: "r"))
            _ = try speaker.event("the word") { if case .recordingStarted = $0 { true } else { nil } }
            try say(round * 5..<round * 5 + 5, on: track, by: speaker)
            #expect(await gateway.gateway.rooms.attempt(.stopRecording(nil, .asked), in: "r"))
        }
        var files: [[[UInt8]]] = []
        for _ in 0..<3 { files.append(try read(try await auditEvents.recordedFile()).map(\.bytes)) }
        #expect(Set(files) == Set((0..<3).map { Array(Self.packets[$0 * 5..<$0 * 5 + 5]) }))
    }

    @Test(.enabled(if: OpusTool.info != nil, "opus-tools is not installed"))
    func opusToolsAcceptTheFile() async throws {
        let speaker = try gateway.join("speaker")
        let track = try speaker.publish()
        #expect(await gateway.gateway.rooms.attempt(.startRecording, in: "r"))
        _ = try speaker.event("the word") { if case .recordingStarted = $0 { true } else { nil } }
        try say(0..<50, on: track, by: speaker)
        try say(75..<100, on: track, by: speaker)
        #expect(await gateway.gateway.rooms.attempt(.stopRecording(nil, .asked), in: "r"))
        let file = try await auditEvents.recordedFile()
        let said = try OpusTool.run(OpusTool.info, directory.appending(path: file.name).path())
        // Two seconds minus the encoder's delay.
        #expect(said.contains("Playback length: 0m:01.993s"), "\(said)")
        #expect(!said.localizedCaseInsensitiveContains("warning"), "\(said)")
    }

    @Test func fullDiskEndsTheRecordingButNotTheCall() async throws {
        let auditEvents = AuditEventQueue()
        let gateway = try TestGateway(auditEvents: auditEvents, recordings: FullDisk())
        let listener = try Caller(gateway, room: "r", identity: "listener")
        let speaker = try Caller(gateway, room: "r", identity: "speaker")
        let track = try speaker.publish()
        #expect(await gateway.gateway.rooms.attempt(.startRecording, in: "r"))
        try say(0..<60, on: track, by: speaker)
        _ = try listener.event("the failure") { if case .recordingStopped(_, .failed) = $0 { true } else { nil } }
        listener.frames.removeAll()
        try say(60..<61, on: track, by: speaker)
        _ = try listener.frame()
        #expect(try await auditEvents.recordedFile().hasFailed)
    }

    @Test func roomIsRecordedFromItsBeginningOnRequest() async throws {
        let auditEvents = AuditEventQueue { _ in RoomReporting(records: true) }
        let gateway = try TestGateway(auditEvents: auditEvents, recordings: RecordingDirectory(directory))
        let speaker = try Caller(gateway, room: "r", identity: "speaker")
        let track = try speaker.publish()
        try say(0..<10, on: track, by: speaker)
        #expect(await gateway.gateway.rooms.attempt(.close(.roomDeleted), in: "r"))
        #expect(try read(try await auditEvents.recordedFile()).count == 10)
    }

    @Test func invalidOpusPacketsAreSkipped() async throws {
        let speaker = try gateway.join("speaker")
        let track = try speaker.publish()
        #expect(await gateway.gateway.rooms.attempt(.startRecording, in: "r"))
        _ = try speaker.event("the word") { if case .recordingStarted = $0 { true } else { nil } }
        try say(0..<1, on: track, by: speaker)
        // Code 3 with no frames in it.
        try speaker.say(TestFrame.header(track.alias, 1).bytes + [0x03, 0x00])
        try say(2..<3, on: track, by: speaker)
        #expect(await gateway.gateway.rooms.attempt(.stopRecording(nil, .asked), in: "r"))
        let file = try await auditEvents.recordedFile()
        #expect(try read(file).filter { $0.bytes.count > 2 }.map(\.bytes) == [Self.packets[0], Self.packets[2]])
    }
}

/// A temporary directory.
private final class Scratch {
    let directory = FileManager.default.temporaryDirectory.appending(path: "patchbay-recordings-\(UUID())")

    init() throws { try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(at: directory) }
}

/// Accepts the headers and nothing more.
private struct FullDisk: RecordingStore {
    func makeFile(named name: String, for order: Room.RecordingTap) throws -> any RecordingFile { File() }

    private final class File: RecordingFile {
        private var appends = 0

        func append(_ bytes: [UInt8]) throws {
            appends += 1
            if appends > 1 { throw CocoaError(.fileWriteOutOfSpace) }
        }

        func close() {}
    }
}

/// Stores recordings as plain files in an existing directory.
private struct RecordingDirectory: RecordingStore {
    private let directory: URL

    init(_ directory: URL) {
        self.directory = directory
    }

    func makeFile(named name: String, for tap: Room.RecordingTap) throws -> any RecordingFile {
        let url = directory.appending(path: name, directoryHint: .notDirectory)
        try Data().write(to: url, options: .withoutOverwriting)
        return PlainFile(handle: try FileHandle(forWritingTo: url))
    }

    private final class PlainFile: RecordingFile {
        private let handle: FileHandle

        init(handle: FileHandle) {
            self.handle = handle
        }

        func append(_ bytes: [UInt8]) throws { try handle.write(contentsOf: Data(bytes)) }
        func close() throws { try handle.close() }
    }
}
