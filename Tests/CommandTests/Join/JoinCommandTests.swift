import Audio
import Foundation
import OggOpus
import Testing

/// Runs `patchbay join` as processes: one plays a recording, another records it.
@Suite(.timeLimit(.minutes(3)))
struct JoinCommandTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    /// The shipped recording as Ogg Opus, 20 ms a packet.
    private func makeSpeech() throws -> URL {
        let wav = try Data(contentsOf: Program.package.appending(path: "Tests/Fixtures/ps-goforward.wav"))
        let sound = try WAVFile.read([UInt8](wav), mono: true).resampled(to: 48_000)
        var encoder = try OpusEncoder(application: .voip)
        var writer = try OggOpusWriter(OpusHead(preSkip: encoder.preSkip), tags: OpusTags(vendor: "test"), serial: 1)
        var file = try writer.start()
        for start in stride(from: 0, to: sound.samples.count - 960, by: 960) {
            file += try writer.append(try encoder.encode(Array(sound.samples[start..<start + 960])))
        }
        file += try writer.finish()
        let path = folder.file("speech.ogg")
        try Data(file).write(to: path)
        return path
    }

    private func packets(of path: URL) throws -> [[UInt8]] {
        var reader = try OggOpusReader([UInt8](try Data(contentsOf: path)))
        var packets: [[UInt8]] = []
        while let packet = try reader.next() { packets.append(packet.bytes) }
        return packets
    }

    @Test func recordingsEqualThePlayedAudio() async throws {
        let speech = try makeSpeech()
        let heard = folder.file("heard.ogg")
        let gateway = try await ServedGateway()
        let room = ["join", "--dev", "--url", gateway.url, "--room", "lobby"]
        async let listener = Program.run(nil, room + ["--identity", "bob", "--record", heard.path, "--duration", "15"])
        try await gateway.waits(for: "bob", in: "lobby")
        let speaker = try await Program.run(nil, room + ["--identity", "alice", "--play", speech.path, "--exit-after-play"])
        #expect(speaker.status == 0, "\(speaker.complaint)")
        let outcome = try await listener
        #expect(outcome.status == 0, "\(outcome.complaint)")
        let (found, spoken) = (try packets(of: heard), try packets(of: speech))
        #expect(found == spoken, "\(found.count) packets of \(spoken.count)")
        let original = try OggOpusReader.decodePCM([UInt8](try Data(contentsOf: speech)), channels: 1)
        let recorded = try OggOpusReader.decodePCM([UInt8](try Data(contentsOf: heard)), channels: 1)
        #expect(recorded.samples == original.samples)
    }

    @Test func echoReturnsTheAudioUnchanged() async throws {
        let speech = try makeSpeech()
        let heard = folder.file("echo.ogg")
        let gateway = try await ServedGateway()
        let room = ["join", "--dev", "--url", gateway.url, "--room", "lobby"]
        async let echo = Program.run(nil, room + ["--identity", "echo", "--echo", "--duration", "20"])
        try await gateway.waits(for: "echo", in: "lobby")
        let speaker = try await Program.run(
            nil, room + ["--identity", "alice", "--play", speech.path, "--record", heard.path, "--duration", "12"])
        #expect(speaker.status == 0, "\(speaker.complaint)")
        let (found, spoken) = (try packets(of: heard), try packets(of: speech))
        #expect(found == spoken, "\(found.count) packets of \(spoken.count)")
        #expect(try await echo.status == 0)
    }

    @Test func eventsArePrintedAsOneJSONObjectPerLine() async throws {
        let gateway = try await ServedGateway()
        let outcome = try await Program.run(
            nil, ["join", "--dev", "--url", gateway.url, "--room", "lobby", "--identity", "alice", "--events", "--duration", "1"])
        #expect(outcome.status == 0, "\(outcome.complaint)")
        let lines = outcome.output.split(separator: "\n")
        #expect(!lines.isEmpty)
        for line in lines {
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            #expect(object?["type"] is String, "\(line)")
        }
    }

    @Test func rejectionsAreExplained() async throws {
        let gateway = try await ServedGateway()
        let outcome = try await Program.run(
            nil,
            [
                "join", "--dev", "--url", gateway.url, "--room", "lobby", "--identity", "alice", "--api-key", "devkey", "--api-secret",
                "wrong",
            ])
        #expect(outcome.status == 1)
        #expect(outcome.complaint.contains("bad_signature"), "\(outcome.complaint)")
    }

    @Test func joinPrintsPlayoutStatistics() async throws {
        let speech = try makeSpeech()
        let gateway = try await ServedGateway()
        let room = ["join", "--dev", "--url", gateway.url, "--room", "lobby", "--json"]
        async let listener = Program.run(nil, room + ["--identity", "bob", "--listen", "--duration", "15"])
        try await gateway.waits(for: "bob", in: "lobby")
        _ = try await Program.run(nil, room + ["--identity", "alice", "--play", speech.path, "--exit-after-play"])
        let outcome = try await listener
        let summary = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any]
        let tracks = (summary?["data"] as? [String: Any])?["played"] as? [[String: Any]]
        let track = try #require(tracks?.first, "\(outcome.output)\(outcome.complaint)")
        #expect(track["participant"] as? String == "alice")
        #expect(track["played_ms"] as? Double ?? 0 > 2_000)
        #expect(track["concealed_percent"] is Double)
    }

    @Test(arguments: [
        [], ["--room", "lobby"], ["--room", "r", "--identity", "a", "--ahead"],
        ["--room", "r", "--identity", "a", "--play", "not-there.wav"],
    ])
    func wrongUseIsExitCode2(arguments: [String]) async throws {
        let outcome = try await Program.run(nil, ["join", "--dev"] + arguments)
        #expect(outcome.status == 2, "\(outcome.complaint)")
    }

    @Test func administratorsListAndRemoveParticipants() async throws {
        let gateway = try await ServedGateway()
        let access = ["--dev", "--url", gateway.url]
        async let guest = Program.run(nil, ["join", "--room", "lobby", "--identity", "alice", "--duration", "30"] + access)
        try await gateway.waits(for: "alice", in: "lobby")
        let list = try await Program.run(nil, ["room", "list", "--json"] + access)
        #expect(list.output.contains("lobby"), "\(list.output)\(list.complaint)")
        let removal = try await Program.run(nil, ["participant", "remove", "lobby", "alice"] + access)
        #expect(removal.status == 0, "\(removal.complaint)")
        #expect(try await guest.status == 1, "who is removed has not done what it wanted")
        let deletion = try await Program.run(nil, ["room", "delete", "nowhere"] + access)
        #expect(deletion.status == 1)
        #expect(deletion.complaint.contains("no room"), "\(deletion.complaint)")
    }
}
