import Audio
import Backend
import Engine
import Foundation
import Gateway
import OggOpus
import Testing
import Wire

/// Recordings of logged sessions.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(2)))
struct SessionRecordingTests {
    private let backend: TestBackend
    private let ann: AppUser

    init() throws {
        backend = try TestBackend(records: true) { $0.room.resumeWindow = .seconds(20) }
        ann = try AppUser(backend)
    }

    private func say(_ numbers: Range<Int>, on track: TrackInfo, by caller: Caller) throws {
        for number in numbers { try caller.say(TestFrame.header(track.alias, number).bytes + TestTone.packets[number]) }
        try caller.settle()
    }

    private func names(of session: String, for user: AppUser? = nil) throws -> [String] {
        let answer = try (user ?? ann).ask("GET", "/v1/sessions/\(session)/recordings")
        return try JSONSerialization.jsonObject(with: Data(answer.body)) as? [String] ?? []
    }

    private func packets(_ name: String, of session: String) throws -> [[UInt8]] {
        let answer = try ann.ask("GET", "/v1/sessions/\(session)/recordings/\(name)")
        guard answer.status == 200, answer.fields["content-type"] == "audio/ogg" else {
            throw DidNotHappen(what: "a recording: \(answer.status)")
        }
        var reader = try OggOpusReader(answer.body)
        var packets: [[UInt8]] = []
        while let packet = try reader.next() { packets.append(packet.bytes) }
        return packets
    }

    /// The names of all recording files.
    private func files() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: backend.place.recordings) }

    /// Starts a session with an active, recorded track.
    private func talk() throws -> (started: StartedSession, phone: Caller, track: TrackInfo, recording: RecordingID) {
        let started = try ann.start()
        let phone = try started.join(backend.gateway)
        let recording = try phone.event("the word") { if case .recordingStarted(let id) = $0 { id } else { nil } }
        let track = try phone.publish()
        try say(0..<30, on: track, by: phone)
        let name = RecordedFile.name(of: track.sid, in: recording)
        try Patience.until("the file") { try names(of: started.session) == [name] && files() == [name] }
        return (started, phone, track, recording)
    }

    @Test func recordingContainsEveryPacketUnmodified() throws {
        let (started, phone, track, recording) = try talk()
        try say(30..<50, on: track, by: phone)
        try ann.end(started.session)
        let name = RecordedFile.name(of: track.sid, in: recording)
        try Patience.until("all of it") { try packets(name, of: started.session) == TestTone.packets }
    }

    @Test func recordingSaysWhenItBegins() throws {
        let (started, _, track, recording) = try talk()
        try ann.end(started.session)
        let path = "/v1/sessions/\(started.session)/recordings/\(RecordedFile.name(of: track.sid, in: recording))"
        try Patience.until("the file") { try !ann.ask("GET", path).body.isEmpty }
        let text = String(decoding: try ann.ask("GET", path).body.prefix(300), as: UTF8.self)
        let tag = try #require(text.firstMatch(of: /DATE=([-0-9T:.]{23}Z)/))
        let date = try Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(String(tag.1))
        #expect(abs(date.timeIntervalSinceNow) < 60)
    }

    @Test func turnReferencesItsRecording() throws {
        let (started, phone, track, recording) = try talk()
        try phone.ask(.segment(TranscriptSegment(id: "s1", role: .user, track: track.sid, text: "hello", final: true)))
        try Patience.until("the turn") { try ann.words(of: started.session) == ["hello"] }
        let turns = try #require(try ann.show(started.session)["turns"] as? [[String: Any]])
        #expect(turns[0]["audio_ref"] as? String == RecordedFile.name(of: track.sid, in: recording))
    }

    @Test func recordingFilesAreEncrypted() throws {
        let (_, phone, track, _) = try talk()
        try phone.ask(.unpublish(track.sid))
        try Patience.until("it is on the disk") {
            try FileManager.default.attributesOfItem(atPath: backend.place.recordings + "/" + files()[0])[.size] as? Int ?? 0 > 1_000
        }
        for packet in TestTone.packets[0..<30] { #expect(try !backend.place.holds(packet)) }
        #expect(try !backend.place.holds("OggS"))
    }

    @Test func recordingFilesArePrivateAlsoIfTheyWereNot() async throws {
        _ = try talk()
        let paths = [backend.place.recordings, backend.place.recordings + "/" + (try files()[0])]
        func modes() throws -> [Int?] {
            try paths.map { try FileManager.default.attributesOfItem(atPath: $0)[.posixPermissions] as? Int }
        }
        #expect(try modes() == [0o700, 0o600])
        for path in paths { try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: path) }
        let next = try await backend.restarted()
        #expect(try modes() == [0o700, 0o600])
        withExtendedLifetime(next) {}
    }

    @Test func anotherUserCannotAccessTheRecording() throws {
        let (started, _, track, recording) = try talk()
        let bob = try AppUser(backend, "bob@example.org")
        let own = try bob.start().session
        let name = RecordedFile.name(of: track.sid, in: recording)
        for path in ["\(started.session)/recordings", "\(started.session)/recordings/\(name)", "\(own)/recordings/\(name)"] {
            #expect(try bob.ask("GET", "/v1/sessions/\(path)").status == 404, "\(path)")
        }
    }

    @Test func participantsAreNotifiedWhenRecordingStops() async throws {
        let (started, phone, track, recording) = try talk()
        #expect(await backend.gateway.gateway.rooms.attempt(.stopRecording(nil, .asked), in: started.room))
        try phone.await(.recordingStopped(recording, .asked))
        try say(30..<50, on: track, by: phone)
        try ann.end(started.session)
        let name = RecordedFile.name(of: track.sid, in: recording)
        try Patience.until("what was said before") { try packets(name, of: started.session) == Array(TestTone.packets[0..<30]) }
    }

    @Test func unloggedSessionsAreNeverRecorded() async throws {
        let bob = try AppUser(backend, "bob@example.org", logs: false)
        let started = try bob.start()
        let phone = try started.join(backend.gateway)
        let track = try phone.publish()
        try say(0..<10, on: track, by: phone)
        #expect(!phone.events.contains { if case .recordingStarted = $0 { true } else { false } })
        #expect(await backend.gateway.gateway.rooms.attempt(.startRecording, in: started.room))
        try say(10..<20, on: track, by: phone)
        _ = try phone.event("the failure") { if case .recordingStopped(_, .failed) = $0 { true } else { nil } }
        #expect(try names(of: started.session, for: bob).isEmpty && files().isEmpty)
    }

    @Test(arguments: ["/v1/sessions/", "/v1/sessions", "/v1/users/me"])
    func recordingIsDeletedWithItsOwner(path: String) throws {
        let (started, phone, _, _) = try talk()
        #expect(try files().count == 1)
        #expect(try ann.ask("DELETE", path.hasSuffix("/") ? path + started.session : path).status == 204)
        #expect(try files().isEmpty)
        #expect(try phone.closeCode() == 4102)
        // The recorder finishes after its room.
        try Patience.until("the room is gone") { !backend.gateway.gateway.rooms.roomIsOpen(named: started.room) }
        #expect(try files().isEmpty)
    }
}
