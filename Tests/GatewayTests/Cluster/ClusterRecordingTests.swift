import Audio
import Engine
import Foundation
import Gateway
import Identity
import OggOpus
import Store
import TestProcesses
import TestStore
import Testing
import Wire

@testable import Backend

/// Recordings of several gateways, each on the disk of the node that has written it.
@Suite(.onOwnThread, .serialized, .enabled(if: NATSServer.isInstalled), .timeLimit(.minutes(2)))
final class ClusterRecordingTests {
    private let directory = FileManager.default.temporaryDirectory.appending(path: "cluster-recordings-\(UUID().uuidString)").path
    private let store: Store
    private let (first, second): (CoordinatedNode, CoordinatedNode)
    private let (ann, bob): (UserID, UserID)
    private let cluster: TestCluster

    init() async throws {
        store = try StorePlace(directory: directory).open(masterKeys: [MasterKey()])
        cluster = try TestCluster()
        first = try CoordinatedNode(cluster, store, recordings: directory + "/n1")
        second = try CoordinatedNode(cluster, store, recordings: directory + "/n2")
        try cluster.meet(first.gateway, second.gateway)
        ann = try await store.accounts.user(issuer: "tests", subject: "ann", email: nil, at: .now).id
        bob = try await store.accounts.user(issuer: "tests", subject: "bob", email: nil, at: .now).id
        _ = try await store.accounts.updateSettings(of: ann) { ($0.loggingEnabled, $0.hasSeenOnboarding) = (true, true) }
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    /// Adds a recording to a session of Ann's, whose file is on the first node's disk.
    ///
    /// - Returns: its path.
    private func record(_ content: [UInt8]) async throws -> String {
        let session = try await store.sessions.start(SessionRequest(context: "phone"), of: ann, at: .now).session.id
        let recording = SessionRecording(name: "long.ogg", node: "n1")
        #expect(try await store.sessions.addRecording(recording, to: session, of: ann))
        let path = "\(directory)/n1/\(recording.name)"
        #expect(FileManager.default.createFile(atPath: path, contents: nil))
        let file = SealedFile(
            handle: try #require(FileHandle(forWritingAtPath: path)), name: recording.name,
            key: try await store.sessions.fileKey(named: recording.name, of: ann))
        try file.append(content)
        try file.close()
        return "/v1/sessions/\(session)/recordings/\(recording.name)"
    }

    /// Starts a session at the first node, which records it.
    private func recordedSession() throws -> (started: StartedSession, phone: Caller, recording: RecordingID) {
        let started = try StartedSession(first.ask("/v1/sessions/start", ["context": "phone"], by: ann))
        let phone = try started.join(first.gateway)
        let recording = try phone.event("the word") { if case .recordingStarted(let id) = $0 { id } else { nil } }
        return (started, phone, recording)
    }

    @Test func aRecordingIsServedByAnyNode() throws {
        let (started, phone, recording) = try recordedSession()
        let track = try phone.publish()
        for number in 0..<50 { try phone.say(TestFrame.header(track.alias, number).bytes + TestTone.packets[number]) }
        try phone.settle()
        #expect(try second.ask("/v1/sessions/end", ["session_id": started.session], by: ann).status == 200)
        let name = RecordedFile.name(of: track.sid, in: recording)
        let path = "/v1/sessions/\(started.session)"
        try Patience.until("all of it") {
            let answer = try second.ask("\(path)/recordings/\(name)", by: ann)
            guard answer.status == 200, !answer.body.isEmpty else { return false }
            #expect(answer.fields["content-type"] == "audio/ogg" && answer.fields["patchbay-elsewhere"] == nil)
            var reader = try OggOpusReader(answer.body)
            var packets: [[UInt8]] = []
            while let packet = try reader.next() { packets.append(packet.bytes) }
            return packets == TestTone.packets
        }
        for node in [first, second] {
            let recordings = try node.ask(path, by: ann).json?["recordings"] as? [[String: String]]
            #expect(recordings == [["name": name, "node": "n1"]])
            #expect(try node.ask("\(path)/recordings/\(name)", by: bob).status == 404)
        }
    }

    @Test func aRecordingIsListedAndStoppedByAnyNode() throws {
        let (started, phone, recording) = try recordedSession()
        let other = ServerAPI(second.gateway, administering: started.room)
        let running = try #require(try items(other, #"{"active":true}"#).first)
        #expect(running["egress_id"] as? String == recording.text && running["room_name"] as? String == started.room)
        #expect(running["status"] as? String == "EGRESS_ACTIVE")
        #expect(try items(other, #"{"room_name":"other"}"#).isEmpty)

        let stopped = try other.ask("Egress/StopEgress", #"{"egress_id":"\#(recording)"}"#)
        #expect(stopped.status == 200 && stopped.json?["status"] as? String == "EGRESS_COMPLETE", "\(stopped.text)")
        #expect(stopped.fields["patchbay-elsewhere"] == nil, "names of nodes are not for clients")
        try phone.await(.recordingStopped(recording, .asked))
        for node in [first, second] {
            let api = ServerAPI(node.gateway, administering: started.room)
            #expect(try items(api, #"{"egress_id":"\#(recording)"}"#).map { $0["status"] as? String } == ["EGRESS_COMPLETE"])
            #expect(try items(api, #"{"active":true}"#).isEmpty)
            #expect(try api.refusal("Egress/StopEgress", #"{"egress_id":"\#(recording)"}"#) == "failed_precondition")
            #expect(try api.refusal("Egress/StopEgress", #"{"egress_id":"EG_none"}"#) == "not_found")
        }
    }

    @Test func aRecordingHasEndedWhenItsRoomMoves() throws {
        let (started, phone, recording) = try recordedSession()
        first.gateway.gateway.drain()
        #expect(try phone.closeCode() == CloseReason.moved.code)
        let known = first.recordingLog.entries
        #expect(known.map(\.id) == [recording] && known.map(\.end) == [.failed])
        let api = ServerAPI(second.gateway, administering: started.room)
        // While a node ends, the list may be refused.
        try Patience.until("it is listed") { try api.ask("Egress/ListEgress", #"{"active":true}"#).status == 200 }
        #expect(try items(api, #"{"active":true}"#).isEmpty)
    }

    private func items(_ api: ServerAPI, _ request: String) throws -> [[String: Any]] {
        try #require(try api.ask("Egress/ListEgress", request).json?["items"] as? [[String: Any]])
    }

    /// Longer than other responses that a gateway accepts.
    @Test func aLongRecordingIsServedByAnyNode() async throws {
        let content = (0..<4 << 20).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let answer = try second.ask(try await record(content), by: ann)
        #expect(answer.status == 200)
        #expect(answer.body == content)
    }

    @Test func theNodeWithARecordingIsNamedIfItDoesNotRun() async throws {
        let path = try await record([1, 2, 3])
        #expect(try second.ask(path, by: ann).body == [1, 2, 3])
        for _ in 1...2 { first.gateway.gateway.drain() }
        try await first.gateway.ended()
        let answer = try second.ask(path, by: ann)
        #expect(answer.status == 503)
        #expect(answer.fields["x-patchbay-error"] == "home_unavailable")
        #expect(answer.text.contains("the node n1"), "\(answer.text)")
        #expect(try second.ask(path, by: bob).status == 404)
    }
}
